/** How the integrations are connected. The gateway sends no events for it. */
import { get } from '../api/client';
import type { IntegrationState } from '../api/types';
import { Resource, poll } from '../components/resource.svelte';
import { t, tn } from '../base/language';

export const integrations = new Resource(() => get<IntegrationState[]>('/integrations'));

const whileConnecting = 1000;

/** For an effect: reads regularly, and often while one is connecting. */
export function pollIntegrations(): () => void {
  if (!integrations.data?.some(({ status }) => status === 'connecting')) return poll(integrations, 'extension-changed');
  const timer = setTimeout(() => void integrations.load(), whileConnecting);
  return () => clearTimeout(timer);
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
