/** Reloads the files that were edited on disk and reports problems. */
import { post } from '../api/client';
import { tryOrToast, toasts } from '../base/toasts.svelte';
import { registry } from './registry.svelte';
import { t } from '../base/language';

export const reseed = (): Promise<boolean> =>
  tryOrToast(async () => {
    const { warnings } = await post<{ warnings: string[] }>('/reseed');
    toasts.show(
      warnings.length
        ? t('Reloaded with warnings: {warnings}', { warnings: warnings.join('; ') })
        : t('Reloaded from disk. Changes to config.yaml need a restart.'),
    );
    await registry.load();
  });
