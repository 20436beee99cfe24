import { expect, test } from 'vitest';
import type { Thread } from '../../api/types';
import { rowAt, rowsOf, sectionsOf } from './rows';

const today = new Date('2026-11-24T00:00:00').getTime();
const chat = (id: string, members: Partial<Thread> = {}): Thread =>
  ({ id, title: id, updated_at: '2026-11-24T08:00:00', project_id: null, pinned: false, ...members }) as Thread;
const shown = (threads: Thread[]): string[] =>
  rowsOf(threads, (id) => `project ${id}`, today).map(({ heading, key }) => (heading ? `# ${heading.text}` : key));

test('chats are listed under their day', () => {
  const threads = [chat('a'), chat('b'), chat('c', { updated_at: '2026-11-23T08:00:00' })];
  expect(shown(threads)).toEqual(['# Today', 'a', 'b', '# Yesterday', 'c']);
});

test('pinned chats come first, then those of projects', () => {
  const threads = [chat('a'), chat('b', { project_id: 'p' }), chat('c', { pinned: true, project_id: 'p' })];
  expect(shown(threads)).toEqual(['# Pinned', 'c', '# project p', '# Today', 'b', '# No project', '# Today', 'a']);
});

test('a section that begins in the middle has the preceding heading', () => {
  const rows = rowsOf(
    Array.from({ length: 50 }, (_, i) => chat(`${i}`)),
    String,
    today,
  );
  const from = rowAt(rows, 28 + 10 * 44 + 1);
  expect(sectionsOf(rows, from, from + 2)).toEqual([
    { key: 'day others Today', chats: [rows[11]?.thread, rows[12]?.thread] },
  ]);
});

test('ten thousand chats are laid out in bounded time', () => {
  const threads = Array.from({ length: 10_000 }, (_, i) =>
    chat(`${i}`, { updated_at: new Date(today - i * 3_600_000).toISOString(), project_id: `${i % 20}` }),
  );
  const began = performance.now();
  expect(rowsOf(threads, String, today).length).toBeGreaterThan(10_000);
  expect(performance.now() - began).toBeLessThan(2000);
});
