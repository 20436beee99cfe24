/** Items that need a person's decision: pending proposals, and jobs whose latest run failed. */
import { get } from '../api/client';
import { socket } from '../api/socket.svelte';
import type { JobSummary, ProposalEntry } from '../api/types';
import { onStorageChange, store, stored } from '../base/storage';
import { Resource } from '../components/resource.svelte';

const decidingEvents = new Set(['proposal-created', 'proposal-decided', 'job-finished']);

class Inbox {
  #dismissed = $state.raw(stored<string[]>('aside', []));
  #read = new Resource(() => Promise.all([get<ProposalEntry[]>('/proposals'), get<JobSummary[]>('/jobs')]));
  proposals = $derived(this.#read.data?.[0] ?? []);
  /** Jobs whose latest run failed, except those that the person dismissed. */
  failures = $derived(
    this.#read.data?.[1].filter(
      ({ last_run: run }) => run && /failed|interrupted/.test(run.status) && !this.#dismissed.includes(run.id),
    ) ?? [],
  );
  count = $derived(this.proposals.length + this.failures.length);
  load = this.#read.load;

  constructor() {
    onStorageChange<string[]>('aside', (kept) => (this.#dismissed = kept ?? []));
    socket.listen((event) => {
      if (decidingEvents.has(event.type) || (event.type === 'reconnected' && (this.loaded || this.error)))
        void this.load();
    });
  }

  get error(): Error | undefined {
    return this.#read.error;
  }

  get loaded(): boolean {
    return !!this.#read.data;
  }

  /** Hides a failed run. */
  dismiss(runId: string): void {
    this.#dismissed = [...this.#dismissed, runId].slice(-maxDismissed);
    store('aside', this.#dismissed);
  }
}

const maxDismissed = 200;

export const inbox = new Inbox();
