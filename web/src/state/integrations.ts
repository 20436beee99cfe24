/** The connection states of the integrations. The gateway sends no events for them. */
import { get } from '../api/client';
import type { IntegrationState } from '../api/types';
import { Resource, poll } from '../components/resource.svelte';
import { t, tn } from '../base/language';

export const integrations = new Resource(() => get<IntegrationState[]>('/integrations'));

const whileConnecting = 1000;

export const isConnecting = (): boolean => integrations.data?.some(({ status }) => status === 'connecting') ?? false;

/**
 * For effects: reads regularly, and more often while an integration is connecting. `connecting` must be a derived
 * value: an effect that depends on the data itself would run again, and send a request, after each response.
 */
export function pollIntegrations(connecting: boolean): () => void {
  if (!connecting) return poll(integrations, 'extension-changed');
  let timer: ReturnType<typeof setTimeout>;
  let ended = false;
  // Waits for the response, however long it takes: a second request would discard it.
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

/** `Connected, 12 tools`, or why the integration is not connected. */
export function wordsOf({ status, problem, tools }: IntegrationState): string {
  if (status === 'connected') return `${labels.connected}, ${tn('{count} tool', '{count} tools', tools.length)}`;
  return status === 'failed' && problem ? problem : labels[status];
}
