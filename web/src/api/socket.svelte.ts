/** The only WebSocket of this tab: connects, subscribes, detects dead connections and reconnects. */
import { ApiError, request, suspectConnections } from './client';
import type { GatewayEvent } from './events';
import { stored } from '../base/storage';

type Listener = (event: GatewayEvent) => void;

const pingInterval = 20_000;
const pongTimeout = 5_000;
const pongTimeoutOnReturn = 2_000;
const openTimeout = 5_000;
const readyTimeout = 400;
/** A broken connection can often be restored at once: the delay stays short for `quickAttempts`, then it grows. */
const minRetryDelay = 250;
const maxRetryDelay = 10_000;
const quickAttempts = 40;

class EventSocket {
  /** Whether the connection is open. */
  open = $state(false);
  /** Whether the latest connection broke or could not be established. False during the first attempt. */
  failed = $state(false);
  /** While disconnected: when the next attempt starts. */
  retryAt = $state<number | null>(null);

  #webSocket: WebSocket | null = null;
  #token: string | null = null;
  /** The subscribed threads, once for each subscription. */
  #threads: string[] = [];
  #listeners = new Set<Listener>();
  #failures = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #pongTimer: ReturnType<typeof setTimeout> | undefined;
  #openTimer: ReturnType<typeof setTimeout> | undefined;
  #settled = false;
  #subscribed = false;
  #settle: () => void = () => {};

  /**
   * Resolves when the gateway has confirmed the subscription, or after `readyTimeout`. Data that is read afterwards
   * misses no event: either events follow, or `reconnected` is emitted.
   */
  readonly ready = new Promise<void>((resolve) => (this.#settle = resolve));

  constructor() {
    setInterval(() => this.#ping(pongTimeout), pingInterval);
    for (const kind of ['online', 'pageshow', 'focus']) addEventListener(kind, () => this.#onReturn());
    document.addEventListener('visibilitychange', () => {
      this.showPresence();
      if (!document.hidden) this.#onReturn();
    });
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves after the next reconnection. */
  reconnected(): Promise<void> {
    return new Promise((resolve) => {
      const unlisten = this.listen(({ type }) => type === 'reconnected' && (unlisten(), resolve()));
    });
  }

  start(token: string): void {
    this.#token = token;
    this.failed = false;
    this.#connect();
    setTimeout(() => this.#resolveReady(), readyTimeout);
  }

  stop(): void {
    this.#token = null;
    clearTimeout(this.#retryTimer);
    this.#disconnect();
  }

  /** Reconnects now instead of at `retryAt`. */
  retryNow(): void {
    if (this.#token && !this.#webSocket) this.#connect();
  }

  subscribe(threadId: string): void {
    this.#threads.push(threadId);
    this.#send({ type: 'subscribe', threadId, resume: true });
  }

  unsubscribe(threadId: string): void {
    const at = this.#threads.indexOf(threadId);
    if (at >= 0) this.#threads.splice(at, 1);
    // A chat that moves next to another one subscribes again before it unsubscribes.
    if (!this.#threads.includes(threadId)) this.#send({ type: 'unsubscribe', threadId });
  }

  /** Reports whether this page is visible. While it is, the gateway sends no push notifications to this browser. */
  showPresence(): void {
    const device = stored('device', '');
    if (device) this.#send({ type: 'subscribe', device, visible: !document.hidden });
  }

  #connect(): void {
    clearTimeout(this.#retryTimer);
    this.#disconnect();
    const token = this.#token;
    if (!token) return;
    this.retryAt = null;
    const webSocket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/ws`, ['bearer', token]);
    this.#webSocket = webSocket;
    webSocket.onopen = () => this.#onOpen();
    webSocket.onmessage = ({ data }) => this.#onMessage(String(data));
    webSocket.onclose = () => void this.#onClose(webSocket);
    this.#openTimer = setTimeout(() => this.open || void this.#onClose(webSocket), openTimeout);
  }

  #resolveReady(): void {
    this.#settled = true;
    this.#settle();
  }

  #onOpen(): void {
    this.#failures = 0;
    this.failed = false;
    this.open = true;
    this.#send({
      type: 'subscribe',
      threadIds: [...new Set(this.#threads)],
      lists: true,
      resume: true,
      approvals: true,
    });
    this.showPresence();
  }

  #onMessage(text: string): void {
    clearTimeout(this.#pongTimer);
    this.#pongTimer = undefined;
    let event: GatewayEvent;
    try {
      event = JSON.parse(text) as GatewayEvent;
    } catch {
      console.warn('a message is no JSON');
      return;
    }
    if (event.type === 'subscribed' && !this.#subscribed) this.#onSubscribed();
    this.emit(event);
  }

  /** Called when the gateway has confirmed the subscription of this connection. */
  #onSubscribed(): void {
    this.#subscribed = true;
    if (this.#settled) this.emit({ type: 'reconnected' });
    this.#resolveReady();
  }

  /** Notifies all listeners. */
  emit(event: GatewayEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  async #onClose(webSocket: WebSocket): Promise<void> {
    if (webSocket !== this.#webSocket) return;
    const wasOpen = this.open;
    this.#disconnect();
    this.failed = true;
    if (!this.#token) return;
    if (!wasOpen && (await this.#isTokenRejected())) return;
    if (this.#webSocket || !this.#token) return;
    const slower = 2 ** Math.max(0, ++this.#failures - quickAttempts);
    const wait = Math.min(maxRetryDelay, minRetryDelay * slower) * (0.5 + Math.random() / 2);
    this.retryAt = Date.now() + wait;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => this.#connect(), wait);
  }

  /** Browsers do not report why an upgrade to a WebSocket failed; the status of a request with the same token does. */
  async #isTokenRejected(): Promise<boolean> {
    try {
      await request('GET', '/modes');
      return false;
    } catch (error) {
      return error instanceof ApiError && error.status === 401;
    }
  }

  #disconnect(): void {
    clearTimeout(this.#pongTimer);
    clearTimeout(this.#openTimer);
    this.#pongTimer = undefined;
    const webSocket = this.#webSocket;
    this.#webSocket = null;
    this.#subscribed = false;
    this.open = false;
    webSocket?.close();
  }

  #onReturn(): void {
    if (this.open) this.#ping(pongTimeoutOnReturn);
    else this.retryNow();
  }

  #ping(within: number): void {
    if (!this.open) return;
    this.#send({ type: 'ping' });
    const webSocket = this.#webSocket;
    this.#pongTimer ??= setTimeout(() => {
      this.#pongTimer = undefined;
      if (webSocket && webSocket === this.#webSocket) {
        suspectConnections();
        webSocket.close();
        void this.#onClose(webSocket);
      }
    }, within);
  }

  #send(message: object): void {
    if (this.open) this.#webSocket?.send(JSON.stringify(message));
  }
}

export const socket = new EventSocket();
