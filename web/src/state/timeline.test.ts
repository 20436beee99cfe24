import { expect, test } from 'vitest';
import type { Turn } from '../api/types';
import { timeline } from './timeline';

let time = 0;
const turn = (id: string, role: Turn['role'], content: string, metadata: object | null = null): Turn => ({
  id,
  thread_id: 't',
  role,
  content,
  metadata: metadata as Turn['metadata'],
  created_at: String(time++),
});

const call = (id: string, run: string): Turn =>
  turn(id, 'tool', 'output', { run_id: run, tool_call_id: id, tool_name: 'Read', input: {} });

test('an answer follows its question, with its calls at their positions in the text', () => {
  const turns = [
    turn('q1', 'user', 'One?'),
    turn('q2', 'user', 'Two?'),
    call('c1', 'r1'),
    turn('a1', 'assistant', 'Ä look.\n\nFound.', {
      run_id: 'r1',
      in_reply_to: 'q1',
      steps: [{ text_end: 7, tool_call_ids: ['c1'] }],
    }),
    turn('a2', 'assistant', 'Two.', { run_id: 'r2', in_reply_to: 'q2' }),
  ];
  const items = timeline(turns, []);
  expect(items.map(({ key }) => key)).toEqual(['q1', 'run:r1', 'q2', 'run:r2']);
  const [, answer] = items;
  expect(
    answer?.kind === 'answer' &&
      answer.pieces.map((piece) => (piece.kind === 'text' ? piece.text : piece.kind === 'tool' && piece.call.id)),
  ).toEqual(['Ä look.', 'c1', '\n\nFound.']);
});

test('calls that a client has stored with the same id are all shown', () => {
  const turns = [
    turn('q', 'user', 'Twice?'),
    ...['one', 'two'].map((id) => ({ ...call('c', 'r'), id })),
    turn('a', 'assistant', 'Yes.', { run_id: 'r', in_reply_to: 'q' }),
  ];
  const answer = timeline(turns, [])[1];
  expect(answer?.kind === 'answer' && answer.pieces.map(({ kind }) => kind)).toEqual(['tool', 'tool', 'text']);
});

test('an active run has its own item, and later questions are queued', () => {
  const items = timeline([turn('q1', 'user', 'One?'), turn('q2', 'user', 'Two?')], [{ runId: 'r', turnId: 'q1' }]);
  expect(items.map((item) => [item.key, item.kind === 'user' && item.queued])).toEqual([
    ['q1', false],
    ['run:r', false],
    ['q2', true],
  ]);
});

test('the live answer and the stored one are the same element', () => {
  const live = timeline([turn('q', 'user', '?')], [{ runId: 'r', turnId: 'q' }]);
  const stored = timeline([turn('q', 'user', '?'), turn('a', 'assistant', '!', { run_id: 'r', in_reply_to: 'q' })], []);
  expect(live.map(({ key }) => key)).toEqual(stored.map(({ key }) => key));
});

test('turns inserted by clients keep their order', () => {
  const turns = [turn('n', 'system', 'note'), turn('a', 'assistant', 'alone'), turn('q', 'user', '?')];
  expect(timeline(turns, []).map(({ key }) => key)).toEqual(['n', 'a', 'q']);
});

test.each(['x', 5, {}, [null], [5], [{}], [{ text_end: 'x', tool_call_ids: null }]])(
  'metadata of clients with steps of %j leave the text whole',
  (steps) => {
    const [answer] = timeline([turn('a', 'assistant', 'all of it', { run_id: 'r', steps })], []);
    expect(answer?.kind === 'answer' && answer.pieces).toEqual([{ kind: 'text', text: 'all of it' }]);
  },
);

test('a tool whose name is not text is called tool', () => {
  const [answer] = timeline([turn('c', 'tool', 'output', { tool_name: 5 })], []);
  expect(answer?.kind === 'answer' && answer.pieces.map((piece) => piece.kind === 'tool' && piece.call.name)).toEqual([
    'tool',
  ]);
});
