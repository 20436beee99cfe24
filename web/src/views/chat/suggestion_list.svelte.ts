import { onDemand } from '../../api/on_demand';
import type { Suggestion } from './suggestions';

/** The commands or files that match the typed text, and the selected one. */
export class SuggestionList {
  items = $state.raw<Suggestion[]>([]);
  #index = $state(0);
  #query = 0;

  get selected(): Suggestion | undefined {
    return this.items[this.#index];
  }

  /** The id of the selected option's element. */
  get selectedId(): string | undefined {
    return this.selected && this.idOf(this.#index);
  }

  idOf = (index: number): string => `suggestion-${index}`;

  /** `typed`: the text before the cursor. */
  async update(typed: string, projectId: string | null): Promise<void> {
    const query = ++this.#query;
    const mayMatch = typed.startsWith('/') || typed.includes('@');
    const found = mayMatch ? await (await onDemand(() => import('./suggestions'))).suggestions(typed, projectId) : [];
    if (query !== this.#query) return;
    this.items = found;
    this.#index = 0;
  }

  select(step: 1 | -1): void {
    this.#index = (this.#index + step + this.items.length) % this.items.length;
  }

  /** Clears the list, and cancels a pending update. */
  close(): void {
    this.#query++;
    this.items = [];
  }
}
