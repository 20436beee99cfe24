import { expect, test } from 'vitest';
import { blocksOf, languageOf, pictureType } from './kinds';

test('languages and pictures are recognized by extension', () => {
  expect(['src/a.TS', 'b.py', 'Makefile', 'x.constructor', '.md'].map(languageOf)).toEqual([
    'typescript',
    'python',
    '',
    '',
    'markdown',
  ]);
  expect(['a.png', 'b.JPG', 'c.svg', 'd'].map(pictureType)).toEqual(['image/png', 'image/jpeg', undefined, undefined]);
});

test('blocks end at line breaks and lose nothing', () => {
  expect(blocksOf(['one\ntw', 'o\nthree\n', 'four'])).toEqual(['one\n', 'two\nthree\n', 'four']);
  expect(blocksOf(['xxxx', 'xxxx', 'x'])).toEqual(['xxxx', 'xxxx', 'x']);
  expect(blocksOf([])).toEqual([]);
});
