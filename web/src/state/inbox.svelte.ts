/** What waits for a person: pending proposals, and jobs whose latest run failed. */
import { Refusal, get } from '../api/client';
import { line } from '../api/line.svelte';
import type { JobSummary, ProposalEntry } from '../api/types';
import { store, stored } from '../base/storage';
import { threads } from './threads.svelte';

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
    line.listen((event) => {
      if (decidingEvents.has(event.type) || (event.type === 'reconnected' && (this.loaded || this.error))) void this.load();
    });
  }

  load = (): Promise<void> => this.#read(true);

  /** As `load`, for who only counts: where no job has a thread none has run, and none has failed. */
  loadCount = (): Promise<void> => this.#read(!threads.loaded || threads.all.some(({ job_id }) => job_id));

  #read = async (withJobs: boolean): Promise<void> => {
    try {
      const [proposals, jobs] = await Promise.all([pendingProposals(), withJobs ? get<JobSummary[]>('/jobs') : []]);
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
