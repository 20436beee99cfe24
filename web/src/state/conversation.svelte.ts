/** An open thread: its turns as far as they were read, what is under way, and how both stay true. */
import { Refusal, at, get, remove } from '../api/client';
import { takeEarly } from '../api/early';
import type { GatewayEvent, RunSnapshot } from '../api/events';
import { isRunEvent } from '../api/events';
import { line } from '../api/line.svelte';
import type { Thread, Turn } from '../api/types';
import { announcer } from '../base/announce.svelte';
import { firstLine, plural } from '../base/format';
import { LiveRun } from './live_run.svelte';
import { answerData, timeline } from './timeline';

const page = 50;
/** Of what came while nothing was heard, at most so many turns are read at once. */
const mostMissed = 1000;
const readWithin = 500;

export class Conversation {
  readonly id: string;
  thread = $state.raw<Thread | null>(null);
  /** Oldest first. */
  turns = $state.raw<Turn[]>([]);
  runs = $state.raw<LiveRun[]>([]);
  hasOlder = $state(false);
  loaded = $state(false);
  error = $state<unknown>(null);
  /** Turns that were replaced by answering again. */
  showReplaced = $state(false);

  #unlisten: () => void;
  /** Reads the thread although there is no line. */
  #fallback: ReturnType<typeof setTimeout>;
  #gone = new Set<string>();
  /** Turns between which none is missing. */
  #known = new Set<string>();
  /** What events brought since the latest reading began. */
  #arrived = new Set<string>();
  #loadingOlder: Promise<void> | null = null;
  #reading: Promise<void> = Promise.resolve();
  #asked = 0;
  /** The latest question that was answered; none yet. */
  #answered = -1;

  items = $derived.by(() => {
    const replaced = (turn: Turn): boolean => answerData(turn).superseded === true;
    const shown = this.showReplaced ? this.turns : this.turns.filter((turn) => !replaced(turn));
    return timeline(shown, this.runs);
  });
  replacedCount = $derived(this.turns.filter((turn) => answerData(turn).superseded).length);
  gone = $derived(this.error instanceof Refusal && this.error.status === 404);
  running = $derived(this.runs.some((run) => !run.ended));
  cost = $derived(this.turns.reduce((sum, turn) => sum + (answerData(turn).cost_usd ?? 0), 0));

