/** Connects model services: makes an integration from a preset and a key, and sets the default model. */
import { ApiError, apiPath, patch, post, put, remove } from '../../api/client';
import type { CheckedService, Extension, GatewaySettings, ModelServicePreset } from '../../api/types';
import type { ListedModel } from '../../components/model_facts';
import { registry } from '../../state/registry.svelte';
import { t } from '../../base/language';

export const apis = ['openai-chat', 'openai-responses', 'anthropic', 'gemini', 'ollama'] as const;

/** The settings of a service that a person can change before connecting it. */
export interface Wanted {
  name: string;
  label: string;
  api: string;
  address: string;
  key: string;
  keyHeader: string | null;
  /** Models that the service does not list. */
  further: string[];
}

/** The name of a service's secret, as on the command line: `groq` → `GROQ_KEY`. */
export function secretOf(name: string): string {
  const secret = `${name.toUpperCase().replaceAll('-', '_')}_KEY`;
  return /^[0-9]/.test(secret) ? `_${secret}` : secret;
}

/** Returns `name`, or `name-2` and so on if it is taken. */
export function freeName(name: string, taken: (name: string) => boolean): string {
  for (let number = 1; ; number++) {
    const tried = number === 1 ? name : `${name}-${number}`;
    if (!taken(tried)) return tried;
  }
}

export const isTaken = (name: string): boolean =>
  registry.extensions.some((extension) => extension.name === name) ||
  registry.models.some(({ provider }) => provider === name);

export const fromPreset = (preset: ModelServicePreset): Wanted => ({
  name: freeName(preset.name, isTaken),
  label: preset.label,
  api: preset.api,
  address: preset.base_url,
  key: '',
  keyHeader: preset.key_header,
  further: [],
});

export function definitionOf(wanted: Wanted): Record<string, unknown> {
  const { name, api, address, key, keyHeader, further } = wanted;
  const secret = `\${secret:${secretOf(name)}}`;
  return {
    kind: 'model',
    api,
    base_url: address.trim(),
    ...(key && (keyHeader ? { headers: { [keyHeader]: secret } } : { api_key: secret })),
    ...(further.length && { models: further.map((id) => ({ id })) }),
  };
}

/** Checks a service and returns its models. Throws the gateway's explanation if the service cannot be used. */
export async function checkService(definition: Record<string, unknown>, key = ''): Promise<ListedModel[]> {
  const body = { definition, ...(key && { key }) };
  const { ok, models, error } = await post<CheckedService>('/model-services/check', body);
  if (!ok) throw new Error(error ?? t('The service did not answer as expected.'));
  const given = (definition.models ?? []) as { id: string }[];
  const listed = models.map(({ id, context_window: size, vision, tools, prices }): ListedModel => {
    const known = { ...(size && { context_window: size }), ...(vision !== null && { vision }) };
    return { id, ...known, ...(tools !== null && { tools }), ...(prices && { price: prices }) } as ListedModel;
  });
  return [...given.filter(({ id }) => listed.every((one) => one.id !== id)), ...listed];
}

/**
 * Stores the key as a secret and the service as an extension, and makes `model` the default. If only the last step
 * fails, the service is connected, and the reason is returned; else an empty string.
 */
export async function connectService(wanted: Wanted, model: string): Promise<string> {
  const secret = secretOf(wanted.name);
  if (wanted.key) await put(apiPath`/secrets/${secret}`, { value: wanted.key });
  try {
    await post<Extension>('/extensions', {
      type: 'integration',
      name: wanted.name,
      description: t('Models of {label}', { label: wanted.label }),
      enabled: true,
      definition: { ...definitionOf(wanted), ...(model && { default_model: model }) },
    });
  } catch (error) {
    if (wanted.key) await remove(apiPath`/secrets/${secret}`).catch(console.warn);
    throw error;
  }
  let problem = '';
  if (model) {
    try {
      await patch<GatewaySettings>('/settings', { default_model: `${wanted.name}/${model}` });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      problem = error.fullMessage;
    }
  }
  await Promise.all([registry.load(), registry.readModels(), registry.loadSettings()]);
  return problem;
}

/** The secrets that a definition refers to. */
export const secretsIn = (definition: unknown): string[] => [
  ...new Set([...JSON.stringify(definition).matchAll(/\$\{secret:([^}]+)\}/g)].map(([, name]) => name ?? '')),
];
