/** Data that a view reads from the gateway. The old data stays visible during the next read. */
import { ApiError } from '../api/client';
import { socket } from '../api/socket.svelte';
import type { GatewayEvent } from '../api/events';
import { clock } from '../base/clock.svelte';

export class Resource<T> {
  data = $state.raw<T | undefined>(undefined);
  error = $state.raw<Error | undefined>(undefined);
  /** When `data` was read. */
  at = $state<number | undefined>(undefined);
  #read: () => Promise<T>;
  #asked = 0;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  /** The requested item does not exist and has never been read. */
  get isNotFound(): boolean {
    return this.data === undefined && this.error instanceof ApiError && this.error.status === 404;
  }

  /** Ignores the response to a pending request. */
  cancel(): void {
    this.#asked++;
  }

  /** Sets the data without reading it, and ignores pending requests. */
  set(data: T): void {
    this.cancel();
    this.data = data;
    this.at = Date.now();
    this.error = undefined;
  }

  /** Reads the data. Only the response to the latest request counts. */
  load = async (): Promise<void> => {
    const asked = ++this.#asked;
    try {
      const data = await this.#read();
      if (asked === this.#asked) this.set(data);
    } catch (error) {
      if (asked === this.#asked) this.error = error as Error;
    }
  };
}

/**
 * Creates a resource for the current component: read now, after each reconnection, and on each event of one of the
 * given types.
 */
export function resource<T>(read: () => Promise<T>, ...kinds: GatewayEvent['type'][]): Resource<T> {
  const made = new Resource(read);
  $effect(() => keepFresh(made, ...kinds));
  return made;
}

/** For effects: keeps a resource up to date as `resource` does, until the effect ends. */
export function keepFresh(of: Resource<unknown>, ...kinds: GatewayEvent['type'][]): () => void {
  void socket.ready.then(of.load);
  return socket.listen((event) => {
    if (kinds.includes(event.type) || event.type === 'reconnected') void of.load();
  });
}

const debounceDelay = 200;

/** For effects that depend on typed text: reads `debounceDelay` after the last change, and after each reconnection. */
export function loadDebounced(of: Resource<unknown>): () => void {
  const timer = setTimeout(of.load, debounceDelay);
  const unlisten = socket.listen(({ type }) => type === 'reconnected' && void of.load());
  return () => {
    clearTimeout(timer);
    unlisten();
  };
}

/**
 * For effects and data that changes without events: like `keepFresh`, but also reads regularly and when the page
 * becomes visible.
 */
export function poll(of: Resource<unknown>, ...kinds: GatewayEvent['type'][]): () => void {
  void clock.now;
  return keepFresh(of, ...kinds);
}
