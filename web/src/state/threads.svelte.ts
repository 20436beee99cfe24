/** The list of threads and their statuses, kept up to date by events. */
import { untrack } from 'svelte';
import { MediaQuery } from 'svelte/reactivity';
import { get } from '../api/client';
import type { GatewayEvent } from '../api/events';
import { socket } from '../api/socket.svelte';
import type { Thread } from '../api/types';
import { onStorageChange, store, stored } from '../base/storage';
import { approvals } from './approvals.svelte';

export type ThreadStatus = 'running' | 'unread' | 'failed';

/** A turn without a run (inserted by a client) counts as running for at most this long. */
const assumeRunningFor = 3000;
const frame = 16;
/** The number of threads read at first: more than people look through, few enough to be fast. */
const firstPage = 1000;

/** Whether there is room for two chats side by side. */
export const wide = new MediaQuery('min-width: 1200px');

class Threads {
  all = $state.raw<Thread[]>([]);
  /** The threads shown in the list, in its order. */
  listed: Thread[] = [];
  loaded = $state(false);
  error = $state<unknown>(null);
  statuses = $state<Record<string, ThreadStatus>>(stored('marks', {}));
  /** The colours that mark chats in this browser: CSS colours by thread. */
  colors = $state.raw<Record<string, string>>(stored('colors', {}));
  archived = $state(false);
  /** Whether there may be older threads than those read. */
  more = $state(false);
  #all = false;
  /** The number of requests for the list: only the latest response counts. */
  asked = 0;
  /** The open thread. */
  selectedId: string | null = null;
  /** The open thread, once it has been read. */
  selected = $state.raw<Thread | null>(null);
  /** The thread to show next to the open one if there is room. */
  beside = $state(stored<string | null>('beside', null));
  /** The thread next to the open one, while it is shown. */
  secondId: string | null = null;

  /**
   * The number of threads that need attention. Counts threads, because statuses may outlive them: a thread may be
   * deleted or archived elsewhere.
   */
  waiting = $derived(
    this.all.filter(({ id }) => approvals.threads.has(id) || (this.statuses[id] && this.statuses[id] !== 'running'))
      .length,
  );

  #queue: GatewayEvent[] = [];

  constructor() {
    socket.listen((event) => this.#enqueue(event));
    onStorageChange<Record<string, string>>('colors', (kept) => (this.colors = kept ?? {}));
    onStorageChange<Record<string, ThreadStatus>>('marks', (kept) => this.#merge(kept ?? {}));
    document.addEventListener('visibilitychange', () => this.#readShown());
  }

  async load(): Promise<void> {
    const asked = ++this.asked;
    // The response may be older than these.
    const since: GatewayEvent[] = [];
    const stopListening = socket.listen((event) => event.type.startsWith('thread-') && since.push(event));
    try {
      const limit = this.#all ? undefined : firstPage;
      const all = await get<Thread[]>('/threads', { archived: this.archived || undefined, limit }).finally(
        stopListening,
      );
      if (asked !== this.asked) return;
      this.#flush();
      this.all = all;
      since.forEach((event) => this.#apply(event));
      this.more = all.length === limit;
      this.loaded = true;
      this.error = null;
    } catch (error) {
      if (asked === this.asked) this.error = error;
    }
  }

  /** Loads all threads from now on. */
  async loadAll(): Promise<void> {
    this.#all = true;
    await this.load();
  }

  select(id: string | null): void {
    this.selectedId = id;
    this.#readShown();
  }

  /** Sets the thread that is shown next to the open one. */
  selectSecond(id: string | null): void {
    this.secondId = id;
    this.#readShown();
  }

  showBeside(id: string | null): void {
    this.beside = id;
    store('beside', id ?? undefined);
  }

  /** Marks the open threads as read if the person sees them. Untracked, because a new mark must not remove itself. */
  #readShown(): void {
    if (document.hidden) return;
    for (const id of [this.selectedId, this.secondId])
      if (id && untrack(() => this.statuses[id]) !== 'running') untrack(() => this.#setStatus(id, null));
  }

  put(thread: Thread): void {
    const others = this.all.filter(({ id }) => id !== thread.id);
    if (thread.archived && !this.archived) this.all = others;
    else this.all = [...others, thread].sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
  }

  /** Removes a thread that was deleted. */
  drop(id: string): void {
    // Queued events are older than the deletion and must not bring the thread back.
    this.#flush();
    this.all = this.all.filter((thread) => thread.id !== id);
    this.#setStatus(id, null);
  }

  /** Batches the events of a frame, because many threads may change at once. */
  #enqueue(event: GatewayEvent): void {
    if (this.#queue.push(event) > 1) return;
    setTimeout(() => this.#flush(), frame);
  }

  #flush(): void {
    const arrived = this.#queue;
    this.#queue = [];
    for (const one of arrived) this.#apply(one);
  }

  #apply(event: GatewayEvent): void {
    if (event.type === 'thread-updated') this.put(event.thread);
    else if (event.type === 'thread-deleted') this.drop(event.threadId);
    else if (event.type === 'turn-created' && event.turn.role === 'user') this.#onStarted(event.threadId);
    else if (event.type === 'job-started' && event.threadId) this.#setStatus(event.threadId, 'running');
    else if (event.type === 'finish' || event.type === 'stopped') this.#onFinished(event);
    else if (event.type === 'reconnected' && (this.loaded || this.error)) void this.#reload();
  }

  async #reload(): Promise<void> {
    await this.load();
    for (const [id, status] of Object.entries(this.statuses)) if (status === 'running') void this.#check(id);
  }

  #onStarted(id: string): void {
    this.#setStatus(id, 'running');
    setTimeout(() => void this.#check(id), assumeRunningFor);
  }

  async #check(id: string): Promise<void> {
    try {
      const { active_run: run } = await get<{ active_run: unknown }>(`/threads/${id}`);
      if (!run && this.statuses[id] === 'running') this.#setStatus(id, null);
    } catch {
      this.#setStatus(id, null);
    }
  }

  #onFinished(event: GatewayEvent & { type: 'finish' | 'stopped' }): void {
    const failed = event.type === 'finish' && event.finishReason === 'error';
    const seen = [this.selectedId, this.secondId].includes(event.threadId) && !document.hidden;
    this.#setStatus(event.threadId, seen ? null : failed ? 'failed' : 'unread');
  }

  /** Adopts the statuses that another tab stored: a thread read in one tab is not unread in the others. */
  #merge(kept: Record<string, ThreadStatus>): void {
    const running = Object.entries(this.statuses).filter(([, status]) => status === 'running');
    this.statuses = { ...Object.fromEntries(running), ...kept };
    this.#readShown();
  }

  #setStatus(id: string, status: ThreadStatus | null): void {
    if ((this.statuses[id] ?? null) === status) return;
    if (status) this.statuses[id] = status;
    else delete this.statuses[id];
    const kept = Object.entries(this.statuses).filter(([, one]) => one !== 'running');
    store('marks', kept.length ? Object.fromEntries(kept) : undefined);
  }
}

export const threads = new Threads();
