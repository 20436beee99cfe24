/** An open thread: the turns read so far and its active runs, both kept up to date. */
import { ApiError, apiPath, get } from '../api/client';
import { usePreloaded } from '../api/preloaded';
import type { GatewayEvent, RunSnapshot } from '../api/events';
import { isRunEvent } from '../api/events';
import { socket } from '../api/socket.svelte';
import type { Thread, ThreadDetail, ThreadTask, Turn } from '../api/types';
import { announcer } from '../base/announce.svelte';
import { firstLine } from '../base/format';
import { LiveRun } from './live_run.svelte';
import { answerData, editedFrom, isSuperseded, timeline } from './timeline';
import type { Choices, Version, Versions } from './versions';
import { t, tn } from '../base/language';

const page = 50;
/** The maximum number of turns read at once: the gateway's limit, and what is read after events were missed. */
const maxAtOnce = 1000;
const fallbackDelay = 500;
/** The finish reasons of answers that can be continued. */
const endsEarly = new Set(['length', 'max-steps', 'interrupted', 'error']);

/** Used instead of `versionsOf` until its code is loaded. */
const onlyLatest = (turns: Turn[], ..._: [LiveRun[], Choices]): Versions => ({
  shown: turns.filter((turn) => !isSuperseded(turn)),
  edits: new Map(),
  answers: new Map(),
  isEarlier: false,
  choicesFor: () => new Map(),
});

export class Conversation {
  readonly id: string;
  thread = $state.raw<Thread | null>(null);
  /** Oldest first. */
  turns = $state.raw<Turn[]>([]);
  /** The agent's task list for this thread. */
  tasks = $state.raw<ThreadTask[]>([]);
  runs = $state.raw<LiveRun[]>([]);
  hasOlder = $state(false);
  loaded = $state(false);
  error = $state<unknown>(null);
  #choices = $state.raw<Choices>(new Map());
  /** Loaded with the first turn that has versions. */
  #versionsOf = $state.raw(onlyLatest);
  #loadingVersions: Promise<void> | null = null;
  /** A question whose run is not known yet, and when it was sent. */
  expected = $state.raw<{ turnId: string; since: number } | null>(null);

  /** Whether the gateway has reported that no run is active. */
  #idle = $state(false);

  #unlisten: () => void;
  /** Reads the thread even if no events arrive. */
  #fallback: ReturnType<typeof setTimeout>;
  #hidden = new Set<string>();
  /** The ids of turns that were read without gaps between them. */
  #known = new Set<string>();
  /** The ids of turns from events since the latest read began. */
  #arrived = new Set<string>();
  #loadingOlder: Promise<void> | null = null;
  #reading: Promise<void> = Promise.resolve();
  #asked = 0;
  #endedRuns = new Set<string>();
  #sentAt = new Map<string, number>();
  /** The number of the latest completed read. */
  #answered = -1;

