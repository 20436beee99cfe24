import { expect, test } from 'vitest';
import type { Turn } from '../api/types';
import { LiveRun } from './live_run.svelte';
import { timeline, type Item } from './timeline';

let time = 0;
const turn = (id: string, role: Turn['role'], content: string, metadata: object | null = null): Turn => ({
  id,
  thread_id: 't',
  role,
  content,
  metadata: metadata as Turn['metadata'],
  created_at: String(time++),
});

const call = (id: string): Turn =>
  turn(id, 'tool', 'output', { run_id: 'r', tool_call_id: id, tool_name: 'Read', input: {} });
const steered = (id: string, afterStep: number): Turn =>
  turn(id, 'user', 'Only the otters.', { delivery: 'steer', run_id: 'r', after_step: afterStep });
const answer = turn('a', 'assistant', 'One.Two.Done.', {
  run_id: 'r',
  in_reply_to: 'q',
  steps: [
    { text_end: 4, tool_call_ids: ['c1'] },
    { text_end: 8, tool_call_ids: ['c2'] },
  ],
});

const piecesOf = (item: Item | undefined): string[] =>
  item?.kind === 'answer'
    ? item.pieces.map((piece) =>
        piece.kind === 'text' ? piece.text : piece.kind === 'said' ? piece.turnId : piece.call.id,
      )
    : [];

test('a steered message is shown within its answer, after its step', () => {
  const items = timeline([turn('q', 'user', '?'), call('c1'), steered('s', 1), call('c2'), answer], []);
  expect(items.map(({ key }) => key)).toEqual(['q', 'run:r']);
  expect(piecesOf(items[1])).toEqual(['One.', 'c1', 's', 'Two.', 'c2', 'Done.']);
});

test('a steered message with an unknown step comes last, and one without its answer is a separate item', () => {
  const late = timeline([turn('q', 'user', '?'), call('c1'), call('c2'), steered('s', 9), answer], []);
  expect(piecesOf(late[1])).toEqual(['One.', 'c1', 'Two.', 'c2', 's', 'Done.']);
  const alone = timeline([turn('q', 'user', '?'), steered('s', 1)], []);
  expect(alone.map(({ key }) => key)).toEqual(['q', 's']);
});

test('a steered message is queued until it joins the active answer', () => {
  const live = [{ runId: 'r', turnId: 'q' }];
  const waiting = turn('s', 'user', 'Only the otters.', { delivery: 'steer' });
  const before = timeline([turn('q', 'user', '?'), waiting], live);
  expect(before.map((item) => [item.key, item.kind === 'user' && item.queued])).toEqual([
    ['q', false],
    ['run:r', false],
    ['s', true],
  ]);
  const after = timeline([turn('q', 'user', '?'), steered('s', 1)], live);
  expect(after.map(({ key }) => key)).toEqual(['q', 'run:r']);
  expect(piecesOf(after[1])).toEqual(['s']);
});

test('an active answer shows a steered message at the position of its event', () => {
  globalThis.requestAnimationFrame = () => 1;
  globalThis.cancelAnimationFrame = () => {};
  const run = { runId: 'r', turnId: 'q', threadId: 't' };
  const live = new LiveRun(run, () => {});
  live.take({ ...run, seq: 1, type: 'text-delta', delta: 'One.' });
  live.take({ ...run, turnId: 's', seq: 2, type: 'steered', afterStep: 1 });
  live.take({ ...run, seq: 3, type: 'text-delta', delta: 'Two.' });
  live.take({ ...run, seq: 4, type: 'stopped', assistantTurnId: 'a' });
  expect(live.parts).toEqual([
    { kind: 'text', text: 'One.' },
    { kind: 'said', turnId: 's' },
    { kind: 'text', text: 'Two.' },
  ]);
});

test.each([[{ run_id: 5, after_step: 1 }], [{ run_id: 'r', after_step: 'x' }], [{ run_id: 'r' }]])(
  'metadata of clients like %j leaves a message where it is',
  (metadata) => {
    const items = timeline([turn('q', 'user', '?'), turn('s', 'user', '!', metadata), answer], []);
    expect(items.map(({ key }) => key)).toEqual(['q', 'run:r', 's']);
  },
);
