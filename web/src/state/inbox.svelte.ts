/** What waits for a person: pending proposals, and jobs whose latest run failed. */
import { Refusal, get } from '../api/client';
import { line } from '../api/line.svelte';
import type { JobSummary, ProposalEntry } from '../api/types';
import { onStored, store, stored } from '../base/storage';

const decidingEvents = new Set(['proposal-created', 'proposal-decided', 'job-finished']);

class Inbox {
  #failed = $state.raw<JobSummary[]>([]);
  #aside = $state.raw(stored<string[]>('aside', []));
  proposals = $state.raw<ProposalEntry[]>([]);
  /** Jobs whose latest run failed, but for those that the person has put aside. */
  failures = $derived.by(() => this.#failed.filter(({ last_run: run }) => run && !this.#aside.includes(run.id)));
  error = $state.raw<Error | null>(null);
  loaded = $state(false);
  count = $derived(this.proposals.length + this.failures.length);

  constructor() {
    onStored<string[]>('aside', (kept) => (this.#aside = kept ?? []));
    line.listen((event) => {
      if (decidingEvents.has(event.type) || (event.type === 'reconnected' && (this.loaded || this.error))) void this.load();
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

  /** The failed run is not shown here any more. */
  putAside(runId: string): void {
    this.#aside = [...this.#aside, runId].slice(-keptAside);
    store('aside', this.#aside);
  }
}

const keptAside = 200;

async function pendingProposals(): Promise<ProposalEntry[]> {
  try {
    return await get<ProposalEntry[]>('/proposals');
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return [];
    throw error;
  }
}

export const inbox = new Inbox();
