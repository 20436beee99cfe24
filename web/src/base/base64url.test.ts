import { expect, test } from 'vitest';
import { fromBase64url, toBase64url } from './base64url';

test('bytes become text for addresses, without padding', () => {
  expect(toBase64url(new Uint8Array())).toBe('');
  expect([[1], [1, 2], [1, 2, 3]].map((bytes) => toBase64url(new Uint8Array(bytes)))).toEqual(['AQ', 'AQI', 'AQID']);
  expect(toBase64url(new Uint8Array([0xfb, 0xef, 0xff, 0xfe]))).toBe('--___g');
});

test('text from an address becomes bytes again, however many they are', () => {
  expect([...fromBase64url('--___g')]).toEqual([0xfb, 0xef, 0xff, 0xfe]);
  const many = Uint8Array.from({ length: 400_000 }, (_, at) => (at * 7) % 256);
  const text = toBase64url(many);
  expect(text.length).toBe(Math.ceil((many.length * 4) / 3));
  expect(fromBase64url(text).every((byte, at) => byte === many[at])).toBe(true);
});

test('what is not base64url is refused', () => {
  expect(() => fromBase64url('%%%')).toThrow();
  expect(() => fromBase64url('A')).toThrow();
});
