import { expect, test } from 'vitest';
import { changeOf, commandOf, keyMessage, keysOfInput, type Key } from './keys';

const pressed = (
  key: string,
  code: string,
  keyCode: number,
  members: Partial<Key> & { altGraph?: boolean } = {},
): Key => ({
  key,
  code,
  keyCode,
  altKey: false,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  getModifierState: () => members.altGraph ?? false,
  ...members,
});

test('a letter is a key with its text', () => {
  expect(keyMessage(pressed('A', 'KeyA', 65, { shiftKey: true }), 'down', false)).toEqual({
    type: 'key',
    action: 'down',
    key: 'A',
    code: 'KeyA',
    keyCode: 65,
    text: 'A',
    modifiers: 8,
  });
});

test('Enter types a line break, and Tab and arrows type nothing', () => {
  expect(keyMessage(pressed('Enter', 'NumpadEnter', 13), 'down', false).text).toBe('\r');
  expect(keyMessage(pressed('Tab', 'Tab', 9), 'down', false).text).toBeUndefined();
  expect(keyMessage(pressed('ArrowUp', 'ArrowUp', 38), 'down', false).text).toBeUndefined();
});

test('a character by AltGr or Option is text without modifiers', () => {
  const altGr = pressed('@', 'KeyQ', 81, { ctrlKey: true, altKey: true, altGraph: true });
  expect(keyMessage(altGr, 'down', false)).toMatchObject({ text: '@', modifiers: 0 });
  const option = pressed('@', 'KeyL', 76, { altKey: true });
  expect(keyMessage(option, 'down', true)).toMatchObject({ text: '@', modifiers: 0 });
  expect(commandOf(altGr, false)).toBeNull();
});

test('shortcuts go to the site, with their modifiers and without text', () => {
  const all = pressed('a', 'KeyA', 65, { ctrlKey: true });
  expect(commandOf(all, false)).toBeNull();
  expect(keyMessage(all, 'down', false)).toMatchObject({ key: 'a', modifiers: 2 });
  expect(keyMessage(all, 'down', false).text).toBeUndefined();
  expect(keyMessage(pressed('f', 'KeyF', 70, { altKey: true }), 'down', false)).toMatchObject({ modifiers: 1 });
});

test('the panel keeps keys to leave the picture, for the clipboard and for the history', () => {
  expect(commandOf(pressed('F6', 'F6', 117), false)).toBe('leave');
  expect(commandOf(pressed('F6', 'F6', 117, { shiftKey: true }), false)).toBe('onward');
  expect(commandOf(pressed('F5', 'F5', 116), false)).toBe('reload');
  expect(commandOf(pressed('c', 'KeyC', 67, { ctrlKey: true }), false)).toBe('copy');
  // A Cyrillic layout.
  expect(commandOf(pressed('с', 'KeyC', 67, { ctrlKey: true }), false)).toBe('copy');
  expect(commandOf(pressed('V', 'KeyV', 86, { ctrlKey: true, shiftKey: true }), false)).toBe('paste');
  expect(commandOf(pressed('ArrowLeft', 'ArrowLeft', 37, { altKey: true }), false)).toBe('back');
  expect(commandOf(pressed('c', 'KeyC', 67), false)).toBeNull();
});

test('Command is Ctrl on the systems of Apple', () => {
  expect(commandOf(pressed('c', 'KeyC', 67, { metaKey: true }), true)).toBe('copy');
  expect(commandOf(pressed('c', 'KeyC', 67, { metaKey: true }), false)).toBeNull();
  expect(commandOf(pressed('ArrowLeft', 'ArrowLeft', 37, { altKey: true }), true)).toBeNull();
  expect(keyMessage(pressed('Meta', 'MetaLeft', 91, { metaKey: true }), 'down', true)).toMatchObject({
    key: 'Control',
  });
});

test('keys that only begin a composition are not sent', () => {
  for (const key of ['Dead', 'Process', 'Unidentified']) expect(commandOf(pressed(key, '', 0), false)).toBe('nothing');
});

test('the keyboard of a phone reports inputs, which stand for keys', () => {
  expect(keysOfInput('deleteContentBackward').map(({ key, action }) => [key, action])).toEqual([
    ['Backspace', 'down'],
    ['Backspace', 'up'],
  ]);
  expect(keysOfInput('insertLineBreak')[0]).toMatchObject({ key: 'Enter', text: '\r' });
  expect(keysOfInput('insertText')).toEqual([]);
});

test('composed text changes at its end', () => {
  expect(changeOf('', 'he')).toEqual({ removed: 0, added: 'he' });
  expect(changeOf('hel', 'hello')).toEqual({ removed: 0, added: 'lo' });
  expect(changeOf('teh', 'the')).toEqual({ removed: 2, added: 'he' });
  expect(changeOf('a😀', 'a')).toEqual({ removed: 1, added: '' });
  expect(changeOf('same', 'same')).toEqual({ removed: 0, added: '' });
});
