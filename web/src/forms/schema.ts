/** The subset of JSON Schema used by the gateway's definitions, and the conversion between values and form fields. */

export interface Schema {
  title?: string;
  description?: string;
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  minimum?: number;
  maximum?: number;
  default?: unknown;
  examples?: unknown[];
}

export type Value = Record<string, unknown>;

export type FieldKind = 'choice' | 'yes-no' | 'number' | 'text' | 'long-text' | 'lines' | 'pairs' | 'group' | 'json';

export const typesOf = ({ type }: Schema): string[] => (Array.isArray(type) ? type : type ? [type] : []);

export function kindOf(schema: Schema): FieldKind {
  const types = typesOf(schema);
  if (Array.isArray(schema.enum)) return 'choice';
  if (types.length > 1 && types.includes('string') && types.includes('number')) return 'text';
  if (types.includes('boolean')) return 'yes-no';
  if (types.includes('integer') || types.includes('number')) return 'number';
  if (types.includes('string')) return schema.format === 'multiline' ? 'long-text' : 'text';
  if (types.includes('array') && schema.items && typesOf(schema.items)[0] === 'string' && !schema.items.enum)
    return 'lines';
  if (types.includes('object') && schema.properties) return 'group';
  if (types.includes('object') && schema.additionalProperties instanceof Object)
    return typesOf(schema.additionalProperties)[0] === 'string' ? 'pairs' : 'json';
  return 'json';
}

/** Sets a member, or removes it if undefined; keeps the order of the others. */
export function withMember(value: Value, name: string, member: unknown): Value {
  const { [name]: _, ...others } = value;
  return member === undefined ? others : { ...value, [name]: member };
}

export const linesOf = (value: unknown): string => (Array.isArray(value) ? value.map(String).join('\n') : '');

export function fromLines(text: string): string[] | undefined {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
  return lines.length ? lines : undefined;
}

export const pairsOf = (value: unknown): string =>
  Object.entries((value ?? {}) as Value)
    .map(([name, member]) => `${name} = ${String(member)}`)
    .join('\n');

export function fromPairs(text: string): Record<string, string> | undefined {
  const pairs = text
    .split('\n')
    .filter((line) => line.trim())
    .map((line): [string, string] => {
      const at = line.indexOf('=');
      return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    });
  return pairs.length ? Object.fromEntries(pairs) : undefined;
}

/** The errors of the value at `path` and of its parts, joined, for values that have a single field. */
export function errorAt(errors: Record<string, string>, path: string): string {
  const own = Object.entries(errors).filter(
    ([at]) => at === path || at.startsWith(`${path}.`) || at.startsWith(`${path}[`),
  );
  return own.map(([at, message]) => `${at.slice(path.length)} ${message}`.trim()).join('; ');
}

/** Maps error details to messages by path, such as `definition.agent_id`. Removes the path from the messages. */
export function errorsByPath(details: { path: string; message: string }[]): Record<string, string> {
  return Object.fromEntries(details.map(({ path, message }) => [path, message.replace(`${path} `, '')]));
}
