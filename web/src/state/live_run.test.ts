import { beforeAll, expect, test } from 'vitest';
import type { RunEvent } from '../api/events';
import { LiveRun } from './live_run.svelte';

const run = { runId: 'r', turnId: 'q', threadId: 't' };
const delta = (seq: number, text: string): RunEvent => ({ ...run, seq, type: 'text-delta', delta: text });
const stopped = (seq: number): RunEvent => ({ ...run, seq, type: 'stopped', assistantTurnId: 'a' });

beforeAll(() => {
  globalThis.requestAnimationFrame = () => 1;
  globalThis.cancelAnimationFrame = () => {};
});

test('an answer consists of its events, in order and once, until its end', () => {
  let ends = 0;
  const live = new LiveRun(run, () => ends++);
  for (const event of [delta(1, 'One, '), delta(1, 'One, '), delta(2, 'two.'), stopped(3), stopped(3)])
    live.take(event);
  expect(live.parts).toEqual([{ kind: 'text', text: 'One, two.' }]);
  expect([live.ended, ends]).toEqual(['stopped', 1]);
});

test('an end that the snapshot already includes still ends the run', () => {
  const live = new LiveRun(run, () => {});
  live.resume({ ...run, seq: 5, text: 'All of it', reasoning: '', tools: [] });
  live.take(stopped(5));
  expect(live.ended).toBe('stopped');
});
