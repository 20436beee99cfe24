/** How the fields of a definition are ordered in its form: by kind, the rest under “Advanced”. */
import type { ExtensionType } from '../api/types';
import type { Schema, Value } from './schema';

interface Kind {
  label: string;
  about: string;
  fields: string[];
  /** Of `fields`, those that few need. */
  advanced?: string[];
}

interface Layout {
  /** The member that the kinds are the values of. */
  by?: string;
  kinds?: Record<string, Kind>;
  /** Without kinds: what is shown first. */
  first?: string[];
}

const layouts: Partial<Record<ExtensionType, Layout>> = {
  integration: {
    by: 'kind',
    kinds: {
      'mcp-stdio': {
        label: 'MCP server, started here',
        about: 'A program on this machine',
        fields: ['command', 'args', 'env', 'allowed_tools'],
        advanced: ['env', 'allowed_tools'],
      },
      'mcp-http': {
        label: 'MCP server at an address',
        about: 'Reached over the network',
        fields: ['url', 'headers', 'allowed_tools'],
        advanced: ['headers', 'allowed_tools'],
      },
      openapi: {
        label: 'OpenAPI service',
        about: 'Its document describes the tools',
        fields: ['url', 'headers', 'allowed_tools'],
        advanced: ['headers', 'allowed_tools'],
      },
      http: {
        label: 'Plain HTTP service',
        about: 'One tool that sends requests',
        fields: ['url', 'headers'],
        advanced: ['headers'],
      },
      model: {
        label: 'Model service',
        about: 'Models that answer',
        fields: ['api', 'base_url', 'api_key', 'default_model', 'models'],
        advanced: ['models'],
      },
      channel: {
        label: 'Messenger',
        about: 'People talk to an agent there',
        fields: ['service', 'token', 'agent_id', 'pairing', 'allow', 'address', 'threads', 'stream', 'notify'],
        advanced: ['allow', 'address', 'threads', 'stream', 'notify'],
      },
    },
  },
  action: {
    by: 'kind',
    kinds: {
      http: {
        label: 'HTTP request',
        about: 'Calls an address',
        fields: ['method', 'url', 'input_schema', 'headers', 'body', 'destructive'],
        advanced: ['headers', 'body', 'destructive'],
      },
      shell: {
        label: 'Shell command',
        about: 'Runs in the sandbox',
        fields: ['command', 'input_schema', 'destructive'],
        advanced: ['destructive'],
      },
      prompt: { label: 'Prompt', about: 'Returns a text', fields: ['prompt', 'input_schema'] },
      mcp: {
        label: 'Tool of an integration',
        about: 'Under a name of its own',
        fields: ['integration', 'tool', 'input_schema', 'destructive'],
        advanced: ['input_schema', 'destructive'],
      },
      builtin: {
        label: 'Built-in',
        about: 'A function of the gateway',
        fields: ['tool', 'input_schema', 'destructive'],
        advanced: ['input_schema', 'destructive'],
      },
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
  /** The member that decides which fields there are, if there is one. */
  by?: string;
  choices: Choice[];
  first: string[];
  advanced: string[];
}

/**
 * The parts of the form of a value. Members that belong to another kind but are set stay visible, under “Advanced”, as do
 * those that the layout does not know.
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

/** Something to begin with, by type. */
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
      label: 'Morning summary',
      name: 'morning-summary',
      description: 'What happened since yesterday, every weekday at 8',
      definition: {
        agent_id: 'assistant',
        prompt: 'Summarise what was done and decided since yesterday in at most ten lines, and what waits for me.',
      },
      trigger: { type: 'cron', expression: '0 8 * * 1-5' },
    },
    {
      label: 'Weekly review',
      name: 'weekly-review',
      description: 'What to keep and what to drop, every Friday at 16',
      definition: {
        agent_id: 'assistant',
        prompt: 'Review the week: what was finished, what is stuck, and three things that matter next week.',
      },
      trigger: { type: 'cron', expression: '0 16 * * 5' },
    },
    {
      label: 'After a failed job',
      name: 'explain-failure',
      description: 'Says why a job failed and what to do',
      definition: { agent_id: 'assistant', prompt: 'A job has failed. Find out why, and propose what to change.' },
      trigger: { type: 'event', event: 'job.failed' },
    },
  ],
  command: [
    {
      label: 'Explain',
      name: 'explain',
      description: 'Explains something in plain words',
      definition: { prompt: 'Explain in plain words, with one example: $ARGUMENTS' },
    },
    {
      label: 'Review',
      name: 'review-changes',
      description: 'Reviews the latest changes of the project',
      definition: { prompt: 'Review the latest changes of this project for mistakes. Name file and line. $ARGUMENTS' },
    },
  ],
  integration: [
    {
      label: 'Files over MCP',
      name: 'files',
      description: 'Reads and writes files of one folder',
      definition: { kind: 'mcp-stdio', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] },
    },
    {
      label: 'A service with OpenAPI',
      name: 'my-service',
      description: 'The operations of its document',
      definition: { kind: 'openapi', url: 'https://example.com/openapi.json' },
    },
  ],
  action: [
    {
      label: 'Weather by address',
      name: 'weather',
      description: 'The weather at a place',
      definition: {
        kind: 'http',
        method: 'GET',
        url: 'https://wttr.in/{{place}}?format=j1',
        input_schema: { type: 'object', required: ['place'], properties: { place: { type: 'string' } } },
      },
    },
    {
      label: 'Disk space',
      name: 'disk-space',
      description: 'How full the disks are',
      definition: { kind: 'shell', command: 'df -h' },
    },
  ],
  agent: [
    {
      label: 'Editor',
      name: 'editor',
      description: 'Improves texts without changing what they say',
      definition: { systemPrompt: 'You edit texts: short sentences, plain words, active voice. You keep the meaning.' },
    },
    {
      label: 'Researcher',
      name: 'researcher',
      description: 'Finds out and names its sources',
      definition: {
        systemPrompt: 'You find things out. You say what you do not know, and name the source of each claim.',
        tools: ['WebSearch', 'WebFetch', 'SearchKnowledge', 'Read', 'Glob', 'Grep'],
      },
    },
  ],
};
