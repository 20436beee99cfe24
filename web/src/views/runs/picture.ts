/** The calls of a run in order, with their times, from the metadata that the gateway stores with the run's turns. */
import type { AnswerData, ModelCall, ToolData, Turn } from '../../api/types';
import { storedCall, type ToolCallView } from '../../state/timeline';
import { stateOf, subjectOf } from '../chat/tools';

export interface Span {
  key: string;
  kind: 'model' | 'tool';
  name: string;
  /** The subject of a tool call in one line, such as a path. */
  detail: string;
  /** The turn of a tool call. */
  turnId?: string;
  /** `at`: the start, from the beginning of the run. `took`: the duration. Both in milliseconds. */
  at: number;
  took: number;
  /** The part of `took` spent on waiting for a person, in milliseconds. */
  waited: number;
  failed: boolean;
  /** Tokens of a model call: `read` (input, including `cached`), `cached` (from the cache), `written` (output). */
  read?: number;
  cached?: number;
  written?: number;
  cost?: number;
}

export interface Picture {
  spans: Span[];
  total: number;
  /** Milliseconds by use. They add up to `total`, unless model and tool calls overlap. */
  sums: { model: number; tool: number; person: number; other: number };
  read: number;
  cached: number;
  written: number;
  cost: number;
  /** False for runs of earlier versions, which recorded neither the times of calls nor the calls of models. */
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
    // Computed on access, because only a few calls are in sight.
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

/** Lets calls without a time begin at the end of those before them. */
function placeInOrder(spans: Span[]): void {
  let end = 0;
  for (const span of spans) {
    if (Number.isNaN(span.at)) span.at = end;
    end = Math.max(end, span.at + span.took);
  }
}

/** Milliseconds covered by spans; overlapping ones count once. `spans`: ordered by start. */
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
 * The outline of spans as an SVG path, for a total width of 1000. With one path for each kind, thousands of spans need
 * only three elements. Draws spans that touch as one. `spans`: ordered by start.
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
