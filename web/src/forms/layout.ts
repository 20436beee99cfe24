/** The layout of definition forms: the fields of the kind first, the others under “Advanced”. */
import type { ExtensionType } from '../api/types';
import type { Schema, Value } from './schema';
import { t } from '../base/language';

interface Kind {
  label: string;
  about: string;
  fields: string[];
  /** The `fields` that few people need. */
  advanced?: string[];
}

interface Layout {
  /** The member whose value is the kind. */
  by?: string;
  kinds?: Record<string, Kind>;
  /** The fields to show first, if there are no kinds. */
  first?: string[];
}

/** Members that few channels set: `user`, `smtp`, `from`, `authserv_id` are for mail, `user` and `rooms` for XMPP. */
const rarelyForChannels = [
  'address',
  'user',
  'smtp',
  'from',
  'authserv_id',
  'rooms',
  'allow',
  'threads',
  'stream',
  'notify',
];

const served = (label: string): Kind => ({
  label,
  about: t('Started by its command'),
  fields: ['path', 'command', 'port', 'env', 'secrets', 'hosts', 'health_path'],
  advanced: ['port', 'env', 'secrets', 'hosts', 'health_path'],
});

const layouts: Partial<Record<ExtensionType, Layout>> = {
  integration: {
    by: 'kind',
    kinds: {
      'mcp-stdio': {
        label: t('MCP server, started here'),
        about: t('A program on this machine'),
        fields: ['command', 'args', 'env', 'secrets', 'hosts', 'allowed_tools'],
        advanced: ['env', 'secrets', 'hosts', 'allowed_tools'],
      },
      'mcp-http': {
        label: t('MCP server at an address'),
        about: t('Reached over the network'),
        fields: ['url', 'headers', 'allowed_tools'],
        advanced: ['headers', 'allowed_tools'],
      },
      openapi: {
        label: t('OpenAPI service'),
        about: t('Its document describes the tools'),
        fields: ['url', 'headers', 'allowed_tools'],
        advanced: ['headers', 'allowed_tools'],
      },
      http: {
        label: t('Plain HTTP service'),
        about: t('One tool that sends requests'),
        fields: ['url', 'headers'],
        advanced: ['headers'],
      },
      browser: {
        label: t('Web browser'),
        about: t('Shared by you and the agents of a chat'),
        fields: ['hosts', 'allowed_tools'],
        advanced: ['allowed_tools'],
      },
      model: {
        label: t('Model service'),
        about: t('Models that answer'),
        fields: ['api', 'base_url', 'api_key', 'default_model', 'headers', 'fallback_models', 'models'],
        advanced: ['headers', 'fallback_models', 'models'],
      },
      channel: {
        label: t('Messenger'),
        about: t('People talk to an agent there'),
        fields: ['service', 'token', 'agent_id', 'pairing', ...rarelyForChannels],
        advanced: rarelyForChannels,
      },
    },
  },
  action: {
    by: 'kind',
    kinds: {
      http: {
        label: 'HTTP request',
        about: t('Calls an address'),
        fields: ['method', 'url', 'input_schema', 'headers', 'body', 'destructive'],
        advanced: ['headers', 'body', 'destructive'],
      },
      shell: {
        label: t('Shell command'),
        about: t('Runs in the sandbox'),
        fields: ['command', 'input_schema', 'secrets', 'destructive'],
        advanced: ['secrets', 'destructive'],
      },
      prompt: { label: t('Prompt'), about: t('Returns a text'), fields: ['prompt', 'input_schema'] },
      mcp: {
        label: t('Tool of an integration'),
        about: t('Under a name of its own'),
        fields: ['integration', 'tool', 'input_schema', 'destructive'],
        advanced: ['input_schema', 'destructive'],
      },
      builtin: {
        label: t('Built-in'),
        about: t('A function of the gateway'),
        fields: ['tool', 'input_schema', 'destructive'],
        advanced: ['input_schema', 'destructive'],
      },
    },
  },
  app: {
    by: 'type',
    kinds: {
      node: served('Node.js'),
      vite: served('Vite'),
      python: served('Python'),
      command: served(t('Another command')),
      static: { label: t('Static files'), about: t('Served as they are'), fields: ['path'] },
    },
  },
  agent: { first: ['systemPrompt', 'model', 'tools'] },
  job: { first: ['agent_id', 'prompt'] },
};

export interface Choice {
  value: string;
  label: string;
  about: string;
}

export interface FormParts {
  /** The member that determines the fields, if there is one. */
  by?: string;
  choices: Choice[];
  first: string[];
  advanced: string[];
}

/**
 * Divides the form of a value into parts. Members of another kind that are set, and members that the layout does not
 * know, are shown under “Advanced”.
 */
