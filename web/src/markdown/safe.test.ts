import { expect, test } from 'vitest';
import { decodeEntities, safeImage, safeLink } from './safe';

test('only safe addresses become links', () => {
  expect(safeLink('https://example.org/a?b=c')).toBe('https://example.org/a?b=c');
  expect(safeLink('mailto:somebody@example.org')).toBe('mailto:somebody@example.org');
  expect(safeLink('#/t/abc')).toBe('#/t/abc');
  for (const address of [
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'vbscript:x',
    'blob:https://a/b',
    '/etc/passwd',
    '//example.org',
    '#/../x?code=1',
    'http://',
  ]) {
    expect(safeLink(address), address).toBeNull();
  }
});

test('only raster data URLs are shown as images', () => {
  expect(safeImage('data:image/png;base64,AAAA')).not.toBeNull();
  for (const address of [
    'https://example.org/a.png',
    'data:image/svg+xml;base64,AAAA',
    'data:text/html;base64,AAAA',
    'data:image/png,<svg>',
  ]) {
    expect(safeImage(address), address).toBeNull();
  }
});

test('character references become characters', () => {
  expect(decodeEntities('a &amp; b &lt;c&gt; &#65;&#x42; &unknown; &#0; &#xD800;')).toBe(
    'a & b <c> AB &unknown; \ufffd \ufffd',
  );
});
