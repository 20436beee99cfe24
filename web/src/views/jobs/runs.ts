/** Describes runs of jobs for display, and starts them. */
import { apiPath, post } from '../../api/client';
import type { JobRun } from '../../api/types';
import { href, router } from '../../base/router.svelte';
import { tryOrToast, toasts } from '../../base/toasts.svelte';
import { t } from '../../base/language';

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
  queued: t('queued'),
  started: t('running'),
  completed: t('done'),
  failed: t('failed'),
  stopped: t('stopped'),
  skipped: t('skipped'),
  interrupted: t('interrupted'),
};

/** The address of a run's output: its answer in the thread. */
export const outputOf = ({ id, thread_id: thread }: JobRun): string => href(['t', thread ?? ''], { run: id });

/** Starts a job and offers to show its output. */
export async function runJob(name: string, dry: boolean): Promise<void> {
  const path = dry ? apiPath`/run/${name}` + '?dry=true' : apiPath`/run/${name}`;
  await tryOrToast(async () => {
    const { threadId } = await post<{ threadId: string }>(path);
    const see = { label: t('Show output'), run: () => router.push(['t', threadId]) };
    toasts.show(dry ? t('{name} is running without making changes.', { name }) : t('{name} is running.', { name }), {
      action: see,
    });
  }, path);
}

/** Explains why a run failed or was skipped; empty for others. */
export function reasonNotRun({ status, error, due_at: due }: JobRun): string {
  if (error) return error;
  if (status === 'skipped')
    return due
      ? t('The gateway was not running at that time, and the job does not catch up on missed runs.')
      : t('An earlier run was still in progress.');
  return '';
}