  constructor(id: string) {
    this.id = id;
    this.#unlisten = line.listen((event) => this.#take(event));
    line.watch(id);
    takeEarly<Turn[]>(`${this.#path}/turns?limit=${page}`, (newest) => this.loaded || this.#show(newest));
    this.#fallback = setTimeout(() => void this.refresh(), readWithin);
  }

  close(): void {
    clearTimeout(this.#fallback);
    this.#unlisten();
    line.unwatch(this.id);
  }

  get #path(): string {
    return at`/threads/${this.id}`;
  }

  live(runId: string | null): LiveRun | undefined {
    return this.runs.find((run) => run.runId === runId);
  }

  /** Reads the thread and its newest turns, and joins them with what is known. */
  refresh(): Promise<void> {
    this.#reading = this.#read(++this.#asked);
    return this.#reading;
  }

  /** Only the answer to the latest question counts: an earlier one may come behind it, and is older. */
  async #read(asked: number): Promise<void> {
    this.#arrived.clear();
    try {
      const [thread, newest] = await Promise.all([get<Thread>(this.#path), this.#newest()]);
      if (asked !== this.#asked) return this.#reading;
      this.#answered = asked;
      this.thread = thread;
      this.#show(newest);
      this.error = null;
    } catch (error) {
      if (asked === this.#asked) this.error = error;
    }
  }

  /** The newest turns, newest first: as many as lead back to one that is known, so that none in between is missing. */
  async #newest(): Promise<Turn[]> {
    const newest = await this.#before();
    let read = newest;
    while (this.#known.size > 0 && !this.#joins(read) && read.length === page && newest.length < mostMissed) {
      read = await this.#before(newest.at(-1)?.id);
      newest.push(...read);
    }
    return newest;
  }

  #before(turnId?: string): Promise<Turn[]> {
    return get<Turn[]>(`${this.#path}/turns`, { limit: page, before: turnId });
  }

  #joins = (turns: Turn[]): boolean => turns.some(({ id }) => this.#known.has(id));

  #show(newest: Turn[]): void {
    if (!this.#joins(newest)) {
      this.turns = this.turns.filter(({ id }) => this.#arrived.has(id));
      this.hasOlder = hasMore(newest);
      this.#known.clear();
    }
    this.#dropDeleted(newest);
    this.#join(newest);
    this.#know(this.turns);
    this.loaded = true;
    this.#dropStored();
  }

  loadOlder(): Promise<void> {
    this.#loadingOlder ??= this.#readOlder().finally(() => (this.#loadingOlder = null));
    return this.#loadingOlder;
  }

  async #readOlder(): Promise<void> {
    const oldest = this.turns[0];
    if (!oldest || !this.hasOlder) return;
    const older = await this.#before(oldest.id);
    this.hasOlder = hasMore(older);
    this.#know(older);
    this.turns = [...older.reverse(), ...this.turns];
  }

  #know(turns: Turn[]): void {
    for (const { id } of turns) this.#known.add(id);
  }

  /** Reads back until the answer of the run is there. */
  async reachRun(id: string): Promise<void> {
    while (this.hasOlder && !this.turns.some((turn) => answerData(turn).run_id === id)) await this.loadOlder();
  }

  /** Reads back until the turn is there. One that is not in the chat is not looked for in all of it. */
  async reach(id: string): Promise<void> {
    const isHere = (): boolean => this.turns.some((turn) => turn.id === id);
    if (isHere() || !(await this.#has(id))) return;
    while (this.hasOlder && !isHere()) await this.loadOlder();
  }

  async #has(turnId: string): Promise<boolean> {
    try {
      await get<Turn[]>(`${this.#path}/turns`, { limit: 1, before: turnId });
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.status === 400) return false;
      throw error;
    }
  }

  add(turn: Turn): void {
    if (turn.thread_id === this.id) this.#join([turn]);
  }

  /** Takes turns off the page at once; `restore` brings them back. Deleting at the gateway is the caller's decision. */
  hide(ids: string[]): () => void {
    const before = this.turns;
    for (const id of ids) this.#gone.add(id);
    this.turns = before.filter(({ id }) => !this.#gone.has(id));
    return () => {
      for (const id of ids) this.#gone.delete(id);
      void this.refresh();
    };
  }

  delete(ids: string[], keepalive = false): Promise<void[]> {
    return Promise.all(ids.map((id) => remove(`/turns/${id}`, keepalive)));
  }

  /** What another tab deleted is not among the newest any more. */
  #dropDeleted(newest: Turn[]): void {
    const there = new Set(newest.map(({ id }) => id));
    const oldest = hasMore(newest) ? (newest.at(-1)?.created_at ?? '') : '';
    this.turns = this.turns.filter(({ id, created_at }) => there.has(id) || created_at <= oldest || this.#arrived.has(id));
  }

  #join(newestFirst: Turn[]): void {
    const known = new Map(this.turns.map((turn) => [turn.id, turn]));
    const added: Turn[] = [];
    for (const turn of newestFirst) {
      if (this.#gone.has(turn.id)) continue;
      const before = known.get(turn.id);
      if (!before) added.push(turn);
      // What is the same is not shown anew.
      if (!before || JSON.stringify(before) !== JSON.stringify(turn)) known.set(turn.id, turn);
    }
    const kept = this.turns.map((turn) => known.get(turn.id) ?? turn);
    const turns = [...kept, ...added.reverse()];
    // Lists come by insertion, and so do events; only what joins from both sides can be out of order.
    if (added.length && kept.length) turns.sort((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0));
    this.turns = turns;
  }

  #take(event: GatewayEvent): void {
    if (event.type === 'subscribed') {
      if (event.runs && event.threadIds.includes(this.id)) this.#subscribed(event.runs);
    } else if (!('threadId' in event) || event.threadId !== this.id) {
      return;
    } else if (event.type === 'turn-created') {
      this.#arrived.add(event.turn.id);
      // While it is being read again, turns may be missing before it.
      if (this.#answered === this.#asked) this.#know([event.turn]);
      this.#join([event.turn]);
    } else if (event.type === 'thread-updated') {
      const shrunk = event.thread.turn_count < (this.thread?.turn_count ?? 0);
      this.thread = event.thread;
      if (shrunk) void this.refresh();
    } else if (event.type === 'thread-deleted') {
      void this.refresh();
    } else if (isRunEvent(event) && (this.live(event.runId) || !this.#storedAnswer(event.runId))) {
      this.#run(event).take(event);
    }
  }

  #run(of: { runId: string; turnId: string; threadId: string }): LiveRun {
    const known = this.live(of.runId);
    if (known) return known;
    const run = new LiveRun(of, (ended) => this.#ended(ended));
    this.runs = [...this.runs, run];
    // Another tab has it answered again: what it said before is replaced.
    if (this.turns.some((turn) => turn.role === 'assistant' && answerData(turn).in_reply_to === of.turnId)) void this.refresh();
    announcer.say('The assistant is answering.');
    return run;
  }

  /** Once its events come, and after every reconnection: what is under way is brought up to date, the turns are read. */
  #subscribed(snapshots: RunSnapshot[]): void {
    const own = snapshots.filter(({ threadId }) => threadId === this.id);
    for (const snapshot of own) this.#run(snapshot).resume(snapshot);
    const lost = this.runs.filter((run) => !run.ended && !own.some(({ runId }) => runId === run.runId));
    for (const run of lost) void run.catchUp().then(() => this.#forgetUnlessAlive(run));
    clearTimeout(this.#fallback);
    void this.refresh();
  }

  /** A run that the gateway does not know any more (it was killed) is not under way. */
  async #forgetUnlessAlive(run: LiveRun): Promise<void> {
    await this.refresh();
    if (!run.ended) this.runs = this.runs.filter((other) => other !== run);
  }

  #storedAnswer(runId: string): Turn | undefined {
    return this.turns.find((turn) => turn.role === 'assistant' && answerData(turn).run_id === runId);
  }

  #ended(run: LiveRun): void {
    const text = this.#storedAnswer(run.runId)?.content ?? run.error ?? '';
    const tools = run.parts.filter(({ kind }) => kind === 'tool').length;
    const ran = tools ? `${plural(tools, 'tool')} run. ` : '';
    announcer.say(run.ended === 'stopped' ? `${ran}Stopped.` : `${ran}Answered: ${firstLine(text, 120)}`);
    this.#dropStored();
  }

  /** A live answer goes once it has ended and its turn is here; one that failed without a turn stays to be read. */
  #dropStored(): void {
    const empty = (run: LiveRun): boolean => run.ended === 'stopped' && run.parts.length === 0;
    const kept = this.runs.filter((run) => !run.ended || !(this.#storedAnswer(run.runId) || empty(run)));
    if (kept.length < this.runs.length) this.runs = kept;
  }
}

/** Whether older ones may follow what was read in whole pages. */
const hasMore = (read: Turn[]): boolean => read.length > 0 && read.length % page === 0;
