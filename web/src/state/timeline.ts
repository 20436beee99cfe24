/** The order in which a thread is shown: turns, active runs and queued messages. */
import type { AnswerData, Attachment, ToolData, Turn } from '../api/types';

export interface ToolCallView {
  id: string;
  name: string;
  input: unknown;
  /** null while the tool runs. */
  output: string | null;
  failed: boolean;
  durationMs: number | null;
  /** When this page saw the call start; null once it has ended. */
  startedAt: number | null;
  /** Pictures that the tool returned, if any. Any shape, if a client stored the turn. */
  pictures?: Attachment[] | undefined;
}

/** Text, tool calls and steered messages of a stored answer, in order. */
export type Piece =
  { kind: 'text'; text: string } | { kind: 'tool'; call: ToolCallView } | { kind: 'said'; turnId: string };

export interface Answer {
  kind: 'answer';
  /** The key of the run if there is one, so that the live and the stored answer are the same element. */
  key: string;
  runId: string | null;
  /** undefined if a client stored an answer without a question. */
  questionId?: string | undefined;
  turn: Turn | null;
  pieces: Piece[];
}

export type Item =
  { kind: 'user'; key: string; turn: Turn; queued: boolean } | { kind: 'note'; key: string; turn: Turn } | Answer;

export const answerData = (turn: Turn): AnswerData => (turn.metadata ?? {}) as AnswerData;
export const isSuperseded = (turn: Turn): boolean => answerData(turn).superseded === true;

/** The id of the question that this turn replaces as an edited version. */
export function editedFrom({ role, metadata }: Turn): string | undefined {
  const { replaces } = (metadata ?? {}) as { replaces?: unknown };
  return role === 'user' && typeof replaces === 'string' ? replaces : undefined;
}

/** The key of the answer that a user turn was steered into, and the step after which the turn is shown. */
export function steeredPlace(turn: Turn): { key: string; afterStep: number } | undefined {
  const { run_id: run, after_step: step } = (turn.metadata ?? {}) as { run_id?: unknown; after_step?: unknown };
  if (turn.role !== 'user' || typeof run !== 'string' || typeof step !== 'number') return undefined;
  return { key: `run:${run}`, afterStep: step };
}

export const toolData = (turn: Turn): ToolData => (turn.metadata ?? {}) as ToolData;

/** `turns`: oldest first. `live`: the active runs and the turns that they answer. */
export function timeline(turns: Turn[], live: { runId: string; turnId: string }[]): Item[] {
  const answers = answersOf(turns, live);
  const users = new Set<string | undefined>(turns.filter(({ role }) => role === 'user').map(({ id }) => id));
  const replies = Map.groupBy(
    [...answers.values()].filter(({ questionId }) => users.has(questionId)),
    ({ questionId }) => questionId,
  );
  const placed = new Set([...replies.values()].flat());
  const items: Item[] = [];
  for (const turn of turns) {
    if (turn.role === 'user') {
      if (answers.has(steeredPlace(turn)?.key ?? '')) continue;
      const own = replies.get(turn.id) ?? [];
      items.push(
        once(turn, [], () => ({ kind: 'user', key: turn.id, turn, queued: false })),
        ...own,
      );
    } else if (turn.role === 'system') {
      items.push(once(turn, [], () => ({ kind: 'note', key: turn.id, turn })));
    } else {
      const answer = answers.get(answerKey(turn));
      if (answer && !placed.has(answer)) {
        placed.add(answer);
        items.push(answer);
      }
    }
  }
  items.push(...[...answers.values()].filter((answer) => !placed.has(answer)));
  return withQueue(items, live);
}

/** The items made before, and what they were made from. */
const made = new WeakMap<Turn, { from: unknown[]; item: Item }>();

/** Unchanged items stay the same objects, so that they are not rendered again. */
function once<T extends Item>(turn: Turn, from: unknown[], make: () => T): T {
  const before = made.get(turn);
  if (before?.from.length === from.length && from.every((one, i) => one === before.from[i])) return before.item as T;
  const item = make();
  made.set(turn, { from, item });
  return item;
}

