import { expect, test } from 'vitest';
import { commandOf, type ComposerState } from './composer_keys';

const state: ComposerState = { hasSuggestions: false, canStop: false, isEmpty: false, enterSends: true };
const plain = { shiftKey: false, ctrlKey: false, metaKey: false };
const commands = (keys: string[], changes: Partial<ComposerState>, shiftKey = false): unknown[] =>
  keys.map((key) => commandOf({ ...plain, key, shiftKey }, { ...state, ...changes }));

test('keys control the suggestions while there are any', () => {
  const keys = ['ArrowDown', 'ArrowUp', 'Tab', 'Enter', 'Escape', 'a'];
  const all = { hasSuggestions: true, canStop: true, isEmpty: true };
  expect(commands(keys, all)).toEqual(['next', 'previous', 'accept', 'accept', 'close', undefined]);
  expect(commands(['Tab', 'Enter'], all, true)).toEqual([undefined, undefined]);
});

test('without suggestions Enter sends, Escape stops, and the arrow recalls the last message', () => {
  const keys = ['Enter', 'Escape', 'ArrowUp', 'Tab'];
  expect(commands(keys, { canStop: true, isEmpty: true })).toEqual(['send', 'stop', 'recall', undefined]);
  expect(commands(keys, { enterSends: false })).toEqual([undefined, undefined, undefined, undefined]);
  expect(commands(['Enter'], {}, true)).toEqual([undefined]);
});

test('with Ctrl or Cmd, Enter steers the active answer; with Shift as well, it interrupts', () => {
  for (const held of [{ ctrlKey: true }, { metaKey: true }]) {
    const enter = { ...plain, ...held, key: 'Enter' };
    expect(commandOf(enter, { ...state, canStop: true })).toBe('steer');
    expect(commandOf({ ...enter, shiftKey: true }, { ...state, canStop: true })).toBe('interrupt');
    expect(commandOf(enter, { ...state, canStop: true, hasSuggestions: true, enterSends: false })).toBe('steer');
    expect(commandOf(enter, state)).toBe('send');
  }
});
