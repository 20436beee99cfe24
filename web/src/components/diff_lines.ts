/** Computes differences by line, and reads unified diffs. */
import { structuredPatch } from 'diff';

export interface DiffLine {
  sign: '+' | '-' | ' ';
  text: string;
  /** The line number in the old and the new text; null if that text does not contain the line. */
  old: number | null;
  new: number | null;
  /** The index among all rows. */
  order: number;
}

/** null stands for omitted lines. */
export type DiffRow = DiffLine | null;

interface Hunk {
  oldStart: number;
  newStart: number;
  lines: string[];
}

/** Milliseconds for a comparison. Texts with little in common take longer and are shown as replaced. */
const patience = 60;

function rowsOf(hunks: Hunk[]): DiffRow[] {
  const all: DiffRow[] = [];
  for (const hunk of hunks) {
    if (all.length) all.push(null);
    let [old, fresh] = [hunk.oldStart, hunk.newStart];
    for (const line of hunk.lines) {
      const sign = line[0];
      if (sign !== '+' && sign !== '-' && sign !== ' ') continue;
      all.push({
        sign,
        text: line.slice(1),
        old: sign === '+' ? null : old++,
        new: sign === '-' ? null : fresh++,
        order: all.length,
      });
    }
  }
  return all;
}

const linesIn = (text: string): string[] => (text ? text.replace(/\n$/, '').split('\n') : []);

/** Shows everything between the common beginning and end as removed and added. */
function replaced(before: string, after: string): DiffRow[] {
  const [gone, come] = [linesIn(before), linesIn(after)];
  let start = 0;
  while (start < gone.length && start < come.length && gone[start] === come[start]) start++;
  let end = 0;
  while (
    end < gone.length - start &&
    end < come.length - start &&
    gone[gone.length - 1 - end] === come[come.length - 1 - end]
  )
    end++;
  const lines = [
    ...gone.slice(start, gone.length - end).map((line) => `-${line}`),
    ...come.slice(start, come.length - end).map((line) => `+${line}`),
  ];
  return rowsOf([{ oldStart: start + 1, newStart: start + 1, lines }]);
}

export function compare(before: string, after: string): DiffRow[] {
  if (before === after) return [];
  if (!before || !after) return replaced(before, after);
  const hunks = structuredPatch('', '', before, after, '', '', { context: 3, timeout: patience })?.hunks;
  return hunks ? rowsOf(hunks) : replaced(before, after);
}

/** The lines of a unified diff (POSIX diff -u), without the names of its files. */
export function linesOfUnified(diff: string): DiffRow[] {
  const hunks: Hunk[] = [];
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    const place = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (place) {
      // For a side without lines, the number is that of the line before.
      const start = (number = '1', count?: string): number => Number(number) + (count === '0' ? 1 : 0);
      hunks.push({ oldStart: start(place[1], place[2]), newStart: start(place[3], place[4]), lines: [] });
    } else hunks.at(-1)?.lines.push(line);
  }
  return rowsOf(hunks);
}

/** Side by side: removed lines and the lines that replace them share a row. */
export function paired(rows: DiffRow[]): ([DiffRow, DiffRow] | null)[] {
  const all: ([DiffRow, DiffRow] | null)[] = [];
  let gone: DiffLine[] = [];
  let come: DiffLine[] = [];
  const flush = (): void => {
    for (let i = 0; i < Math.max(gone.length, come.length); i++) all.push([gone[i] ?? null, come[i] ?? null]);
    gone = [];
    come = [];
  };
  for (const line of rows) {
    if (line?.sign === '-') gone.push(line);
    else if (line?.sign === '+') come.push(line);
    else {
      flush();
      all.push(line && [line, line]);
    }
  }
  flush();
  return all;
}