  /** The versions of questions and answers, and the turns of the chosen ones. */
  versions = $derived(this.#versionsOf(this.turns, this.runs, this.#choices));
  items = $derived.by(() => {
    const runs = this.runs.filter((run) => this.#isShown(run));
    return timeline(this.versions.shown, runs);
  });
  isDeleted = $derived(this.error instanceof ApiError && this.error.status === 404);
  running = $derived(this.runs.some((run) => !run.ended));
  /** Whether an answer is being generated, or is about to be. */
  isBusy = $derived(this.running || this.expected !== null);
  /** The questions that wait for the current answer to end. */
  queued = $derived(this.items.flatMap((item) => (item.kind === 'user' && item.queued ? [item.turn] : [])));
  /** The latest turn, if it is a question without an answer or active run, such as the last turn of a fork. */
  unanswered = $derived.by(() => {
    const last = this.items.at(-1);
    const isLatest = !this.versions.isEarlier;
    return this.#idle && isLatest && !this.isBusy && last?.kind === 'user' ? last.turn : null;
  });
  /** The latest answer, if it ended early and can be continued. */
  cut = $derived.by(() => {
    const last = this.items.at(-1);
    if (this.isBusy || this.versions.isEarlier || last?.kind !== 'answer' || !last.turn) return null;
    const { partial, finish_reason: reason } = answerData(last.turn);
    return partial || (reason && endsEarly.has(reason)) ? last.turn : null;
  });
  cost = $derived(this.turns.reduce((sum, turn) => sum + (answerData(turn).cost_usd ?? 0), 0));

  constructor(id: string) {
    this.id = id;
    this.#unlisten = socket.listen((event) => this.#apply(event));
    socket.subscribe(id);
    usePreloaded<Turn[]>(`${this.#path}/turns?limit=${page}`, (newest) => this.loaded || this.#show(newest));
    this.#fallback = setTimeout(() => void this.refresh(), fallbackDelay);
  }

  close(): void {
    clearTimeout(this.#fallback);
    this.#unlisten();
    socket.unsubscribe(this.id);
  }

  get #path(): string {
    return apiPath`/threads/${this.id}`;
  }

  liveRun(runId: string | null): LiveRun | undefined {
    return this.runs.find((run) => run.runId === runId);
  }

  /** Shows a version of a question or an answer. */
  choose({ place }: Version, index: number): void {
    this.#choices = new Map([...this.#choices, [place, index]]);
  }

  /** Shows the version that contains the turn. */
  async showVersionWith(turnId: string): Promise<void> {
    await this.#loadingVersions;
    this.#choices = this.versions.choicesFor(turnId);
  }

  #loadVersions(): void {
    if (this.#loadingVersions || !this.turns.some((turn) => isSuperseded(turn) || editedFrom(turn))) return;
    this.#loadingVersions = import('./versions').then(
      ({ versionsOf }) => void (this.#versionsOf = versionsOf),
      (error: unknown) => {
        console.warn('versions could not be read:', error);
        this.#loadingVersions = null;
      },
    );
  }

  /** Shows the latest versions, which are those that the agent continues. */
  showLatest(): void {
    if (this.#choices.size) this.#choices = new Map();
  }

  /** Whether the run answers a question of the chosen versions, or one that is not read yet. */
  #isShown({ turnId }: LiveRun): boolean {
    const again = this.versions.answers.get(turnId);
    if (again) return again.index === again.count - 1;
    return this.versions.shown.some(({ id }) => id === turnId) || !this.turns.some(({ id }) => id === turnId);
  }

  /** Reads the thread and its newest turns, and merges them with the known ones. */
  refresh(): Promise<void> {
    this.#reading = this.#read(++this.#asked);
    return this.#reading;
  }

  /** Only the latest read counts: the response to an earlier one may arrive later, but is older. */
  async #read(asked: number): Promise<void> {
    this.#arrived.clear();
    const { thread: before } = this;
    try {
      const [thread, newest] = await Promise.all([get<ThreadDetail>(this.#path), this.#newest()]);
      if (asked !== this.#asked) return this.#reading;
      this.#answered = asked;
      // What has changed meanwhile, by an event or by the person, is newer than the response.
      if (this.thread === before) this.thread = thread;
      this.tasks = thread.tasks ?? [];
      this.#show(newest);
      this.error = null;
    } catch (error) {
      if (asked === this.#asked) this.error = error;
    }
  }

  /** The newest turns, newest first: enough to reach a known one, so that none is missing in between. */
  async #newest(): Promise<Turn[]> {
    const newest = await this.#before();
    let read = newest;
    while (this.#known.size > 0 && !this.#joins(read) && read.length === page && newest.length < maxAtOnce) {
      read = await this.#before(newest.at(-1)?.id);
      newest.push(...read);
    }
    return newest;
  }

  #before(turnId?: string, limit = page): Promise<Turn[]> {
    return get<Turn[]>(`${this.#path}/turns`, { limit, before: turnId });
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

  /** `limit`: a multiple of `page`. */
  loadOlder(limit = page): Promise<void> {
    this.#loadingOlder ??= this.#readOlder(limit).finally(() => (this.#loadingOlder = null));
    return this.#loadingOlder;
  }

  /** Loads more each time, because showing each part takes time. */
  async #loadUntil(isDone: () => boolean): Promise<void> {
    for (let limit = page; this.hasOlder && !isDone(); limit = Math.min(2 * limit, maxAtOnce))
      await this.loadOlder(limit);
  }

  async #readOlder(limit: number): Promise<void> {
    const oldest = this.turns[0];
    if (!oldest || !this.hasOlder) return;
    const older = await this.#before(oldest.id, limit);
    this.hasOlder = hasMore(older);
    // Hidden turns are known.
    this.turns = [...older.filter(({ id }) => !this.#known.has(id)).reverse(), ...this.turns];
    this.#know(older);
    this.#loadVersions();
  }

  #know(turns: Turn[]): void {
    for (const { id } of turns) this.#known.add(id);
  }

  /** Loads older turns until the answer of the run, or a turn older than the run, has been read. */
  async loadRun(id: string): Promise<void> {
    // A UUIDv7 begins with its timestamp. Other ids do not belong to runs; if parsing returns NaN, the search ends.
    const began = parseInt(id.replace('-', '').slice(0, 12), 16);
    const mayBeOlder = ([oldest]: Turn[]): boolean => !!oldest && Date.parse(oldest.created_at) >= began;
    const isHere = (): boolean => this.turns.some((turn) => answerData(turn).run_id === id);
    await this.#loadUntil(() => isHere() || !mayBeOlder(this.turns));
  }

  /** Loads older turns until the turn has been read. Loads nothing if the chat does not contain the turn. */
  async loadTurn(id: string): Promise<void> {
    const isHere = (): boolean => this.turns.some((turn) => turn.id === id);
    if (isHere() || !(await this.#has(id))) return;
    await this.#loadUntil(isHere);
  }

  async #has(turnId: string): Promise<boolean> {
    try {
      await get<Turn[]>(`${this.#path}/turns`, { limit: 1, before: turnId });
      return true;
    } catch (error) {
      if (error instanceof ApiError && error.status === 400) return false;
      throw error;
    }
  }

  /** Shows that the turn is about to be answered, until its run is known. */
  expect(turnId: string, since = Date.now()): void {
    this.#sentAt.set(turnId, since);
    this.showLatest();
    if (this.running) return;
    this.expected = { turnId, since };
    this.#idle = false;
    void this.#findRun();
  }

  /** Reads the active run, because events may not report a run before its first output. */
  async #findRun(): Promise<void> {
    try {
      const { active_run: run } = await get<{ active_run: Omit<RunSnapshot, 'threadId'> | null }>(this.#path);
      this.#idle = !run;
      if (!run) this.expected = null;
      else if (!this.#endedRuns.has(run.runId)) {
        const live = this.#liveRunFor({ ...run, threadId: this.id });
        if (run.seq > live.seq) void live.catchUp();
      }
    } catch (error) {
      console.warn('active run could not be read:', error);
    }
  }

  add(turn: Turn): void {
    this.#join([turn]);
  }

  /**
   * Hides turns immediately and returns a function that shows them again. Deleting them at the gateway is up to the
   * caller.
   */
  hide(ids: string[]): () => void {
    const before = this.turns;
    for (const id of ids) this.#hidden.add(id);
    this.turns = before.filter(({ id }) => !this.#hidden.has(id));
    return () => {
      for (const id of ids) this.#hidden.delete(id);
      // A read would not return older ones.
      this.#join(before.filter(({ id }) => ids.includes(id)).reverse());
      void this.refresh();
    };
  }

  /** Drops turns that other tabs deleted: they are no longer among the newest. */
  #dropDeleted(newest: Turn[]): void {
    const there = new Set(newest.map(({ id }) => id));
    const oldest = hasMore(newest) ? (newest.at(-1)?.created_at ?? '') : '';
    this.turns = this.turns.filter(
      ({ id, created_at }) => there.has(id) || created_at <= oldest || this.#arrived.has(id),
    );
  }

  #join(newestFirst: Turn[]): void {
    const known = new Map(this.turns.map((turn) => [turn.id, turn]));
    const added: Turn[] = [];
    for (const turn of newestFirst) {
      if (this.#hidden.has(turn.id)) continue;
      const before = known.get(turn.id);
      if (!before) added.push(turn);
      // Keeps unchanged objects, so that they are not rendered again.
      if (!before || JSON.stringify(before) !== JSON.stringify(turn)) known.set(turn.id, turn);
    }
    const kept = this.turns.map((turn) => known.get(turn.id) ?? turn);
    const turns = [...kept, ...added.reverse()];
    // Lists and events are in order of insertion; only a merge of both can be out of order.
    if (added.length && kept.length)
      turns.sort((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0));
    this.turns = turns;
    this.#loadVersions();
  }

  #apply(event: GatewayEvent): void {
    if (event.type === 'subscribed') {
      if (event.runs && event.threadIds.includes(this.id)) this.#onSubscribed(event.runs);
    } else if (!('threadId' in event) || event.threadId !== this.id) {
      return;
    } else if (event.type === 'turn-created') {
      this.#arrived.add(event.turn.id);
      // During a read, turns before this one may be missing.
      if (this.#answered === this.#asked) this.#know([event.turn]);
      this.#join([event.turn]);
      if (event.turn.role !== 'user') return;
      // The event does not contain the turns that the edited question supersedes.
      if (editedFrom(event.turn)) void this.refresh();
      this.#idle = false;
      void this.#findRun();
    } else if (event.type === 'thread-updated') {
      const shrunk = event.thread.turn_count < (this.thread?.turn_count ?? 0);
      this.thread = event.thread;
      if (shrunk) void this.refresh();
    } else if (event.type === 'thread-deleted') {
      void this.refresh();
    } else if (event.type === 'tasks-updated') {
      this.tasks = event.tasks;
    } else if (event.type === 'steered') {
      this.#steer(event);
      const run = this.liveRun(event.runId);
      // No LiveRun is created from this event, whose `turnId` is not the question.
      if (run) run.take(event);
      else void this.#findRun();
    } else if (event.type === 'run-started') {
      this.#liveRunFor(event.run);
    } else if (isRunEvent(event)) {
      const known = this.liveRun(event.runId);
      // The run of a delegate requests permissions in this thread, but is not shown here.
      const isShown = !event.type.startsWith('permission') && !this.#storedAnswer(event.runId);
      if (known || isShown) (known ?? this.#liveRunFor(event)).take(event);
    }
  }

  /** Records where a message joined an answer. The gateway does not send changed turns again. */
  #steer({ turnId, runId, afterStep }: GatewayEvent & { type: 'steered' }): void {
    const place = { run_id: runId, after_step: afterStep };
    this.turns = this.turns.map((turn) =>
      turn.id === turnId ? { ...turn, metadata: { ...turn.metadata, ...place } as unknown as Turn['metadata'] } : turn,
    );
  }

  #liveRunFor(of: { runId: string; turnId: string; threadId: string }): LiveRun {
    const known = this.liveRun(of.runId);
    if (known) return known;
    const run = new LiveRun(of, (ended) => this.#onEnded(ended), this.#sentAt.get(of.turnId));
    this.runs = [...this.runs, run];
    this.showLatest();
    this.expected = null;
    this.#idle = false;
    // Another tab regenerates the answer, which supersedes the old one.
    if (this.turns.some((turn) => turn.role === 'assistant' && answerData(turn).in_reply_to === of.turnId))
      void this.refresh();
    announcer.say(t('The assistant is answering.'));
    return run;
  }

  /** Called when events start to arrive and after each reconnection: updates active runs and reads the turns. */
  #onSubscribed(snapshots: RunSnapshot[]): void {
    const own = snapshots.filter(({ threadId }) => threadId === this.id);
    this.#idle = own.length === 0;
    for (const snapshot of own) this.#liveRunFor(snapshot).resume(snapshot);
    const lost = this.runs.filter((run) => !run.ended && !own.some(({ runId }) => runId === run.runId));
    for (const run of lost) void run.catchUp().then(() => this.#forgetUnlessAlive(run));
    this.expected = null;
    clearTimeout(this.#fallback);
    void this.refresh();
  }

  /** Drops a run whose end is unknown, because the gateway was killed during the run. */
  async #forgetUnlessAlive(run: LiveRun): Promise<void> {
    await this.refresh();
    if (!run.ended) this.runs = this.runs.filter((other) => other !== run);
  }

  #storedAnswer(runId: string): Turn | undefined {
    return this.turns.find((turn) => turn.role === 'assistant' && answerData(turn).run_id === runId);
  }

  #onEnded(run: LiveRun): void {
    this.#endedRuns.add(run.runId);
    if (this.turns.findLast(({ role }) => role === 'user')?.id !== run.turnId) void this.#findRun();
    else this.#idle = true;
    // The turn may not have been read yet, as after the device has slept.
    const text = run.parts.findLast((part) => part.kind === 'text')?.text ?? run.error ?? '';
    const tools = run.parts.filter(({ kind }) => kind === 'tool').length;
    const ran = tools ? `${tn('Ran {count} tool.', 'Ran {count} tools.', tools)} ` : '';
    announcer.say(
      run.ended === 'stopped' ? `${ran}${t('Stopped.')}` : ran + t('Answered: {text}', { text: firstLine(text, 120) }),
    );
    this.#dropStored();
  }

  /** Removes live answers that have ended and are stored. Answers that failed without a turn stay readable. */
  #dropStored(): void {
    const empty = (run: LiveRun): boolean => run.ended === 'stopped' && run.parts.length === 0;
    const kept = this.runs.filter((run) => !run.ended || !(this.#storedAnswer(run.runId) || empty(run)));
    if (kept.length < this.runs.length) this.runs = kept;
  }
}

/** Whether older turns may exist beyond the full pages that were read. */
const hasMore = (read: Turn[]): boolean => read.length > 0 && read.length % page === 0;
