/** Milliseconds after which a letter starts a new search. */
const pause = 700;

/** Finds an entry of a list by its first letters, as the system's own lists do. */
export class TypeAhead {
  #typed = '';
  #at = -Infinity;

  /**
   * Returns the index of the next label, searching from `from`, that begins with the recently typed letters and `key`;
   * -1 if there is none. Repeating one letter cycles through all labels that begin with it.
   */
  find(key: string, at: number, labels: string[], from: number): number {
    this.#typed = (this.isTyping(at) ? this.#typed : '') + key.toLowerCase();
    this.#at = at;
    const isRepeated = [...this.#typed].every((letter) => letter === key.toLowerCase());
    const sought = isRepeated ? key.toLowerCase() : this.#typed;
    const start = from + (sought.length === 1 ? 1 : 0);
    for (let i = 0; i < labels.length; i++) {
      const index = (start + i + labels.length) % labels.length;
      if (labels[index]?.toLowerCase().startsWith(sought)) return index;
    }
    return -1;
  }

  /** Makes the next letter start a new search. */
  clear(): void {
    this.#at = -Infinity;
  }

  /** Whether a space belongs to the typed text instead of choosing an entry. */
  isTyping(at: number): boolean {
    return at - this.#at < pause;
  }
}
