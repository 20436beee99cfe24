/** Milliseconds after which a letter starts a new search. */
const pause = 700;

/** Finds an entry of a list by the letters that are typed, as lists of the system do. */
export class TypeAhead {
  #typed = '';
  #at = -Infinity;

  /**
   * The index of the label that `key`, after the keys shortly before it, leads to from `from`; -1 if none begins so. One
   * letter again and again leads through all that begin with it.
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

  /** What is typed next is another beginning. */
  clear(): void {
    this.#at = -Infinity;
  }

  /** Whether a blank now belongs to what is typed instead of choosing. */
  isTyping(at: number): boolean {
    return at - this.#at < pause;
  }
}
