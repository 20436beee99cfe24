/** Describes tool calls for display. */
import { firstLine } from '../../base/format';
import { escapeInvisible } from '../../base/escape';
import type { Piece, ToolCallView } from '../../state/timeline';
import type { Part } from '../../state/live_run.svelte';
import { t, tn } from '../../base/language';

export type ToolState = 'running' | 'ok' | 'failed' | 'denied' | 'staged' | 'dry';

/** The effects that a tool's card can have on its chat. */
export interface ToolActions {
  /** The name of the chat's agent. */
  agent: string;
  /** Switches the chat to act mode. */
  act: () => void;
  /** Puts text into the composer. */
  write: (text: string) => void;
}

export const states: Record<ToolState, { label: string; icon: string }> = {
  running: { label: t('running'), icon: 'loader-circle' },
  ok: { label: t('done'), icon: 'check' },
  failed: { label: t('failed'), icon: 'circle-alert' },
  denied: { label: t('denied'), icon: 'ban' },
  staged: { label: t('staged'), icon: 'inbox' },
  dry: { label: t('dry run'), icon: 'flask-round' },
};

/** Built-in tools that only read. */
const reading = new Set([
  'Read',
  'Glob',
  'Grep',
  'WebFetch',
  'WebSearch',
  'SearchTurns',
  'SearchKnowledge',
  'ListExtensions',
  'ReadSkill',
]);

export function stateOf(call: ToolCallView): ToolState {
  const { output, failed } = call;
  if (output === null) return 'running';
  if (failed && output.startsWith('permission denied:')) return 'denied';
  if (proposalOf(call)) return 'staged';
  if (output.startsWith('dry run:')) return 'dry';
  return failed ? 'failed' : 'ok';
}

/** The tools whose calls may become proposals. Results of others are words of strangers, which could imitate that. */
const stages = /^(Write|Edit|Propose|\w+ateExtension)$/;

/** The proposal that a call has become: `[agent, date, name]`. */
export function proposalOf({ name, output }: ToolCallView): string[] | undefined {
  return stages.test(name)
    ? /^staged as proposal ([\w-]+)\/([\w-]+)\/([\w-]+)$/.exec(output ?? '')?.slice(1)
    : undefined;
}

const member = (input: unknown, name: string): string | undefined => {
  const value = (input as Record<string, unknown> | null)?.[name];
  return typeof value === 'string' ? value : undefined;
};

/** The subject of the call in one line: path, command or query. */
export function subjectOf({ input }: ToolCallView): string {
  for (const name of ['path', 'command', 'pattern', 'query', 'url', 'title', 'name', 'job', 'agent', 'text']) {
    const value = member(input, name);
    if (value) return escapeInvisible(firstLine(value, 120));
  }
  return '';
}

export function sizeOf({ output }: ToolCallView): string {
  const lines = output ? output.split('\n').length : 0;
  return lines > 1 ? tn('{count} line', '{count} lines', lines) : '';
}

/** The text before and after an edit, for a diff. */
export function changeOf({ name, input }: ToolCallView): { before: string; after: string; path: string } | undefined {
  const path = member(input, 'path') ?? '';
  if (name === 'Edit') {
    const [before, after] = [member(input, 'old_string'), member(input, 'new_string')];
    return before !== undefined && after !== undefined ? { before, after, path } : undefined;
  }
  const content = name === 'Write' ? member(input, 'content') : undefined;
  return content === undefined ? undefined : { before: '', after: content, path };
}

export const onlyReads = (call: ToolCallView): boolean => reading.has(call.name) && stateOf(call) === 'ok';

/** Other built-in tools that change no files. Integrations, actions and unknown tools may change files. */
const harmless = new Set(['FindTools', 'Tasks', 'AskUser', 'Propose']);

/** Whether an answer called a tool that may have changed files, whatever its result says. */
export const mayChangeFiles = (pieces: Piece[]): boolean =>
  pieces.some((piece) => piece.kind === 'tool' && !reading.has(piece.call.name) && !harmless.has(piece.call.name));

export type Shown =
  { kind: 'text'; text: string } | { kind: 'calls'; calls: ToolCallView[] } | { kind: 'said'; turnId: string };

/** The parts of an active answer, completed with steered messages whose events this page missed. */
export function withSaid(parts: Part[], stored: Piece[]): Part[] {
  const shown = new Set(parts.flatMap((part) => (part.kind === 'said' ? [part.turnId] : [])));
  return [...parts, ...stored.filter((piece) => piece.kind === 'said' && !shown.has(piece.turnId))];
}

/** Groups consecutive calls. */
export function grouped(pieces: (Piece | Part)[]): Shown[] {
  const shown: Shown[] = [];
  for (const piece of pieces) {
    const last = shown.at(-1);
    if (piece.kind === 'text') {
      if (piece.text.trim()) shown.push(piece);
    } else if (piece.kind === 'said') {
      shown.push(piece);
    } else if (last?.kind === 'calls') last.calls.push(piece.call);
    else shown.push({ kind: 'calls', calls: [piece.call] });
  }
  return shown;
}
