/** What an agent may do with each tool: the intersection of its stage, the mode, its tool list and its capabilities. */
import type { Extension } from '../../api/types';
import { t } from '../../base/language';

export const stages = ['apprentice', 'operator', 'trusted', 'sovereign'] as const;
export type Stage = (typeof stages)[number];

export type Verdict = 'allowed' | 'staged' | 'denied';

export interface Allowance {
  tool: string;
  plan: Verdict;
  act: Verdict;
  why: string;
}

interface Rule {
  tool: string;
  /** The lowest stage at which the tool acts directly. */
  from: Stage;
  /** Below `from`, the call becomes a proposal. */
  staged?: boolean;
  note?: string;
}

const rules: Rule[] = [
  ...['Read', 'Glob', 'Grep'].map((tool): Rule => ({ tool, from: 'apprentice' })),
  { tool: 'WebFetch', from: 'apprentice', note: t('below trusted, only addresses that you wrote or a search found') },
  ...['WebSearch', 'SearchTurns', 'SearchKnowledge', 'ListExtensions', 'ReadSkill', 'Tasks', 'Propose'].map(
    (tool): Rule => ({ tool, from: 'apprentice' }),
  ),
  { tool: 'Write', from: 'operator', staged: true, note: t('in the project and its own workspace') },
  { tool: 'Edit', from: 'operator', staged: true, note: t('in the project and its own workspace') },
  { tool: 'Bash', from: 'operator', note: t('in the sandbox; with network from stage trusted') },
  ...['Remember', 'RunJob', 'Delegate'].map((tool): Rule => ({ tool, from: 'operator' })),
  { tool: 'CreateExtension', from: 'trusted', staged: true, note: t('created disabled below sovereign') },
  { tool: 'UpdateExtension', from: 'trusted', staged: true, note: t('only its own; others become proposals') },
];

/** The names of the built-in tools. */
export const builtInTools = rules.map(({ tool }) => tool);

const inPlan = new Set(['Read', 'Glob', 'Grep', 'WebFetch', 'WebSearch']);
const actionsFrom: Record<string, Stage> = {
  prompt: 'apprentice',
  builtin: 'apprentice',
  shell: 'operator',
  http: 'trusted',
  mcp: 'trusted',
};

const names = (value: unknown): string[] | null => (Array.isArray(value) ? value.map(String) : null);

/** `capabilities`: the enabled ones. Disabled or missing capabilities that the agent names grant nothing. */
export function allowances(
  agent: Extension,
  stage: Stage,
  actions: Extension[],
  capabilities: Extension[],
  integrations: Extension[] = [],
): Allowance[] {
  const own = names(agent.definition.tools);
  const named = names(agent.definition.capabilities) ?? [];
  const declared = named.length
    ? new Set(
        capabilities
          .filter(({ name }) => named.includes(name))
          .flatMap(({ definition }) => names(definition.tools) ?? []),
      )
    : null;
  const ofActions = actions.map(({ name, definition }): Rule => ({
    tool: name,
    from: actionsFrom[String(definition.kind)] ?? 'trusted',
  }));
  const ofIntegrations = integrations.map(({ name }): Rule => ({
    tool: `${name}__*`,
    from: 'trusted',
    note: t('each tool of the integration'),
  }));
  const has = (list: Iterable<string>, tool: string): boolean =>
    [...list].some((one) => one === tool || (tool.endsWith('__*') && one.startsWith(tool.slice(0, -1))));
  return [...rules, ...ofActions, ...ofIntegrations].map((rule) => {
    if (own && !has(own, rule.tool))
      return { tool: rule.tool, plan: 'denied', act: 'denied', why: t('not in its list of tools') };
    if (declared && !has(declared, rule.tool))
      return { tool: rule.tool, plan: 'denied', act: 'denied', why: t('not granted by its capabilities') };
    const reached = stages.indexOf(stage) >= stages.indexOf(rule.from);
    const act: Verdict = reached ? 'allowed' : rule.staged ? 'staged' : 'denied';
    const missing = reached
      ? ''
      : rule.staged
        ? t('a proposal below {from}', { from: rule.from })
        : t('needs stage {from}', { from: rule.from });
    const readsOnly = inPlan.has(rule.tool) ? '' : t('plan mode only reads');
    return {
      tool: rule.tool,
      plan: inPlan.has(rule.tool) ? act : 'denied',
      act,
      why: [missing, rule.note, readsOnly].filter(Boolean).join('; '),
    };
  });
}
