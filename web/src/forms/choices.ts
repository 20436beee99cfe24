/** The names that a field of a definition offers. */
import { apiPath, get } from '../api/client';
import type { IntegrationState, ListedSkill } from '../api/types';
import { firstLine } from '../base/format';
import { registry } from '../state/registry.svelte';
import { builtInTools } from '../views/agents/permissions';
import { t } from '../base/language';

export interface NamedChoice {
  name: string;
  about: string;
}

/** The members with lists of names for which `choicesOf` knows choices. */
export const choosable = new Set(['tools', 'skills', 'capabilities', 'allowed_tools']);

const extensionsOf = (type: 'action' | 'capability'): NamedChoice[] =>
  registry.of(type).map(({ name, description }) => ({ name, about: firstLine(description) }));

async function integrationTools(): Promise<NamedChoice[]> {
  const states = await get<IntegrationState[]>('/integrations');
  return states.flatMap(({ name: integration, tools }) =>
    tools.map(({ name, description }) => ({ name: `${integration}__${name}`, about: firstLine(description) })),
  );
}

async function toolsOf(integration: string): Promise<NamedChoice[]> {
  const states = await get<IntegrationState[]>('/integrations');
  const own = states.find(({ id, name }) => id === integration || name === integration)?.tools ?? [];
  return own.map(({ name, description }) => ({ name, about: firstLine(description) }));
}

async function skillsOf(agent: string): Promise<NamedChoice[]> {
  const known = registry.of('agent').some(({ name }) => name === agent) ? agent : 'assistant';
  const skills = await get<ListedSkill[]>(apiPath`/agents/${known}/skills`);
  return skills.map(({ name, description }) => ({ name, about: firstLine(description) }));
}

/** `member`: one of `choosable`. `edited`: the name of the edited extension. */
export async function choicesOf(member: string, edited: string): Promise<NamedChoice[]> {
  if (member === 'capabilities') return extensionsOf('capability');
  if (member === 'skills') return skillsOf(edited);
  if (member === 'allowed_tools') return toolsOf(edited);
  const own = builtInTools.map((name) => ({ name, about: t('built in') }));
  return [...own, ...extensionsOf('action'), ...(await integrationTools())];
}
