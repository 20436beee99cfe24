import { expect, test } from 'vitest';
import type { ProjectDirectory } from '../../api/types';
import { FileTree, parentOf } from './tree.svelte';

/** Names that end with a slash are directories. */
const directory = (path: string, ...names: string[]): ProjectDirectory => ({
  path,
  complete: true,
  entries: names.map((name) => ({ name: name.replace('/', ''), type: name.endsWith('/') ? 'directory' : 'file' })),
});

const shown = (tree: FileTree): string[] =>
  tree.rows.slice(0, tree.rows.length).map(({ level, name }) => `${'-'.repeat(level - 1)}${name}`);

function treeOf(found: Record<string, ProjectDirectory>): FileTree {
  return new FileTree(async (path, limit = Infinity) => {
    const all = found[path];
    if (!all) throw new Error('path not found');
    return { ...all, entries: all.entries.slice(0, limit), complete: all.complete && all.entries.length <= limit };
  });
}

test('directories are read when opened, and keep their open subdirectories', async () => {
  const tree = treeOf({
    '': directory('', 'src/', 'a.md'),
    src: directory('src', 'deep/', 'b.ts'),
    'src/deep': directory('src/deep', 'c.ts'),
  });
  await tree.open('');
  expect(shown(tree)).toEqual(['src', 'a.md']);
  await tree.open('src');
  await tree.open('src/deep');
  expect(shown(tree)).toEqual(['src', '-deep', '--c.ts', '-b.ts', 'a.md']);
  tree.close('src');
  expect(shown(tree)).toEqual(['src', 'a.md']);
  await tree.open('src');
  expect(shown(tree)).toEqual(['src', '-deep', '--c.ts', '-b.ts', 'a.md']);
});

test('a path is revealed by opening its parent directories', async () => {
  const tree = treeOf({
    '': directory('', 'src/'),
    src: directory('src', 'deep/'),
    'src/deep': directory('src/deep', 'c.ts'),
  });
  await tree.reveal('src/deep/c.ts');
  expect(shown(tree)).toEqual(['src', '-deep', '--c.ts']);
  expect(tree.rows.at(2)).toMatchObject({ path: 'src/deep/c.ts', position: 1, size: 1 });
});

test('unreadable, empty and too large directories are reported', async () => {
  const tree = treeOf({ '': { ...directory('', 'none/', 'empty/'), complete: false }, empty: directory('empty') });
  await tree.open('');
  await tree.open('none');
  await tree.open('empty');
  expect(shown(tree)).toEqual([
    'none',
    '-path not found',
    'empty',
    '-Empty',
    'There are more entries than can be shown.',
  ]);
});

test('reloading keeps directories open', async () => {
  const found: Record<string, ProjectDirectory> = { '': directory('', 'src/'), src: directory('src', 'a.ts') };
  const tree = treeOf(found);
  await tree.open('');
  await tree.open('src');
  found.src = directory('src', 'a.ts', 'b.ts');
  await tree.reload();
  expect(shown(tree)).toEqual(['src', '-a.ts', '-b.ts']);
});

test('rows are found by path and by the beginning of the name', async () => {
  const tree = treeOf({
    '': directory('', 'src/', 'test/', 'a.md', 'A.txt'),
    src: directory('src', 'a.ts', 'b.ts'),
    test: directory('test', 'a.ts'),
  });
  await tree.open('');
  await tree.open('test');
  await tree.open('src');
  const { rows } = tree;
  expect(shown(tree)).toEqual(['src', '-a.ts', '-b.ts', 'test', '-a.ts', 'a.md', 'A.txt']);
  expect(['src', 'src/b.ts', 'test/a.ts', 'a.md', 'b.ts', ''].map((path) => rows.indexOf(path))).toEqual([
    0, 2, 4, 5, -1, -1,
  ]);
  expect([0, 2, 6].map((from) => rows.find('a', from))).toEqual([1, 4, 6]);
  expect(rows.find('src', 3)).toBe(0);
  expect(rows.find('nowhere', 0)).toBe(-1);
  expect(rows.at(7)).toBeUndefined();
});

test('50,000 entries are rows in bounded time', async () => {
  const names = Array.from({ length: 50_000 }, (_, i) => `file-${i}`);
  const tree = treeOf({ '': directory('', ...names) });
  const before = performance.now();
  await tree.open('');
  expect(tree.rows.length).toBe(50_000);
  expect(performance.now() - before).toBeLessThan(1000);
});

test('the first entries of a large directory are shown before the others', async () => {
  const names = Array.from({ length: 600 }, (_, i) => `file-${i}`);
  let arrive = (_all: ProjectDirectory): void => {};
  const rest = new Promise<ProjectDirectory>((arrived) => (arrive = arrived));
  const tree = new FileTree((_path, limit) =>
    limit ? Promise.resolve({ ...directory('', ...names.slice(0, limit)), complete: false }) : rest,
  );
  const opened = tree.open('');
  await new Promise((later) => setTimeout(later));
  expect(tree.rows.at(0)).toMatchObject({ name: 'file-0', size: -1 });
  expect(tree.rows.at(tree.rows.length - 1)?.name).toBe('Loading…');
  arrive(directory('', ...names));
  await opened;
  expect(tree.rows.length).toBe(600);
  expect(tree.rows.at(599)).toMatchObject({ name: 'file-599', size: 600 });
});

test('first entries that arrive late do not replace the complete list', async () => {
  const names = Array.from({ length: 600 }, (_, i) => `file-${i}`);
  const first = { ...directory('', ...names.slice(0, 500)), complete: false };
  const arrive: ((first: ProjectDirectory) => void)[] = [];
  let wholes = 0;
  const tree = new FileTree((_path, limit) => {
    if (limit) return new Promise((arrived) => arrive.push(arrived));
    return wholes++ ? new Promise(() => {}) : Promise.resolve(directory('', ...names));
  });
  void tree.open('');
  const reloaded = tree.reload();
  arrive[1]!(first);
  await reloaded;
  expect(tree.rows.length).toBe(600);
  arrive[0]!(first);
  await new Promise((later) => setTimeout(later));
  expect(wholes).toBe(2);
  expect(tree.rows.length).toBe(600);
});

test('the parent directory of a path is known', () => {
  expect(['a', 'a/b', 'a/b/c'].map(parentOf)).toEqual(['', 'a', 'a/b']);
});
