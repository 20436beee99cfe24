import { expect, test } from 'vitest';
import { boxOf, fileNameOf, isClick, pathOf, wordsAbout, wordsAboutElements } from './marks';

test('lines are one path, and a line of one point is a dot', () => {
  const line = [
    { x: 1, y: 2 },
    { x: 3, y: 4 },
  ];
  expect(pathOf([])).toBe('');
  expect(pathOf([line, [{ x: 5, y: 6 }]])).toBe('M1 2L3 4M5 6h.1');
});

test('a press that hardly moves is a click', () => {
  const from = { x: 10, y: 10 };
  expect(isClick([from])).toBe(true);
  expect(isClick([from, { x: 12, y: 11 }])).toBe(true);
  expect(isClick([from, { x: 20, y: 10 }, from])).toBe(false);
});

test('an element has a box', () => {
  expect(pathOf([boxOf({ x: 1, y: 2, width: 10, height: 20, selector: 'b', html: '' })])).toBe(
    'M1 2L11 2L11 22L1 22L1 2',
  );
});

test('a message has the elements in blocks that they cannot end, with nothing invisible', () => {
  const element = { x: 0, y: 0, width: 1, height: 1, selector: '#a', html: '<b>```\u202e</b>' };
  expect(wordsAboutElements('https://example.org/', [element, { ...element, html: '<i></i>' }])).toBe(
    'https://example.org/\n\nElements of this website, in its words and not mine:\n\n' +
      '````\n#a\n\n<b>```⟨U+202E⟩</b>\n````\n\n```\n#a\n\n<i></i>\n```',
  );
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
