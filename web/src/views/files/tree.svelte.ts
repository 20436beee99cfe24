/** A project's directories as the rows of a tree, each read when it is opened. */
import type { ProjectDirectory, ProjectEntry } from '../../api/types';
import { t } from '../../base/language';

export interface Row {
  path: string;
  name: string;
  /** `note`: says something about its directory. */
  type: ProjectEntry['type'] | 'note';
  /** From 1. */
  level: number;
  /** Its place in its directory, from 1, and how many entries that has. */
  position: number;
  size: number;
  isOpen: boolean;
}

const join = (directory: string, name: string): string => (directory ? `${directory}/${name}` : name);

/** The directory that a path is in; empty for the project itself. */
export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

export class FileTree {
  rows = $state.raw<Row[]>([]);
  readonly #read: (path: string) => Promise<ProjectDirectory>;
  readonly #known = new Map<string, ProjectDirectory | Error>();
  readonly #open = new Set<string>(['']);

  constructor(read: (path: string) => Promise<ProjectDirectory>) {
    this.#read = read;
  }

  /** Reads the open directories again; what is shown stays until then. */
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
      this.#known.set(path, await this.#read(path));
    } catch (error) {
      this.#known.set(path, error instanceof Error ? error : new Error(String(error)));
    }
    this.#show();
  }

  #show(): void {
    const rows: Row[] = [];
    this.#add(rows, '', 1);
    this.rows = rows;
  }

  #add(rows: Row[], directory: string, level: number): void {
    const known = this.#known.get(directory);
    const note = (name: string): void => {
      const path = join(directory, `\n${name}`);
      rows.push({ path, name, type: 'note', level, position: 1, size: 1, isOpen: false });
    };
    if (!known) return note(t('Loading…'));
    if (known instanceof Error) return note(known.message);
    const { entries, complete } = known;
    if (!entries.length) note(t('Empty'));
    entries.forEach(({ name, type }, i) => {
      const path = join(directory, name);
      const isOpen = type === 'directory' && this.#open.has(path);
      rows.push({ path, name, type, level, position: i + 1, size: entries.length, isOpen });
      if (isOpen) this.#add(rows, path, level + 1);
    });
    if (!complete) note(t('There are more entries than can be shown.'));
  }
}
