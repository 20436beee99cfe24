import { expect, test } from 'vitest';
import { completeUpTo, isEcho, sentencesOf } from './sentences';

test('a sentence is complete once text follows it', () => {
  expect(completeUpTo('Water the roses. They are')).toBe('Water the roses. '.length);
  expect(completeUpTo('Water the roses.')).toBe(0);
  expect(completeUpTo('Garden\nWater')).toBe('Garden\n'.length);
  expect(completeUpTo('It costs 3.50 now')).toBe(0);
});

test('a text is split into sentences and lines', () => {
  expect(sentencesOf('Garden\nWater it. (Well!) And? 水をやる。はい')).toEqual([
    'Garden',
    'Water it.',
    '(Well!)',
    'And?',
    '水をやる。',
    'はい',
  ]);
  expect(sentencesOf('…\n - ')).toEqual([]);
});

test('text that the page itself reads is not an interruption', () => {
  const read = 'Water the roses in the evening. They like it.';
  expect(isEcho('the roses in the', read)).toBe(true);
  expect(isEcho('water the roses in evenings', read)).toBe(true);
  expect(isEcho('stop', read)).toBe(false);
  expect(isEcho('no the tulips please', read)).toBe(false);
  expect(isEcho('', read)).toBe(true);
});
