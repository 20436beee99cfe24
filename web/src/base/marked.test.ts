import { expect, test } from 'vitest';
import { marked } from './marked';

const hits = (text: string, q: string): string[] => marked(text, q).filter(({ hit }) => hit).map((piece) => piece.text);

test('what was looked for is marked, whatever is typed around it', () => {
  expect(hits('Apples and pears', '"apples" OR pear*')).toEqual(['Apples', 'pear']);
  expect(marked('nothing', '((*')).toEqual([{ text: 'nothing', hit: false }]);
  expect(marked('a.b', 'a.b').map(({ text }) => text).join('')).toBe('a.b');
});
