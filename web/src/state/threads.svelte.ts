/** The list of threads, kept true by events, with what a glance should tell of each. */
import { get } from '../api/client';
import type { GatewayEvent } from '../api/events';
import { line } from '../api/line.svelte';
import type { Thread } from '../api/types';
import { onStored, store, stored } from '../base/storage';

export type Mark = 'running' | 'unread' | 'failed';

/** A message that starts no run (a turn that a client inserted) is not «running» for longer than this. */
const believedRunning = 3000;
const frame = 16;
/** So many are read at first: more than a person looks through, fewer than would hold up the page. */
const atFirst = 1000;

class Threads {
  all = $state.raw<Thread[]>([]);
  /** As far as they are listed, in the order of the list. */
  listed: Thread[] = [];
  loaded = $state(false);
  error = $state<unknown>(null);
  marks = $state<Record<string, Mark>>(stored('marks', {}));
  archived = $state(false);
  /** There are older ones than were read. */
  more = $state(false);
  #all = false;
  /** The one that is looked at. */
  open: string | null = null;
  /** The same, once it was read. */
  reading = $state.raw<Thread | null>(null);

  /** A mark may outlive its thread, which is deleted or archived wherever. */
  waiting = $derived(this.all.filter(({ id }) => this.marks[id] && this.marks[id] !== 'running').length);

  #arrived: GatewayEvent[] = [];
  /** The other tabs of this browser: the gateway does not tell that a thread was deleted. */
  #tabs = new BroadcastChannel('agw');

  constructor() {
    line.listen((event) => this.#gather(event));
    this.#tabs.onmessage = ({ data }) => line.tell(data as GatewayEvent);
    onStored<Record<string, Mark>>('marks', (kept) => this.#share(kept ?? {}));
  }

  async load(): Promise<void> {
    try {
      const limit = this.#all ? undefined : atFirst;
      const all = await get<Thread[]>('/threads', { archived: this.archived || undefined, limit });
      this.#takeArrived();
      this.all = all;
      this.more = all.length === limit;
      this.loaded = true;
      this.error = null;
    } catch (error) {
      this.error = error;
    }
  }

  /** From now on all, however many. */
  async loadAll(): Promise<void> {
    this.#all = true;
    await this.load();
  }

  look(id: string | null): void {
    this.open = id;
    if (id && this.marks[id] !== 'running') this.#mark(id, null);
  }

  put(thread: Thread): void {
    const others = this.all.filter(({ id }) => id !== thread.id);
    if (thread.archived && !this.archived) this.all = others;
    else this.all = [...others, thread].sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
  }

  /** It was deleted here. */
  drop(id: string): void {
    this.#forget(id);
    this.#tabs.postMessage({ type: 'thread-deleted', threadId: id } satisfies GatewayEvent);
  }

  #forget(id: string): void {
    // What came before it is older, and must not bring it back.
    this.#takeArrived();
    this.all = this.all.filter((thread) => thread.id !== id);
    this.#mark(id, null);
  }

  /** Many threads may begin or end at once: the list is written once for all that came within a frame. */
  #gather(event: GatewayEvent): void {
    if (this.#arrived.push(event) > 1) return;
    setTimeout(() => this.#takeArrived(), frame);
  }

  #takeArrived(): void {
    const arrived = this.#arrived;
    this.#arrived = [];
    for (const one of arrived) this.#take(one);
  }

  #take(event: GatewayEvent): void {
    if (event.type === 'thread-updated') this.put(event.thread);
    else if (event.type === 'thread-deleted') this.#forget(event.threadId);
    else if (event.type === 'turn-created' && event.turn.role === 'user') this.#started(event.threadId);
    else if (event.type === 'job-started' && event.threadId) this.#mark(event.threadId, 'running');
    else if (event.type === 'finish' || event.type === 'stopped') this.#finished(event);
    else if (event.type === 'reconnected' && (this.loaded || this.error)) void this.#again();
  }

  async #again(): Promise<void> {
    await this.load();
    for (const [id, mark] of Object.entries(this.marks)) if (mark === 'running') void this.#check(id);
  }

  #started(id: string): void {
    this.#mark(id, 'running');
    setTimeout(() => void this.#check(id), believedRunning);
  }

  async #check(id: string): Promise<void> {
    try {
      const { active_run: run } = await get<{ active_run: unknown }>(`/threads/${id}`);
      if (!run && this.marks[id] === 'running') this.#mark(id, null);
    } catch {
      this.#mark(id, null);
    }
  }

  #finished(event: GatewayEvent & { type: 'finish' | 'stopped' }): void {
    const failed = event.type === 'finish' && event.finishReason === 'error';
    const seen = event.threadId === this.open && !document.hidden;
    this.#mark(event.threadId, seen ? null : failed ? 'failed' : 'unread');
  }

  /** What was read in one tab is not new in the others. */
  #share(kept: Record<string, Mark>): void {
    const running = Object.entries(this.marks).filter(([, mark]) => mark === 'running');
    this.marks = { ...Object.fromEntries(running), ...kept };
  }

  #mark(id: string, mark: Mark | null): void {
    if ((this.marks[id] ?? null) === mark) return;
    if (mark) this.marks[id] = mark;
    else delete this.marks[id];
    const kept = Object.entries(this.marks).filter(([, one]) => one !== 'running');
    store('marks', kept.length ? Object.fromEntries(kept) : undefined);
  }
}

export const threads = new Threads();
