/** Items that need a person's decision: pending proposals, and jobs whose latest run failed. */
import { ApiError, get } from '../api/client';
import { socket } from '../api/socket.svelte';
import type { JobSummary, ProposalEntry } from '../api/types';
import { onStorageChange, store, stored } from '../base/storage';

const decidingEvents = new Set(['proposal-created', 'proposal-decided', 'job-finished']);

class Inbox {
  #failed = $state.raw<JobSummary[]>([]);
  #dismissed = $state.raw(stored<string[]>('aside', []));
  proposals = $state.raw<ProposalEntry[]>([]);
  /** Jobs whose latest run failed, except those that the person dismissed. */
  failures = $derived.by(() => this.#failed.filter(({ last_run: run }) => run && !this.#dismissed.includes(run.id)));
  error = $state.raw<Error | null>(null);
  loaded = $state(false);
  count = $derived(this.proposals.length + this.failures.length);

  constructor() {
    onStorageChange<string[]>('aside', (kept) => (this.#dismissed = kept ?? []));
    socket.listen((event) => {
      if (decidingEvents.has(event.type) || (event.type === 'reconnected' && (this.loaded || this.error)))
        void this.load();
    });
  }

  load = async (): Promise<void> => {
    try {
      const [proposals, jobs] = await Promise.all([pendingProposals(), get<JobSummary[]>('/jobs')]);
      this.proposals = proposals;
      this.#failed = jobs.filter(({ last_run: run }) => run?.status === 'failed' || run?.status === 'interrupted');
      this.error = null;
      this.loaded = true;
    } catch (error) {
      this.error = error instanceof Error ? error : new Error(String(error));
    }
  };

  /** Hides a failed run. */
  dismiss(runId: string): void {
    this.#dismissed = [...this.#dismissed, runId].slice(-maxDismissed);
    store('aside', this.#dismissed);
  }
}

const maxDismissed = 200;

async function pendingProposals(): Promise<ProposalEntry[]> {
  try {
    return await get<ProposalEntry[]>('/proposals');
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  }
}

export const inbox = new Inbox();
