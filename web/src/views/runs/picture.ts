/** What a run did, in order and with its times: from the metadata that the gateway stores with its turns. */
import type { AnswerData, ModelCall, ToolData, Turn } from '../../api/types';
import { storedCall, type ToolCallView } from '../../state/timeline';
import { stateOf, subjectOf } from '../chat/tools';

export interface Span {
  key: string;
  kind: 'model' | 'tool';
  name: string;
  /** What a tool was called with, in one line. */
  detail: string;
  /** The turn of a tool's call. */
  turnId?: string;
  /** From the run's beginning, and how long, in milliseconds. */
  at: number;
  took: number;
  /** The part of it in which a person was asked. */
  waited: number;
  failed: boolean;
  /** What a model read, with what came from its cache, and wrote. */
  read?: number;
  cached?: number;
  written?: number;
  cost?: number;
}

export interface Picture {
  spans: Span[];
  total: number;
  /** Milliseconds by what they went to; they add up to the total. */
  sums: { model: number; tool: number; person: number; other: number };
  read: number;
  cached: number;
  written: number;
  cost: number;
  /** Earlier versions recorded neither when calls were made nor the calls of models. */
  isComplete: boolean;
}

const number = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;

function modelSpan(call: ModelCall, i: number): Span {
  const cached = number(call.cache_read_tokens);
  return {
    key: `model-${i}`,
    kind: 'model',
    name: String(call.model ?? 'model'),
    detail: '',
    at: number(call.at_ms),
    took: number(call.duration_ms),
    waited: 0,
    failed: false,
    read: number(call.input_tokens) + cached + number(call.cache_write_tokens),
    cached,
    written: number(call.output_tokens),
    cost: number(call.cost_usd),
  };
}

function toolSpan(turn: Turn): Span {
  const data = (turn.metadata ?? {}) as ToolData;
  const call: ToolCallView = storedCall(turn);
  return {
    key: turn.id,
    kind: 'tool',
    name: call.name,
    // Only asked of the few calls in sight.
    get detail() {
      return subjectOf(call);
    },
    turnId: turn.id,
    at: typeof data.at_ms === 'number' ? number(data.at_ms) : NaN,
    took: number(data.duration_ms),
    waited: Math.min(number(data.waited_ms), number(data.duration_ms)),
    failed: ['failed', 'denied'].includes(stateOf(call)),
  };
}

/** Calls without a time follow the one before. */
function placeInOrder(spans: Span[]): void {
  let end = 0;
  for (const span of spans) {
    if (Number.isNaN(span.at)) span.at = end;
    end = Math.max(end, span.at + span.took);
  }
}

/** How much of the time is covered; calls at the same time count once. `spans` are in the order of their times. */
function covered(spans: Span[]): number {
  let [sum, end] = [0, 0];
  for (const { at, took } of spans) {
    sum += Math.max(0, at + took - Math.max(at, end));
    end = Math.max(end, at + took);
  }
  return sum;
}

/** `tools`: the turns of the run's calls, oldest first. */
export function pictureOf(answer: Turn, tools: Turn[]): Picture {
  const data = (answer.metadata ?? {}) as AnswerData;
  const models = Array.isArray(data.model_calls) ? data.model_calls.map(modelSpan) : [];
  const calls = tools.map(toolSpan);
  const isComplete = (models.length > 0 || !data.usage?.input_tokens) && calls.every(({ at }) => !Number.isNaN(at));
  placeInOrder(calls);
  const spans = [...models, ...calls].sort((a, b) => a.at - b.at);
  const sum = (of: (span: Span) => number | undefined): number =>
    spans.reduce((total, span) => total + (of(span) ?? 0), 0);
  const end = spans.reduce((last, { at, took }) => Math.max(last, at + took), 0);
  const total = Math.max(number(data.duration_ms), end, 1);
  const [model, tool] = [covered(models), covered(calls)];
  const person = Math.min(
    tool,
    sum(({ waited }) => waited),
  );
  return {
    spans,
    total,
    sums: { model, tool: tool - person, person, other: Math.max(0, total - model - tool) },
    read: sum(({ read }) => read),
    cached: sum(({ cached }) => cached),
    written: sum(({ written }) => written),
    cost: number(data.cost_usd),
    isComplete,
  };
}

/**
 * The outline of spans in a picture 1000 wide: a path for each kind, so that thousands of them are three elements. Those that
 * touch are drawn as one. `spans` are in the order of their times.
 */
export function outline(spans: Span[], total: number, part: (span: Span) => number): string {
  const narrowest = 1.5;
  let [path, begin, end] = ['', 0, -1];
  const draw = (): void => {
    const width = (end - begin).toFixed(1);
    if (end > begin) path += `M${begin.toFixed(1)} 0h${width}v10h-${width}z`;
  };
  for (const span of spans) {
    const took = part(span);
    if (took <= 0) continue;
    const from = (span.at / total) * 1000;
    const to = from + Math.max(narrowest, (took / total) * 1000);
    if (from > end) {
      draw();
      begin = from;
    }
    end = Math.max(end, to);
  }
  draw();
  return path;
}
