import { expect, test } from 'vitest';
import { toBase64url } from '../base/base64url';
import { opened, sealed } from './sealed';
import { fragmentOf, isStored } from './stored';

const key = new Uint8Array(32).map((_, at) => at);
const content = new TextEncoder().encode('<h1>A garden</h1>');

test('content is opened with its key', () => {
  const bytes = sealed(key, content);
  expect(bytes.length).toBe(content.length + 16);
  expect(opened(key, bytes)).toEqual(content);
});

test('the cipher is that of RFC 8439', () => {
  // By another implementation, Python's cryptography.
  expect(toBase64url(sealed(key, content))).toBe('JNBzD-zGwbBhBTkPk2wmFsa9G98epyUSgSqqbugGA8PY');
});

test('with another key, or after a change, it is not opened', () => {
  const bytes = sealed(key, content);
  expect(() => opened(new Uint8Array(32), bytes)).toThrow();
  for (const at of [0, content.length, bytes.length - 1]) {
    const changed = bytes.slice();
    changed[at]! ^= 1;
    expect(() => opened(key, changed)).toThrow();
  }
  for (const length of [0, 15, bytes.length - 1]) expect(() => opened(key, bytes.slice(0, length))).toThrow();
});

test('the fragment of a stored chat has its id and key', () => {
  const id = '0123456789abcdef0123456789abcdef';
  const fragment = fragmentOf(id, key);
  expect(fragment).toBe(`#2.${id}.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8`);
  expect(isStored(fragment)).toBe(true);
  for (const other of [
    '',
    '#1.AAAA',
    '#2.AAAA',
    fragment.slice(0, -1),
    `${fragment}A`,
    fragment.toUpperCase(),
    fragment.replace('#2.0', '#2./'),
  ])
    expect(isStored(other)).toBe(false);
});
