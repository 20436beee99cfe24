/** An active answer, built from the events of its run, in order and without gaps. */
import { apiPath, get } from '../api/client';
import type { RunEvent, RunSnapshot } from '../api/events';
import type { ToolCallView } from './timeline';

export type Part =
  { kind: 'text'; text: string } | { kind: 'tool'; call: ToolCallView } | { kind: 'said'; turnId: string };

export class LiveRun {
  readonly runId: string;
  readonly turnId: string;
  readonly threadId: string;

  /** The parts in order of arrival, updated once per frame. */
  parts = $state.raw<Part[]>([]);
  reasoning = $state('');
  error = $state<string | null>(null);
  /** Set by the event that ends the run. */
  ended = $state<'finished' | 'stopped' | null>(null);

  #seq = 0;
  #parts: Part[] = [];
  #reasoning = '';
  #buffered = new Map<number, RunEvent>();
  #frame = 0;
  #catchingUp: Promise<void> | null = null;
  #again = false;

  #onEnd: (run: LiveRun) => void;
  /** When this page sent the question, or first saw the run. */
  readonly startedAt: number;

  /** `onEnd` is called once, after the last event. */
  constructor(
    of: { runId: string; turnId: string; threadId: string },
    onEnd: (run: LiveRun) => void,
    startedAt = Date.now(),
  ) {
    this.startedAt = startedAt;
    this.runId = of.runId;
    this.turnId = of.turnId;
    this.threadId = of.threadId;
    this.#onEnd = onEnd;
  }

  get seq(): number {
    return this.#seq;
  }

  /** Applies an event; one that arrives early is kept until the missing ones have been fetched. */
  take(event: RunEvent): void {
    const isEnd = event.type === 'finish' || event.type === 'stopped';
    if (event.seq <= this.#seq) {
      // A snapshot may already include the end.
      if (isEnd && !this.ended) this.#apply(event);
      return;
    }
    this.#buffered.set(event.seq, event);
    this.#drain();
    if (this.#buffered.size > 0) void this.catchUp();
  }

  /** Catches up with the gateway: from the snapshot if it is complete, otherwise by fetching the missed events. */
  resume(snapshot: RunSnapshot): void {
    if (snapshot.seq <= this.#seq) return;
    if (this.#seq > 0 || snapshot.tools.length > 0) {
      void this.catchUp();
      return;
    }
    this.#seq = snapshot.seq;
    this.#reasoning = snapshot.reasoning;
    this.#parts = snapshot.text ? [{ kind: 'text', text: snapshot.text }] : [];
    this.#drain();
    this.#show();
  }

  /**
   * Fetches missing events. If called again while fetching, fetches once more, because the first response may be too old.
   */
  catchUp(): Promise<void> {
    if (this.#catchingUp) this.#again = true;
    this.#catchingUp ??= this.#fetchMissing().finally(() => (this.#catchingUp = null));
    return this.#catchingUp;
  }

  async #fetchMissing(): Promise<void> {
    try {
      do {
        this.#again = false;
        const query = { runId: this.runId, after: this.#seq };
        for (const event of await get<RunEvent[]>(apiPath`/threads/${this.threadId}/events`, query)) {
          if (event.seq > this.#seq) this.#buffered.set(event.seq, event);
        }
        this.#drain();
      } while (this.#again && !this.ended);
    } catch (error) {
      console.warn('missed events could not be read:', error);
    }
  }

  #drain(): void {
    for (let event = this.#buffered.get(this.#seq + 1); event; event = this.#buffered.get(this.#seq + 1)) {
      this.#buffered.delete(event.seq);
      this.#seq = event.seq;
      this.#apply(event);
    }
    for (const seq of this.#buffered.keys()) if (seq <= this.#seq) this.#buffered.delete(seq);
  }

  #apply(event: RunEvent): void {
    switch (event.type) {
      case 'text-delta':
        this.#appendText(event.delta);
        break;
      case 'reasoning-delta':
        this.#reasoning += event.delta;
        break;
      case 'tool-start':
        this.#parts.push({ kind: 'tool', call: startedCall(event) });
        break;
      case 'tool-end':
        this.#endTool(event);
        break;
      case 'steered':
        this.#parts.push({ kind: 'said', turnId: event.turnId });
        break;
      case 'error':
        this.error = event.error;
        break;
      case 'finish':
        this.#end('finished');
        break;
      case 'stopped':
        this.#end('stopped');
        break;
    }
    this.#schedule();
  }

  #end(how: 'finished' | 'stopped'): void {
    this.ended = how;
    this.#show();
    this.#onEnd(this);
  }

  #appendText(delta: string): void {
    const last = this.#parts.at(-1);
    if (last?.kind === 'text') this.#parts[this.#parts.length - 1] = { kind: 'text', text: last.text + delta };
    else this.#parts.push({ kind: 'text', text: delta });
  }

  #endTool(event: RunEvent & { type: 'tool-end' }): void {
    this.#parts = this.#parts.map((part) =>
      part.kind === 'tool' && part.call.id === event.toolCallId && part.call.output === null
        ? {
            kind: 'tool',
            call: {
              ...part.call,
              output: event.output,
              failed: event.isError,
              durationMs: event.durationMs,
              startedAt: null,
              pictures: event.pictures,
            },
          }
        : part,
    );
  }

  /** Updates the page at most once per frame, and not at all while it is hidden. */
  #schedule(): void {
    this.#frame ||= requestAnimationFrame(() => this.#show());
  }

  #show(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.parts = [...this.#parts];
    this.reasoning = this.#reasoning;
  }
}

function startedCall(event: RunEvent & { type: 'tool-start' }): ToolCallView {
  const { toolCallId, toolName, input } = event;
  return {
    id: toolCallId,
    name: toolName,
    input,
    output: null,
    failed: false,
    durationMs: null,
    startedAt: Date.now(),
  };
}
