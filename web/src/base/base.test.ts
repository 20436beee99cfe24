import { expect, test, vi } from 'vitest';
import { bytes, day, duration, money, relativeTime } from './format';
import { fuzzyFilter, fuzzyScore } from './fuzzy';
import { escapeInvisible } from './escape';

test('invisible characters are escaped', () => {
  expect(escapeInvisible('safe.txt\u202Egpj.exe')).toBe('safe.txt⟨U+202E⟩gpj.exe');
  expect(escapeInvisible('a\tb\nc\u001b[31m')).toBe('a\tb\nc⟨U+001B⟩[31m');
});

test('small amounts are shown neither as zero nor with many digits', () => {
  expect([0, 0.00001, 0.0123, 12.3].map(money)).toEqual(['$0', '<$0.0001', '$0.0123', '$12.30']);
});

test('durations and relative times are in words', () => {
  expect([40, 3200, 245_000, 7_260_000].map(duration)).toEqual(['40 ms', '3.2 s', '4 min 5 s', '2 h 1 min']);
  expect(relativeTime('2026-01-02T00:00:00Z', Date.parse('2026-01-02T02:00:00Z'))).toBe('2 hours ago');
  expect(relativeTime('2026-01-02T00:00:00Z', Date.parse('2026-01-01T00:00:00Z'))).toBe('in 1 day');
});

test('yesterday is a whole day, also if clocks were changed on it', () => {
  vi.stubEnv('TZ', 'Europe/Berlin');
  // Yesterday had 25 hours, then 23.
  expect(day('2026-10-24T22:30:00Z', new Date('2026-10-26T09:00:00Z'))).toBe('Yesterday');
  expect(day('2026-03-28T22:30:00Z', new Date('2026-03-30T09:00:00Z'))).not.toBe('Yesterday');
  vi.unstubAllEnvs();
});

test('sixty minutes and a thousand milliseconds are rounded up', () => {
  expect([999.6, 59_980, 3_599_800, 7_199_000].map(duration)).toEqual(['1.0 s', '1 min 0 s', '1 h 0 min', '2 h 0 min']);
  expect(relativeTime('2026-01-02T00:00:00Z', Date.parse('2026-01-02T00:59:50Z'))).toBe('59 minutes ago');
  expect(bytes(1)).toBe('1 byte');
});

test('fuzzy search prefers starts of words', () => {
  expect(fuzzyScore('xyz', 'new chat')).toBe(0);
  expect(fuzzyFilter('nc', ['sync', 'new chat', 'launch'], (text) => text)[0]).toBe('new chat');
});
