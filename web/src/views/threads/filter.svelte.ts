/**
 * The filter of the list of chats. If the list is the current view, the filter is part of the address:
 * `#/chats?agent=assistant&by=jobs`.
 */
import { router } from '../../base/router.svelte';
import type { Thread } from '../../api/types';
import { registry } from '../../state/registry.svelte';

const names = ['q', 'agent', 'project', 'by', 'archived'] as const;
type Name = (typeof names)[number];
type Values = Partial<Record<Name, string>>;

class Filter {
  #values = $state.raw<Values>({});

  /** Reads the filter from the address. */
  follow(): void {
    const { query } = router.route;
    if (router.view === 'chats') this.#values = Object.fromEntries(names.map((name) => [name, query.get(name) ?? '']));
  }

  of(name: Name): string {
    return this.#values[name] ?? '';
  }

  set(name: Name, value: string): void {
    this.#values = { ...this.#values, [name]: value };
    if (router.view === 'chats') router.setQuery(this.#values);
  }

  clearWords(): void {
    this.#values = { ...this.#values, q: '' };
  }

  get active(): boolean {
    return names.some((name) => name !== 'archived' && this.of(name));
  }

  fits({ title, agent_id, project_id, job_id }: Thread): boolean {
    const by = this.of('by');
    const agent = this.of('agent');
    const words = this.of('q').toLowerCase().split(/\s+/).filter(Boolean);
    return (
      (!agent || agent_id === (registry.find(agent)?.id ?? agent)) &&
      (!this.of('project') || project_id === this.of('project')) &&
      (!by || (by === 'people' ? !job_id : by === 'jobs' ? !!job_id : job_id === registry.find(by)?.id)) &&
      words.every((word) => title.toLowerCase().includes(word))
    );
  }
}

export const filter = new Filter();
