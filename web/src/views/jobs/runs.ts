/** How runs of jobs are presented. */
import { apiPath, post } from '../../api/client';
import type { JobRun } from '../../api/types';
import { href, router } from '../../base/router.svelte';
import { tryOrToast, toasts } from '../../base/toasts.svelte';

export const tones: Record<JobRun['status'], string> = {
  queued: 'muted',
  started: 'warn',
  completed: 'ok',
  failed: 'bad',
  stopped: 'warn',
  skipped: 'muted',
  interrupted: 'bad',
};

export const statusLabels: Record<JobRun['status'], string> = {
  queued: 'queued',
  started: 'running',
  completed: 'done',
  failed: 'failed',
  stopped: 'stopped',
  skipped: 'skipped',
  interrupted: 'interrupted',
};

/** The address of a run's output: its answer in the thread. */
export const outputOf = ({ id, thread_id: thread }: JobRun): string => href(['t', thread ?? ''], { run: id });

/** Starts a job and offers to show its output. */
export async function runJob(name: string, dry: boolean): Promise<void> {
  await tryOrToast(async () => {
    const path = dry ? apiPath`/run/${name}` + '?dry=true' : apiPath`/run/${name}`;
    const { threadId } = await post<{ threadId: string }>(path);
    const see = { label: 'Show output', run: () => router.push(['t', threadId]) };
    toasts.show(dry ? `${name} is running without making changes.` : `${name} is running.`, { action: see });
  });
}

/** Why a run failed or did not happen, in words. */
export function reasonNotRun({ status, error, due_at: due }: JobRun): string {
  if (error) return error;
  if (status === 'skipped')
    return due
      ? 'The gateway was not running at that time, and the job does not catch up on missed runs.'
      : 'An earlier run was still in progress.';
  return '';
}
