/** The directories of a project as the rows of a tree. A directory is read when it is opened. */
import type { ProjectDirectory, ProjectEntry } from '../../api/types';
import { t } from '../../base/language';

export interface Row {
  path: string;
  name: string;
  /** `note`: a message about the directory, such as “Empty”. */
  type: ProjectEntry['type'] | 'note';
  /** The depth, from 1. */
  level: number;
  /** The row's position in its directory, from 1, and the number of entries there; -1 if that is not known yet. */
  position: number;
  size: number;
  isOpen: boolean;
}

const join = (directory: string, name: string): string => (directory ? `${directory}/${name}` : name);

/** The parent directory of a path; empty for the project itself. */
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

const nameIn = (directory: string, path: string): string => (directory ? path.slice(directory.length + 1) : path);

/** Consecutive rows: entries of one directory, or a note. */
interface Part {
  /** The index of its first row. */
  first: number;
  count: number;
  directory: string;
  at: (index: number) => Row;
  nameAt: (index: number) => string;
}

/** The rows of a tree, made on access because a directory may have 50,000 entries. */
export class Rows {
  length = 0;
  readonly #parts: Part[] = [];

  add(count: number, directory: string, at: Part['at'], nameAt: Part['nameAt']): void {
    if (!count) return;
    this.#parts.push({ first: this.length, count, directory, at, nameAt });
    this.length += count;
  }

  at(index: number): Row | undefined {
    const part = this.#parts.find(({ first, count }) => index >= first && index < first + count);
    return part?.at(index - part.first);
  }

  slice(from: number, to: number): Row[] {
    const rows: Row[] = [];
    for (const { first, count, at } of this.#parts)
      for (let i = Math.max(from, first); i < Math.min(to, first + count); i++) rows.push(at(i - first));
    return rows;
  }

  /** The index of a path's row; -1 if there is none. */
  indexOf(path: string): number {
    if (!path) return -1;
    const directory = parentOf(path);
    const name = nameIn(directory, path);
    for (const { first, count, directory: own, nameAt } of this.#parts) {
      if (own !== directory) continue;
      for (let i = 0; i < count; i++) if (nameAt(i) === name) return first + i;
    }
    return -1;
  }

  /** The index of the next row whose name begins with `words`, from `from` and then from the start; -1 if none does. */
  find(words: string, from: number): number {
    let before = -1;
    for (const { first, count, nameAt } of this.#parts) {
      for (let i = 0; i < count; i++) {
        if (before >= 0 && first + i < from) continue;
        if (!nameAt(i).toLowerCase().startsWith(words)) continue;
        if (first + i >= from) return first + i;
        before = first + i;
      }
    }
    return before;
  }
}

/** Adds a message about a directory as a row. */
function addNote(rows: Rows, directory: string, level: number, name: string): void {
  // The line break distinguishes the mark from file names. A slash would make it a path in a subdirectory.
  const mark = `\n${name.replaceAll('/', ' ')}`;
  const path = join(directory, mark);
  const row = (): Row => ({ path, name, type: 'note', level, position: 1, size: 1, isOpen: false });
  rows.add(1, directory, row, () => mark);
}

/** The number of entries to read and show first, because a directory with 50,000 entries takes longer. */
const firstEntries = 500;

type Read = (path: string, limit?: number) => Promise<ProjectDirectory>;

export class FileTree {
  rows = $state.raw(new Rows());
  readonly #read: Read;
  /** Directories or errors by path. `isBegun`: more entries are being read. */
  readonly #known = new Map<string, (ProjectDirectory & { isBegun?: boolean }) | Error>();
  readonly #open = new Set<string>(['']);

  constructor(read: Read) {
    this.#read = read;
  }

  /** Reads the open directories again. Their old entries stay visible until then. */
  async reload(): Promise<void> {
    await Promise.all([...this.#open].map((path) => this.#fetch(path)));
  }

  async open(path: string): Promise<void> {
    this.#open.add(path);
    this.#show();
    await this.#fetch(path);
  }

  close(path: string): void {
    this.#open.delete(path);
    this.#show();
  }

  /** Opens the directories that lead to the path. */
  async reveal(path: string): Promise<void> {
    const directories = path.split('/').map((_, i, names) => names.slice(0, i).join('/'));
    for (const directory of directories) await this.open(directory);
  }

  async #fetch(path: string): Promise<void> {
    try {
      if (!this.#known.has(path)) {
        const first = await this.#read(path, firstEntries);
        const known = this.#known.get(path);
        // Another call may have read the whole directory in the meantime.
        if (!known || known instanceof Error) this.#known.set(path, { ...first, isBegun: !first.complete });
        if (first.complete) return this.#show();
        this.#show();
      }
      this.#known.set(path, await this.#read(path));
    } catch (error) {
      this.#known.set(path, error instanceof Error ? error : new Error(String(error)));
    }
    this.#show();
  }

  #show(): void {
    const rows = new Rows();
    this.#add(rows, '', 1);
    this.rows = rows;
  }

  #add(rows: Rows, directory: string, level: number): void {
    const known = this.#known.get(directory);
    const note = (name: string): void => addNote(rows, directory, level, name);
    if (!known) return note(t('Loading…'));
    if (known instanceof Error) return note(known.message);
    if (!known.entries.length) note(t('Empty'));
    this.#addEntries(rows, directory, level, known.entries, known.isBegun ? -1 : known.entries.length);
    if (known.isBegun) note(t('Loading…'));
    else if (!known.complete) note(t('There are more entries than can be shown.'));
  }

  #addEntries(rows: Rows, directory: string, level: number, entries: ProjectEntry[], size: number): void {
    const row = (i: number): Row => {
      const { name, type } = entries[i]!;
      const path = join(directory, name);
      const isOpen = type === 'directory' && this.#open.has(path);
      return { path, name, type, level, position: i + 1, size, isOpen };
    };
    const add = (from: number, to: number): void => {
      const nameAt = (i: number): string => entries[from + i]!.name;
      rows.add(to - from, directory, (i) => row(from + i), nameAt);
    };
    let from = 0;
    for (const [i, path] of this.#openIn(directory, entries)) {
      add(from, i + 1);
      this.#add(rows, path, level + 1);
      from = i + 1;
    }
    add(from, entries.length);
  }

  /** The open subdirectories of a directory with their indices, in order. */
  #openIn(directory: string, entries: ProjectEntry[]): [place: number, path: string][] {
    const found: [number, string][] = [];
    for (const path of this.#open) {
      if (!path || parentOf(path) !== directory) continue;
      const name = nameIn(directory, path);
      const at = entries.findIndex((entry) => entry.name === name && entry.type === 'directory');
      if (at >= 0) found.push([at, path]);
    }
    return found.sort(([one], [other]) => one - other);
  }
}
