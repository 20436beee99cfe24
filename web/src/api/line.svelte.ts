/** The one WebSocket of this tab: connects, subscribes, notices a dead line and comes back by itself. */
import { Refusal, request, suspectConnections } from './client';
import type { GatewayEvent } from './events';

type Listener = (event: GatewayEvent) => void;

const pingEvery = 20_000;
const pongWithin = 5_000;
const pongWithinOnReturn = 2_000;
const openWithin = 5_000;
const readyWithin = 400;
/** A line that was just cut is often back at once: for a while it is tried at short intervals, then less and less often. */
const shortestWait = 250;
const longestWait = 10_000;
const quickAttempts = 40;

class Line {
  /** Whether events arrive now. */
  open = $state(false);
  /** When the next attempt is made, while it is not open. */
  retryAt = $state<number | null>(null);

  #socket: WebSocket | null = null;
  #token: string | null = null;
  #threads = new Set<string>();
  #listeners = new Set<Listener>();
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #pong: ReturnType<typeof setTimeout> | undefined;
  #late: ReturnType<typeof setTimeout> | undefined;
  #settled = false;
  #told = false;
  #settle: () => void = () => {};

  /**
   * Done once events arrive, or will not for a while. What is read after it misses nothing: either the events since come,
   * or `reconnected` does.
   */
  readonly ready = new Promise<void>((resolve) => (this.#settle = resolve));

  constructor() {
    setInterval(() => this.#ping(pongWithin), pingEvery);
    for (const kind of ['online', 'pageshow', 'focus']) addEventListener(kind, () => this.#returned());
    document.addEventListener('visibilitychange', () => document.hidden || this.#returned());
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  start(token: string): void {
    this.#token = token;
    this.#connect();
    setTimeout(() => this.#decide(), readyWithin);
  }

  stop(): void {
    this.#token = null;
    clearTimeout(this.#retry);
    this.#drop();
  }

  /** Attempts now what would be attempted later. */
  retryNow(): void {
    if (this.#token && !this.#socket) this.#connect();
  }

  watch(threadId: string): void {
    this.#threads.add(threadId);
    this.#send({ type: 'subscribe', threadId, resume: true });
  }

  unwatch(threadId: string): void {
    this.#threads.delete(threadId);
    this.#send({ type: 'unsubscribe', threadId });
  }

  #connect(): void {
    clearTimeout(this.#retry);
    this.#drop();
    const token = this.#token;
    if (!token) return;
    this.retryAt = null;
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/ws`, ['bearer', token]);
    this.#socket = socket;
    socket.onopen = () => this.#opened();
    socket.onmessage = ({ data }) => this.#received(String(data));
    socket.onclose = () => void this.#closed(socket);
    this.#late = setTimeout(() => this.open || void this.#closed(socket), openWithin);
  }

  /** Whoever waits for `ready` goes on. */
  #decide(): void {
    this.#settled = true;
    this.#settle();
  }

  #opened(): void {
    this.#failures = 0;
    this.open = true;
    this.#send({ type: 'subscribe', threadIds: [...this.#threads], lists: true, resume: true });
  }

  #received(text: string): void {
    clearTimeout(this.#pong);
    this.#pong = undefined;
    let event: GatewayEvent;
    try {
      event = JSON.parse(text) as GatewayEvent;
    } catch {
      console.warn('the gateway sent something that is not JSON');
      return;
    }
    if (event.type === 'subscribed' && !this.#told) this.#connected();
    this.tell(event);
  }

  /** The gateway has taken the subscription of this connection. */
  #connected(): void {
    this.#told = true;
    if (this.#settled) this.tell({ type: 'reconnected' });
    this.#decide();
  }

  /** Tells all that listen. */
  tell(event: GatewayEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  async #closed(socket: WebSocket): Promise<void> {
    if (socket !== this.#socket) return;
    const wasOpen = this.open;
    this.#drop();
    if (!this.#token) return;
    if (!wasOpen && (await this.#tokenIsRefused())) return;
    if (this.#socket || !this.#token) return;
    const slower = 2 ** Math.max(0, ++this.#failures - quickAttempts);
    const wait = Math.min(longestWait, shortestWait * slower) * (0.5 + Math.random() / 2);
    this.retryAt = Date.now() + wait;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#connect(), wait);
  }

  /** A browser does not tell why an upgrade failed; a request with the same token does. */
  async #tokenIsRefused(): Promise<boolean> {
    try {
      await request('GET', '/modes');
      return false;
    } catch (error) {
      return error instanceof Refusal && error.status === 401;
    }
  }

  #drop(): void {
    clearTimeout(this.#pong);
    clearTimeout(this.#late);
    this.#pong = undefined;
    const socket = this.#socket;
    this.#socket = null;
    this.#told = false;
    this.open = false;
    socket?.close();
  }

  #returned(): void {
    if (this.open) this.#ping(pongWithinOnReturn);
    else this.retryNow();
  }

  #ping(within: number): void {
    if (!this.open) return;
    this.#send({ type: 'ping' });
    const socket = this.#socket;
    this.#pong ??= setTimeout(() => {
      this.#pong = undefined;
      if (socket && socket === this.#socket) {
        suspectConnections();
        socket.close();
        void this.#closed(socket);
      }
    }, within);
  }

  #send(message: object): void {
    if (this.open) this.#socket?.send(JSON.stringify(message));
  }
}

export const line = new Line();