export function partsOf(type: ExtensionType | undefined, schema: Schema, value: Value): FormParts {
  const names = Object.keys(schema.properties ?? {});
  const layout = type && layouts[type];
  if (!layout) return { choices: [], first: names, advanced: [] };
  if (!layout.by || !layout.kinds) {
    const first = layout.first ?? [];
    return { choices: [], first: first.filter((name) => names.includes(name)), advanced: others(names, first) };
  }
  const { by, kinds } = layout;
  const allowed = (schema.properties?.[by]?.enum ?? []).map(String);
  const choices = allowed.map((kind) => ({
    value: kind,
    label: kinds[kind]?.label ?? kind,
    about: kinds[kind]?.about ?? '',
  }));
  const kind = kinds[String(value[by] ?? '')];
  if (!kind && value[by] !== undefined) return { by, choices, first: others(names, [by]), advanced: [] };
  if (!kind)
    return { by, choices, first: [], advanced: names.filter((name) => name !== by && value[name] !== undefined) };
  const first = kind.fields.filter((name) => names.includes(name) && !kind.advanced?.includes(name));
  const set = names.filter((name) => value[name] !== undefined && !kind.fields.includes(name) && name !== by);
  return { by, choices, first, advanced: [...(kind.advanced ?? []).filter((name) => names.includes(name)), ...set] };
}

const others = (names: string[], first: string[]): string[] => names.filter((name) => !first.includes(name));

/** An example to start a new extension from. */
export interface Example {
  label: string;
  name: string;
  description: string;
  definition: Value;
  trigger?: Value;
}

export const examples: Partial<Record<ExtensionType, Example[]>> = {
  job: [
    {
      label: t('Morning summary'),
      name: 'morning-summary',
      description: t('What happened since yesterday, every weekday at 8'),
      definition: {
        agent_id: 'assistant',
        prompt: t('Summarise what was done and decided since yesterday in at most ten lines, and what waits for me.'),
      },
      trigger: { type: 'cron', expression: '0 8 * * 1-5' },
    },
    {
      label: t('Weekly review'),
      name: 'weekly-review',
      description: t('What to keep and what to drop, every Friday at 16'),
      definition: {
        agent_id: 'assistant',
        prompt: t('Review the week: what was finished, what is stuck, and three things that matter next week.'),
      },
      trigger: { type: 'cron', expression: '0 16 * * 5' },
    },
    {
      label: t('After a failed job'),
      name: 'explain-failure',
      description: t('Says why a job failed and what to do'),
      definition: { agent_id: 'assistant', prompt: t('A job has failed. Find out why, and propose what to change.') },
      trigger: { type: 'event', event: 'job.failed' },
    },
  ],
  command: [
    {
      label: t('Explain'),
      name: 'explain',
      description: t('Explains something in plain words'),
      definition: { prompt: t('Explain in plain words, with one example: $ARGUMENTS') },
    },
    {
      label: t('Review'),
      name: 'review-changes',
      description: t('Reviews the latest changes of the project'),
      definition: {
        prompt: t('Review the latest changes of this project for mistakes. Name file and line. $ARGUMENTS'),
      },
    },
  ],
  integration: [
    {
      label: t('Web browser'),
      name: 'browser',
      description: t('Opens and uses websites'),
      definition: { kind: 'browser' },
    },
    {
      label: t('Files over MCP'),
      name: 'files',
      description: t('Reads and writes files of one folder'),
      definition: { kind: 'mcp-stdio', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] },
    },
    {
      label: t('A service with OpenAPI'),
      name: 'my-service',
      description: t('The operations of its document'),
      definition: { kind: 'openapi', url: 'https://example.com/openapi.json' },
    },
  ],
  action: [
    {
      label: t('Weather by address'),
      name: 'weather',
      description: t('The weather at a place'),
      definition: {
        kind: 'http',
        method: 'GET',
        url: 'https://wttr.in/{{place}}?format=j1',
        input_schema: { type: 'object', required: ['place'], properties: { place: { type: 'string' } } },
      },
    },
    {
      label: t('Disk space'),
      name: 'disk-space',
      description: t('How full the disks are'),
      definition: { kind: 'shell', command: 'df -h' },
    },
  ],
  agent: [
    {
      label: t('Editor'),
      name: 'editor',
      description: t('Improves texts without changing what they say'),
      definition: {
        systemPrompt: t('You edit texts: short sentences, plain words, active voice. You keep the meaning.'),
      },
    },
    {
      label: t('Researcher'),
      name: 'researcher',
      description: t('Finds out and names its sources'),
      definition: {
        systemPrompt: t('You find things out. You say what you do not know, and name the source of each claim.'),
        tools: ['WebSearch', 'WebFetch', 'SearchKnowledge', 'Read', 'Glob', 'Grep'],
      },
    },
  ],
};
