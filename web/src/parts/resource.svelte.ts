/** Something that a view reads from the gateway: what is there stays while it is read again. */
import { Refusal } from '../api/client';
import { line } from '../api/line.svelte';
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

  /** The gateway has no such endpoint. */
  get absent(): boolean {
    return this.error instanceof Refusal && this.error.status === 404 && this.error.message === 'not found';
  }

  /** What is asked for is not there, and never was. */
  get missing(): boolean {
    return this.data === undefined && this.error instanceof Refusal && this.error.status === 404 && !this.absent;
  }

  /** What was asked does not count any more. */
  drop(): void {
    this.#asked++;
  }

  /** It is known without being read, and what was asked does not count any more. */
  know(data: T): void {
    this.drop();
    this.data = data;
    this.at = Date.now();
    this.error = undefined;
  }

  /** Only the answer to the latest question counts. */
  load = async (): Promise<void> => {
    const asked = ++this.#asked;
    try {
      const data = await this.#read();
      if (asked === this.#asked) this.know(data);
    } catch (error) {
      if (asked === this.#asked) this.error = error instanceof Error ? error : new Error(String(error));
    }
  };
}

/**
 * A resource of a component that is being made: read now, again after each reconnection, and whenever an event of one of
 * the kinds comes.
 */
export function resource<T>(read: () => Promise<T>, ...kinds: GatewayEvent['type'][]): Resource<T> {
  const made = new Resource(read);
  $effect(() => keepTrue(made, ...kinds));
  return made;
}

/** For an effect: has it read as `resource` does, until the effect ends. */
export function keepTrue(of: Resource<unknown>, ...kinds: GatewayEvent['type'][]): () => void {
  void line.ready.then(of.load);
  return line.listen((event) => {
    if (kinds.includes(event.type) || event.type === 'reconnected') void of.load();
  });
}

const askedAfter = 200;

/** For an effect that depends on what is typed: has it read a moment after the last letter, and again after each reconnection. */
export function search(of: Resource<unknown>): () => void {
  const timer = setTimeout(of.load, askedAfter);
  const unlisten = line.listen(({ type }) => type === 'reconnected' && void of.load());
  return () => {
    clearTimeout(timer);
    unlisten();
  };
}

/** For an effect: as `keepTrue`, for what changes without an event: also as time goes on, and when the page is looked at again. */
export function follow(of: Resource<unknown>, ...kinds: GatewayEvent['type'][]): () => void {
  void clock.now;
  return keepTrue(of, ...kinds);
}
