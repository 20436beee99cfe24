import { expect, test } from 'vitest';
import type { Setting } from '../../api/types';
import { changesAmong, groupsOf, isSame, matches, textOf, valueOf } from './settings';

const setting = (key: string, more: Partial<Setting> = {}): Setting => ({
  key,
  about: 'How long runs are kept, in days.',
  form: 'whole-number',
  must_be: 'a whole number',
  default_value: 90,
  value: 90,
  source: 'built-in',
  editable: true,
  ...more,
});

test('the words may be in the name or the sentence, in any order', () => {
  expect(matches(setting('retention.days'), 'days RETENTION')).toBe(true);
  expect(matches(setting('retention.turns_per_job_thread'), 'job thread')).toBe(true);
  expect(matches(setting('retention.days'), 'kept runs')).toBe(true);
  expect(matches(setting('retention.days'), 'days port')).toBe(false);
  expect(matches(setting('retention.days'), '')).toBe(true);
});

test('settings of one word come first, together', () => {
  const groups = groupsOf([setting('log.format'), setting('port'), setting('log.level'), setting('host')]);
  expect(groups.map(([title, members]) => [title, members.map(({ key }) => key)])).toEqual([
    ['General', ['port', 'host']],
    ['log', ['log.format', 'log.level']],
  ]);
});

test('the value of the file counts, even if it waits for a restart', () => {
  expect(valueOf(setting('a'))).toBe(90);
  expect(valueOf(setting('a', { waits_for_restart: true, next_value: 30 }))).toBe(30);
  expect(valueOf(setting('a', { waits_for_restart: true, next_value: null }))).toBe(null);
});

test('values are shown as in the file', () => {
  expect([null, 0.5, 'info', ['a', 'b']].map(textOf)).toEqual(['', '0.5', 'info', 'a, b']);
  expect(isSame(null, undefined)).toBe(true);
  expect(isSame(0, null)).toBe(false);
});

test('unsaved values stay only while they would change the file', () => {
  const edits = { a: { value: 30 }, b: { value: null }, c: { value: 1 }, gone: { value: 2 } };
  const settings = [setting('a'), setting('b', { source: 'file' }), setting('c', { editable: false })];
  expect(changesAmong(edits, settings)).toEqual({ a: { value: 30 }, b: { value: null } });
  expect(changesAmong(edits, [setting('a', { value: 30 }), setting('b')])).toEqual({});
});
