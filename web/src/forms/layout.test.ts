// @ts-expect-error: the page has no type definitions of Node.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { partsOf } from './layout';
import type { Schema } from './schema';

const schema: Schema = {
  properties: {
    kind: { type: 'string', enum: ['mcp-stdio', 'mcp-http', 'later'] },
    command: { type: 'string' },
    args: { type: 'array' },
    env: { type: 'object' },
    url: { type: 'string' },
  },
};

test('without a kind, the form only offers the choice of one', () => {
  const parts = partsOf('integration', schema, {});
  expect(parts.by).toBe('kind');
  expect(parts.choices.map(({ value }) => value)).toEqual(['mcp-stdio', 'mcp-http', 'later']);
  expect([parts.first, parts.advanced]).toEqual([[], []]);
});

test('a kind has its own fields, with the rare ones under Advanced', () => {
  const parts = partsOf('integration', schema, { kind: 'mcp-stdio' });
  expect([parts.first, parts.advanced]).toEqual([['command', 'args'], ['env']]);
});

test('values that are set for another kind stay visible', () => {
  expect(partsOf('integration', schema, { kind: 'mcp-http', command: 'x' }).advanced).toEqual(['command']);
});

test('a type without a layout shows every field', () => {
  expect(partsOf('theme', schema, {}).first).toEqual(['kind', 'command', 'args', 'env', 'url']);
});

test('each kind in a schema has an explanation, and each of its members a place in the form', () => {
  for (const [type, by] of [
    ['integration', 'kind'],
    ['action', 'kind'],
    ['app', 'type'],
  ] as const) {
    const path = `../share/schemas/${type}.json`;
    const all = JSON.parse(readFileSync(path, 'utf8')) as Schema;
    const placed = new Set<string>([by]);
    for (const { value, label, about } of partsOf(type, all, {}).choices) {
      expect([label !== value, about !== ''], `${type} ${value}`).toEqual([true, true]);
      const { first, advanced } = partsOf(type, all, { [by]: value });
      for (const member of [...first, ...advanced]) placed.add(member);
    }
    expect([...placed].sort()).toEqual(Object.keys(all.properties ?? {}).sort());
  }
});
