/** The one WebSocket of this tab: connects, subscribes, notices a dead line and comes back by itself. */
import { Refusal, request } from './client';
import type { GatewayEvent } from './events';

type Listener = (event: GatewayEvent) => void;

const pingEvery = 20_000;
const pongWithin = 5_000;
const pongWithinOnReturn = 2_000;
const shortestWait = 250;
const longestWait = 10_000;

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
  }

  stop(): void {
    this.#token = null;
    clearTimeout(this.#retry);
    this.#drop();
  }

  /** Attempts now what would be attempted later. */
  retryNow(): void {
    if (this.#token && !this.open) this.#connect();
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
    for (const listener of this.#listeners) listener(event);
  }

  async #closed(socket: WebSocket): Promise<void> {
    if (socket !== this.#socket) return;
    const wasOpen = this.open;
    this.#drop();
    if (!this.#token) return;
    if (!wasOpen && (await this.#tokenIsRefused())) return;
    if (this.#socket || !this.#token) return;
    const longest = Math.min(longestWait, shortestWait * 2 ** this.#failures++);
    const wait = longest * (0.5 + Math.random() / 2);
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
    this.#pong = undefined;
    const socket = this.#socket;
    this.#socket = null;
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
