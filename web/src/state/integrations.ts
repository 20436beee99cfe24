/** How the integrations are connected. The gateway sends no events for it. */
import { get } from '../api/client';
import type { IntegrationState } from '../api/types';
import { Resource, poll } from '../components/resource.svelte';
import { t, tn } from '../base/language';

export const integrations = new Resource(() => get<IntegrationState[]>('/integrations'));

const whileConnecting = 1000;

export const isConnecting = (): boolean => integrations.data?.some(({ status }) => status === 'connecting') ?? false;

/**
 * For an effect: reads regularly, and often while one is connecting. The caller passes that in, as a derived value: an
 * effect that reads the data itself would run, and so ask, again for every answer.
 */
export function pollIntegrations(connecting: boolean): () => void {
  if (!connecting) return poll(integrations, 'extension-changed');
  let timer: ReturnType<typeof setTimeout>;
  let ended = false;
  // A second question would discard the answer to the first one, however long that takes.
  const askLater = (): void => {
    if (!ended) timer = setTimeout(() => void integrations.load().then(askLater), whileConnecting);
  };
  askLater();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

export const labels: Record<IntegrationState['status'], string> = {
  disabled: t('Disabled'),
  connecting: t('Connecting…'),
  connected: t('Connected'),
  failed: t('Not connected'),
};

export const tones: Record<IntegrationState['status'], string> = {
  disabled: 'muted',
  connecting: 'muted',
  connected: 'ok',
  failed: 'bad',
};

/** `Connected, 12 tools`, or why not. */
export function wordsOf({ status, problem, tools }: IntegrationState): string {
  if (status === 'connected') return `${labels.connected}, ${tn('{count} tool', '{count} tools', tools.length)}`;
  return status === 'failed' && problem ? problem : labels[status];
}
