/**
 * Text to be approved, with marks for everything that a reader would miss: invisible characters, look-alike letters,
 * and white space that pushes the end out of sight.
 */
import { count } from '../../base/format';
import { t } from '../../base/language';

/** A piece of unchanged text, or a mark that replaces or follows something that a reader would miss. */
export interface Piece {
  text: string;
  mark: boolean;
}

const blanks = String.raw`(?:[ \t]*\n){6,}|[ \t]{25,}`;
/** Control, format, unassigned and private-use characters, unusual spaces, and characters that fonts do not draw. */
const invisible = String.raw`[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u{2800}]--[ \t\n]]`;
/** Each alternative takes linear time, even on hostile text. */
const odd = new RegExp(String.raw`${blanks}|(${invisible})\1*|\p{M}{4,}|[^\p{ASCII}]`, 'gv');

const latin = /\p{Script=Latin}/u;
const codePoint = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
const isInvisible = new RegExp(`^${invisible}`, 'v');

/** The pieces of a text, in order. Without the marks, they are its whole visible part. */
export function exactPieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  const add = (piece: string, mark: boolean): void => {
    const last = pieces.at(-1);
    if (!piece) return;
    if (last && last.mark === mark && !mark) last.text += piece;
    else pieces.push({ text: piece, mark });
  };
  let from = 0;
  for (const { 0: found, index } of text.matchAll(odd)) {
    add(text.slice(from, index), false);
    from = index + found.length;
    if (/^[ \t\n]/.test(found)) addBlank(found, add);
    else if (isInvisible.test(found)) addInvisible(found, add);
    else if (/^\p{M}{4,}$/u.test(found)) add(t('⟨{number} combining marks⟩', { number: [...found].length }), true);
    else addCharacter(found, text, index, add);
  }
  add(text.slice(from), false);
  return pieces;
}

type Add = (piece: string, mark: boolean) => void;

function addBlank(found: string, add: Add): void {
  const lines = found.split('\n').length - 1;
  if (lines) add(t('⟨{lines} line breaks⟩', { lines: count(lines) }), true);
  else add(`⟨${count(found.length)} ${found.includes('\t') ? t('spaces and tabs') : t('spaces')}⟩`, true);
  if (lines) add('\n', false);
}

function addInvisible(found: string, add: Add): void {
  const [character = '', ...others] = found;
  add(others.length ? `⟨${codePoint(character)} × ${count(others.length + 1)}⟩` : `⟨${codePoint(character)}⟩`, true);
}

/** Characters to search on each side of a letter for the rest of its word. */
const wordLength = 64;

/** Adds a character. A mark follows a letter of another alphabet in a Latin word, and a look-alike of ASCII. */
function addCharacter(character: string, text: string, at: number, add: Add): void {
  add(character, false);
  const plain = character.normalize('NFKC');
  const imitates = plain !== character && /^[!-~]$/.test(plain);
  if (imitates || (isForeign(character) && isInLatinWord(text, at))) add(`⟨${codePoint(character)}⟩`, true);
}

const isForeign = (character: string): boolean => /\p{L}/u.test(character) && !latin.test(character);

function isInLatinWord(text: string, at: number): boolean {
  const [before = ''] = /\p{L}*$/u.exec(text.slice(Math.max(0, at - wordLength), at)) ?? [];
  const [after = ''] = /^\p{L}*/u.exec(text.slice(at, at + wordLength)) ?? [];
  return latin.test(before + after);
}

export interface Host {
  shown: string;
  real: string;
}

const authority = /:\/\/([^\s'"`<>|;\\/?#]+)/g;
const word = /[^\s'"`<>|;\\/:@=,()]+/g;

function realHost(name: string): string | undefined {
  try {
    return new URL(`http://${name}`).host;
  } catch {
    return undefined;
  }
}

/** The hosts in a text that differ from how they look: other alphabets, a name before `@`, a number as address. */
export function disguisedHosts(text: string): Host[] {
  const found = new Map<string, string>();
  const consider = (shown: string): void => {
    const real = realHost(shown);
    const name = shown.slice(shown.lastIndexOf('@') + 1).toLowerCase();
    const isDisguised = real !== name.replace(/:80$/, '') || shown.split('@').slice(0, -1).join().includes('.');
    if (real && isDisguised) found.set(shown, real);
  };
  for (const [, name = ''] of text.matchAll(authority)) consider(name);
  for (const [name] of text.replace(authority, ' ').matchAll(word)) {
    if (/[^.]\.[^.]/.test(name) && /[^\0-\x7f]/.test(name)) consider(name);
  }
  return [...found].map(([shown, real]) => ({ shown, real }));
}

export interface DiffBlock {
  kind: 'added' | 'removed' | 'same' | 'place';
  lines: string[];
}

const kinds: Record<string, DiffBlock['kind']> = { '+': 'added', '-': 'removed', '@': 'place' };

/** Groups the lines of a unified diff into blocks of one kind. Omits the file names. */
export function diffBlocks(diff: string): DiffBlock[] {
  const blocks: DiffBlock[] = [];
  let begun = false;
  for (const line of diff.replace(/\n$/, '').split('\n')) {
    begun ||= line.startsWith('@@');
    // File names precede the first hunk. In a hunk, changed lines may begin in the same way.
    if (!begun && /^(---|\+\+\+|diff |index )/.test(line)) continue;
    const kind = kinds[line[0] ?? ''] ?? 'same';
    const last = blocks.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else blocks.push({ kind, lines: [line] });
  }
  return blocks;
}
