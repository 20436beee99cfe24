import { beforeAll, expect, test, vi } from 'vitest';
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

test('only the time of reasoning counts as such', () => {
  vi.useFakeTimers();
  const live = new LiveRun(run, () => {});
  const after = (ms: number, event: RunEvent): void => {
    vi.advanceTimersByTime(ms);
    live.take(event);
  };
  after(5000, { ...run, seq: 1, type: 'reasoning-delta', delta: 'Hm, ' });
  after(2000, { ...run, seq: 2, type: 'reasoning-delta', delta: 'plums.' });
  after(1000, delta(3, 'A plum.'));
  after(9000, stopped(4));
  vi.useRealTimers();
  expect([live.reasoning, live.reasonedMs]).toEqual(['Hm, plums.', 3000]);
});

test('an end that the snapshot already includes still ends the run', () => {
  const live = new LiveRun(run, () => {});
  live.resume({ ...run, seq: 5, text: 'All of it', reasoning: '', tools: [] });
  live.take(stopped(5));
  expect(live.ended).toBe('stopped');
});
