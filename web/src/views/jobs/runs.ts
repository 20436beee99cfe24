/** How runs of jobs are spoken of. */
import { at, post } from '../../api/client';
import type { JobRun } from '../../api/types';
import { href, place } from '../../base/route.svelte';
import { attempt, toasts } from '../../base/toasts.svelte';

export const tones: Record<JobRun['status'], string> = {
  queued: 'muted', started: 'warn', completed: 'ok', failed: 'bad', stopped: 'warn', skipped: 'muted', interrupted: 'bad',
};

export const words: Record<JobRun['status'], string> = {
  queued: 'waits', started: 'running', completed: 'done', failed: 'failed', stopped: 'stopped', skipped: 'skipped', interrupted: 'interrupted',
};

/** Where the output of a run that has a thread is read: at its answer. */
export const outputOf = ({ id, thread_id: thread }: JobRun): string => href(['t', thread ?? ''], { run: id });

/** Starts a job and says where its output is. */
export async function runJob(name: string, dry: boolean): Promise<void> {
  await attempt(async () => {
    const path = dry ? at`/run/${name}` + '?dry=true' : at`/run/${name}`;
    const { threadId } = await post<{ threadId: string }>(path);
    const see = { label: 'See what it does', run: () => place.go(['t', threadId]) };
    toasts.show(dry ? `${name} runs, without changing anything.` : `${name} runs.`, { action: see });
  });
}

/** Why a run did not happen, in words. */
export function whyNot({ status, error, due_at: due }: JobRun): string {
  if (error) return error;
  if (status === 'skipped') return due ? 'The gateway was not running at that time, and the job does not catch up on missed times.' : 'An earlier run was still going on.';
  return '';
}
