import { expect, test } from 'vitest';
import { splitMatches } from './split_matches';

const hits = (text: string, q: string): string[] =>
  splitMatches(text, q)
    .filter(({ hit }) => hit)
    .map((piece) => piece.text);

test('search words are highlighted, whatever their syntax', () => {
  expect(hits('Apples and pears', '"apples" OR pear*')).toEqual(['Apples', 'pear']);
  expect(splitMatches('nothing', '((*')).toEqual([{ text: 'nothing', hit: false }]);
  expect(
    splitMatches('a.b', 'a.b')
      .map(({ text }) => text)
      .join(''),
  ).toBe('a.b');
});
