import { expect, test } from 'vitest';
import type { Turn } from '../api/types';
import { versionsOf, type Choices } from './versions';

let time = 0;
const turn = (id: string, role: Turn['role'], metadata: object | null = null): Turn => ({
  id,
  thread_id: 't',
  role,
  content: id,
  metadata: metadata as Turn['metadata'],
  created_at: String(time++),
});
const ask = (id: string, more: object | null = null): Turn => turn(id, 'user', more);
/** The answer `a1` belongs to the run `r-a1`. */
const answer = (id: string, question: string, more: object = {}): Turn =>
  turn(id, 'assistant', { run_id: `r-${id}`, in_reply_to: question, ...more });
const call = (id: string, run: string, more: object = {}): Turn =>
  turn(id, 'tool', { run_id: run, tool_call_id: id, ...more });
const old = { superseded: true };

const ids = (turns: Turn[], choices: Choices = new Map(), live: { runId: string; turnId: string }[] = []): string =>
  versionsOf(turns, live, choices)
    .shown.map(({ id }) => id)
    .join(' ');

test('a thread that was never answered again has no versions', () => {
  const turns = [ask('q1'), ask('q2'), call('c', 'r-a1'), answer('a1', 'q1'), answer('a2', 'q2')];
  const { shown, answers, edits, isEarlier } = versionsOf(turns, [], new Map());
  expect(shown).toEqual(turns);
  expect([answers.size, edits.size, isEarlier]).toEqual([0, 0, false]);
});

test('each version of an answer has the turns that followed it', () => {
  const turns = [
    ask('q1'),
    call('c1', 'r-a1', old),
    answer('a1', 'q1', old),
    ask('q2', old),
    answer('a2', 'q2', old),
    call('c1b', 'r-a1b'),
    answer('a1b', 'q1'),
    ask('q3'),
  ];
  expect(ids(turns)).toBe('q1 c1b a1b q3');
  const latest = versionsOf(turns, [], new Map());
  expect(latest.answers.get('q1')).toEqual({ place: 'again:q1', index: 1, count: 2 });
  const first = versionsOf(turns, [], new Map([['again:q1', 0]]));
  expect(first.shown.map(({ id }) => id)).toEqual(['q1', 'c1', 'a1', 'q2', 'a2']);
  expect(first.isEarlier).toBe(true);
  expect(first.answers.get('q1')?.index).toBe(0);
});

test('versions within an older version stay reachable, and a turn selects its version', () => {
  const turns = [
    ask('q1'),
    answer('a1', 'q1', old),
    ask('q2', old),
    answer('a2', 'q2', old),
    answer('a2b', 'q2', old),
    answer('a1b', 'q1'),
  ];
  const { choicesFor } = versionsOf(turns, [], new Map());
  expect(ids(turns)).toBe('q1 a1b');
  expect(ids(turns, choicesFor('q2'))).toBe('q1 a1 q2 a2b');
  expect(ids(turns, choicesFor('a2'))).toBe('q1 a1 q2 a2');
  expect(ids(turns, choicesFor('a1b'))).toBe('q1 a1b');
});

test('a new version of a queued question keeps the answer to the question before it', () => {
  const queued = [ask('q1'), ask('q2', old), call('c1', 'r-a1'), answer('a1', 'q1'), answer('a2', 'q2', old)];
  const edited = [...queued, ask('q2b', { replaces: 'q2' }), answer('a2b', 'q2b')];
  expect(ids(edited)).toBe('q1 c1 a1 q2b a2b');
  expect(ids(edited, new Map([['edited:q2', 0]]))).toBe('q1 c1 a1 q2 a2');

  const again = [ask('q1'), ask('q2'), answer('a1', 'q1'), answer('a2', 'q2', old), answer('a2b', 'q2')];
  expect(ids(again)).toBe('q1 a1 q2 a2b');
  expect(ids(again, new Map([['again:q2', 0]]))).toBe('q1 a1 q2 a2');

  const both = [
    ask('q1'),
    ask('q2', old),
    answer('a1', 'q1', old),
    answer('a2', 'q2', old),
    ask('q2b', { replaces: 'q2', ...old }),
    answer('a2b', 'q2b', old),
    answer('a1b', 'q1'),
  ];
  expect(ids(both)).toBe('q1 a1b');
  expect(ids(both, new Map([['again:q1', 0]]))).toBe('q1 a1 q2b a2b');
});

test('an edited question replaces itself and the following turns, also the first one, and more than once', () => {
  const turns = [
    ask('q1', old),
    answer('a1', 'q1', old),
    ask('q1b', { replaces: 'q1', ...old }),
    answer('a1b', 'q1b', old),
    ask('q1c', { replaces: 'q1b' }),
    answer('a1c', 'q1c'),
  ];
  expect(ids(turns)).toBe('q1c a1c');
  const { edits, choicesFor } = versionsOf(turns, [], new Map());
  expect(edits.get('q1c')).toEqual({ place: 'edited:q1', index: 2, count: 3 });
  expect(ids(turns, choicesFor('a1'))).toBe('q1 a1');
  expect(ids(turns, choicesFor('q1b'))).toBe('q1b a1b');
  expect(versionsOf(turns, [], choicesFor('a1')).edits.get('q1')?.index).toBe(0);
});

test('a question that is answered again counts the new answer before it exists', () => {
  const turns = [ask('q1'), answer('a1', 'q1', old), ask('q2', old)];
  expect(ids(turns)).toBe('q1');
  expect(versionsOf(turns, [], new Map()).answers.get('q1')).toEqual({ place: 'again:q1', index: 1, count: 2 });
  const running = [...turns, call('c', 'r')];
  const live = [{ runId: 'r', turnId: 'q1' }];
  expect(ids(running, new Map(), live)).toBe('q1 c');
  expect(versionsOf(running, live, new Map()).answers.get('q1')?.count).toBe(2);
});

test('a newer answer that was deleted leaves its question with the older versions', () => {
  const turns = [ask('q1'), answer('a1', 'q1', old), answer('a1b', 'q1', old), ask('q2'), answer('a2', 'q2')];
  expect(ids(turns)).toBe('q1 q2 a2');
  expect(ids(turns, new Map([['again:q1', 0]]))).toBe('q1 a1');
  expect(versionsOf(turns, [], new Map()).answers.get('q1')?.count).toBe(3);
});

test('superseded turns whose question is not read are left out, whatever clients have stored', () => {
  expect(ids([answer('a0', 'q0', old), ask('q1'), answer('a1', 'q1')])).toBe('q1 a1');
  expect(ids([ask('q1', { replaces: 7 }), answer('a1', 'q1')])).toBe('q1 a1');
  expect(ids([ask('q1', { replaces: 'gone' }), answer('a1', 'q1')])).toBe('q1 a1');
});

test('a choice of a version that does not exist shows the latest', () => {
  expect(ids([ask('q1'), answer('a1', 'q1', old), answer('a1b', 'q1')], new Map([['again:q1', 9]]))).toBe('q1 a1b');
});
