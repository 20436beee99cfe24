import { Lexer } from 'marked';
import { expect, test } from 'vitest';
import { BlockReader } from './blocks';

const answer = [
  '# Title',
  'A paragraph with **bold**,\nover two lines.',
  '- one\n- two\n\n  still two\n- three',
  '```js\nlet a = 1;\n\nlet b;\n```',
  '| a | b |\n| - | - |\n| 1 | 2 |',
  '> quoted\n> more',
  '1. first\n2. second',
  'The end.',
].join('\n\n');

const shape = (tokens: { type: string; raw: string }[]): [string, string][] =>
  tokens.map(({ type, raw }) => [type, raw]);

test('text that streams letter by letter has the same blocks as the whole text', () => {
  const reader = new BlockReader();
  for (let i = 1; i < answer.length; i++) reader.read(answer.slice(0, i));
  const blocks = reader.read(answer).map(({ token }) => token);
  expect(shape(blocks)).toEqual(shape(Lexer.lex(answer)));
});

test('finished blocks keep their objects', () => {
  const reader = new BlockReader();
  const [first] = reader.read('One.\n\nTwo.\n\nThree.\n\nFour');
  expect(reader.read('One.\n\nTwo.\n\nThree.\n\nFour and more')[0]?.token).toBe(first?.token);
});

test('a different text starts over', () => {
  const reader = new BlockReader();
  reader.read('One.\n\nTwo.\n\nThree.');
  expect(reader.read('Else.').map(({ token }) => token.raw)).toEqual(['Else.']);
});

test('text without line breaks, 100,000 items and deep nesting are parsed in bounded time', () => {
  for (const text of [
    'x'.repeat(500_000),
    '- item\n'.repeat(100_000),
    '>'.repeat(5_000),
    '['.repeat(20_000),
    '*a '.repeat(10_000),
  ]) {
    const start = performance.now();
    new BlockReader().read(text.slice(0, 60_000));
    expect(performance.now() - start).toBeLessThan(2000);
  }
});

const types = (text: string): string[] => new BlockReader().read(text).map(({ token }) => token.type);

test('a footnote has a number', () => {
  expect(types('[^1]: Trees.')).toEqual(['footnote']);
  expect(types('[^0-9]: no digit at all')).toEqual(['paragraph']);
  expect(types('[^note]: Trees and heaps.')).toEqual(['paragraph']);
});

test('the text of a footnote begins on its own line', () => {
  expect(types('[^1]:\nTrees and heaps.')).toEqual(['paragraph']);
  expect(types('[^1]:\nTrees')).toEqual(['def']);
  expect(types('[^é]: Trees')).toEqual(['def']);
});

test('a footnote continues until another block begins', () => {
  expect(types('[^1]: Trees,\nof which\n    - many - rotate.\n-5 is less.')).toEqual(['footnote']);
  for (const [next, type] of [
    ['```js\nlet a;\n```', 'code'],
    ['~~~\nlet a;\n~~~', 'code'],
    ['## Heaps', 'heading'],
    ['> Heaps', 'blockquote'],
    ['- Heaps', 'list'],
    ['  * Heaps', 'list'],
    ['1. Heaps', 'list'],
    ['[^2]: Heaps', 'footnote'],
  ] as const)
    expect(types(`[^1]: Trees\n${next}`)).toEqual(['footnote', type]);
});
