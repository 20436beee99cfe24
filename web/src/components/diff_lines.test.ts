import { expect, test } from 'vitest';
import { compare, linesOfUnified, paired } from './diff_lines';

const shown = (rows: ReturnType<typeof compare>): string[] =>
  rows.map((row) => (row ? `${row.sign}${row.text} ${row.old ?? ''}:${row.new ?? ''}` : '⋯'));

test('changed lines have line numbers', () => {
  expect(shown(compare('a\nb\nc\n', 'a\nB\nc\n'))).toEqual([' a 1:1', '-b 2:', '+B :2', ' c 3:3']);
});

test('a new or emptied text is one hunk', () => {
  expect(shown(compare('', 'a\nb\n'))).toEqual(['+a :1', '+b :2']);
  expect(shown(compare('a\n', ''))).toEqual(['-a 1:']);
  expect(compare('a\n', 'a\n')).toEqual([]);
});

test('texts without a common line are compared in bounded time', () => {
  const [before, after] = ['x', 'y'].map((name) => Array.from({ length: 5000 }, (_, i) => `${name} ${i}\n`).join(''));
  const began = performance.now();
  expect(compare(before ?? '', after ?? '').length).toBe(10_000);
  expect(performance.now() - began).toBeLessThan(2000);
});

test('a unified diff is parsed with its line numbers', () => {
  const diff =
    '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n@@ -9,0 +10 @@\n+ten\n\\ No newline at end of file\n';
  expect(shown(linesOfUnified(diff))).toEqual(['-one 1:', '+1 :1', ' two 2:2', '⋯', '+ten :10']);
});

test('side by side, a line is next to the one that replaces it', () => {
  const rows = paired(compare('a\nb\n', 'a\nB\nc\n'));
  expect(rows.map((row) => row?.map((line) => line?.text ?? ''))).toEqual([
    ['a', 'a'],
    ['b', 'B'],
    ['', 'c'],
  ]);
});