/** Marks messages after the one being answered as queued, unless they have an answer. */
function withQueue(items: Item[], live: { turnId: string }[]): Item[] {
  const running = new Set(live.map(({ turnId }) => turnId));
  const first = items.findIndex((item) => item.kind === 'user' && running.has(item.turn.id));
  if (first < 0) return items;
  return items.map((item, i) =>
    item.kind === 'user' && i > first && !running.has(item.turn.id) && items[i + 1]?.kind !== 'answer'
      ? { ...item, queued: true }
      : item,
  );
}

/** The key of the answer that a tool's or an assistant's turn belongs to. */
export function answerKey(turn: Turn): string {
  const run = turn.role === 'tool' ? toolData(turn).run_id : answerData(turn).run_id;
  return run ? `run:${run}` : turn.id;
}

function answersOf(turns: Turn[], live: { runId: string; turnId: string }[]): Map<string, Answer> {
  const answers = new Map<string, Answer>();
  const answerOf = (key: string): Answer => {
    const runId = key.startsWith('run:') ? key.slice(4) : null;
    const answer = answers.get(key) ?? { kind: 'answer', key, runId, turn: null, pieces: [] };
    answers.set(key, answer);
    return answer;
  };
  for (const turn of turns) {
    if (turn.role !== 'assistant' && turn.role !== 'tool') continue;
    const answer = answerOf(answerKey(turn));
    if (turn.role === 'tool') continue;
    answer.turn = turn;
    answer.questionId = answerData(turn).in_reply_to;
  }
  for (const { runId, turnId } of live) answerOf(`run:${runId}`).questionId ??= turnId;
  const calls = Map.groupBy(
    turns.filter(({ role }) => role === 'tool'),
    answerKey,
  );
  const said = Map.groupBy(turns, (turn) => steeredPlace(turn)?.key);
  for (const [key, answer] of answers) {
    const { turn, questionId } = answer;
    const own = calls.get(key) ?? [];
    const steered = said.get(key) ?? [];
    const whole = (): Answer => ({ ...answer, pieces: piecesOf(turn, own.map(storedCall), steered) });
    answers.set(key, turn ? once(turn, [questionId, ...own, ...steered], whole) : whole());
  }
  return answers;
}

/** The tool call that is stored in a turn. */
export function storedCall(turn: Turn): ToolCallView {
  const data = toolData(turn);
  return {
    id: data.tool_call_id ?? turn.id,
    name: typeof data.tool_name === 'string' ? data.tool_name : 'tool',
    input: data.input ?? null,
    output: turn.content,
    failed: data.is_error ?? false,
    durationMs: data.duration_ms ?? null,
    startedAt: null,
    pictures: data.pictures,
  };
}

/** Metadata stored by clients may have the same names as the gateway's, but any shape. */
function stepsOf(turn: Turn | null): NonNullable<AnswerData['steps']> {
  const steps: unknown = turn && answerData(turn).steps;
  return Array.isArray(steps) ? steps.filter((step) => Array.isArray(step?.tool_call_ids)) : [];
}

/**
 * Splits the text at its calls. Calls and messages that belong to no step follow the last step, before the remaining
 * text.
 */
function piecesOf(turn: Turn | null, calls: ToolCallView[], said: Turn[]): Piece[] {
  const steps = stepsOf(turn);
  // The gateway makes ids unique within a run. Clients, which store turns too, need not.
  const left = Map.groupBy(calls, ({ id }) => id);
  const pieces: Piece[] = [];
  const letters = Array.from(turn?.content ?? '');
  let from = 0;
  const text = (to: number): void => {
    const part = letters.slice(from, to).join('');
    if (part.trim()) pieces.push({ kind: 'text', text: part });
    from = Math.max(from, to);
  };
  const saidAfter = (step: (number: number) => boolean): void => {
    for (const message of said)
      if (step(steeredPlace(message)?.afterStep ?? 0)) pieces.push({ kind: 'said', turnId: message.id });
  };
  for (const [i, step] of steps.entries()) {
    text(step.text_end);
    for (const id of step.tool_call_ids) {
      const call = left.get(id)?.shift();
      if (call) pieces.push({ kind: 'tool', call });
    }
    saidAfter((after) => after === i + 1);
  }
  for (const call of [...left.values()].flat()) pieces.push({ kind: 'tool', call });
  saidAfter((after) => after < 1 || after > steps.length);
  text(letters.length);
  return pieces;
}
