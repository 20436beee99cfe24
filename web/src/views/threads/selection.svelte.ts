/** The chats that are selected in the list, to be archived, pinned or deleted together. */
import { SvelteSet } from 'svelte/reactivity';

class Selection {
  active = $state(false);
  readonly ids = new SvelteSet<string>();
  /** The chat at which a range begins. */
  #last: string | null = null;

  toggle(id: string): void {
    if (!this.ids.delete(id)) this.ids.add(id);
    this.#last = id;
  }

  /** Selects the range from the last toggled chat to this one. `all`: the ids in the order of the list. */
  extend(id: string, all: string[]): void {
    const [one, other] = [all.indexOf(this.#last ?? id), all.indexOf(id)];
    if (one < 0 || other < 0) return this.toggle(id);
    for (const each of all.slice(Math.min(one, other), Math.max(one, other) + 1)) this.ids.add(each);
    this.#last = id;
  }

  end(): void {
    this.active = false;
    this.ids.clear();
    this.#last = null;
  }
}

export const selection = new Selection();
