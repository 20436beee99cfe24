/** What waits for a person: pending proposals, and jobs whose latest run failed. */
import { Refusal, get } from '../api/client';
import type { ProposalEntry } from '../api/events';
import { line } from '../api/line.svelte';
import type { JobSummary } from '../api/types';

const decidingEvents = new Set(['proposal-created', 'proposal-decided', 'job-finished']);

class Inbox {
  proposals = $state.raw<ProposalEntry[]>([]);
  failures = $state.raw<JobSummary[]>([]);
  error = $state.raw<Error | null>(null);
  loaded = $state(false);
  count = $derived(this.proposals.length + this.failures.length);

  constructor() {
    line.listen((event) => {
      if (decidingEvents.has(event.type) || (event.type === 'subscribed' && event.runs && this.loaded)) void this.load();
    });
  }

  load = async (): Promise<void> => {
    try {
      const [proposals, jobs] = await Promise.all([pendingProposals(), get<JobSummary[]>('/jobs')]);
      this.proposals = proposals;
      this.failures = jobs.filter(({ last_run: run }) => run?.status === 'failed' || run?.status === 'interrupted');
      this.error = null;
      this.loaded = true;
    } catch (error) {
      this.error = error instanceof Error ? error : new Error(String(error));
    }
  };
}

async function pendingProposals(): Promise<ProposalEntry[]> {
  try {
    return await get<ProposalEntry[]>('/proposals');
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return [];
    throw error;
  }
}

export const inbox = new Inbox();
