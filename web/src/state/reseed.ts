/** Takes in what was edited on disk, and says what could not be. */
import { post } from '../api/client';
import { attempt, toasts } from '../base/toasts.svelte';
import { registry } from './registry.svelte';

export const reseed = (): Promise<boolean> =>
  attempt(async () => {
    const { warnings } = await post<{ warnings: string[] }>('/reseed');
    toasts.show(warnings.length ? `Taken in, but: ${warnings.join('; ')}` : 'What was edited on disk was taken in.');
    await registry.load();
  });
