import { expect, test } from 'vitest';
import { continued, fileNameOf, pathOf, wordsAbout } from './marks';

test('lines are one path, and a line of one point is a dot', () => {
  const line = [
    { x: 1, y: 2 },
    { x: 3, y: 4 },
  ];
  expect(pathOf([])).toBe('');
  expect(pathOf([line, [{ x: 5, y: 6 }]])).toBe('M1 2L3 4M5 6h.1');
});

test('the pointer continues the last line only', () => {
  const [one, two] = [[{ x: 1, y: 1 }], [{ x: 2, y: 2 }]];
  expect(continued([one, two], { x: 3, y: 3 })).toEqual([one, [...two, { x: 3, y: 3 }]]);
});

test('a message names the address of a website, and no other', () => {
  expect(wordsAbout('https://example.org/a?b')).toBe('https://example.org/a?b');
  expect(['about:blank', 'data:text/html,x', ''].map(wordsAbout)).toEqual(['', '', '']);
});

test('the file of a picture has the name of its website', () => {
  expect(fileNameOf('https://example.org/a')).toBe('example.org.jpg');
  expect(fileNameOf('http://[::1]:5173/')).toBe('-1-5173.jpg');
  expect(fileNameOf('about:blank')).toBe('page.jpg');
});
