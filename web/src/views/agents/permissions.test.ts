import { expect, test } from 'vitest';
import type { Extension } from '../../api/types';
import { allowances, type Stage } from './permissions';

const extension = (name: string, definition: object): Extension => ({ name, definition }) as unknown as Extension;
const act = (stage: Stage, definition: object, tool: string, capabilities: Extension[] = []): string | undefined =>
  allowances(extension('helper', definition), stage, [extension('mail', { kind: 'http' })], capabilities).find(
    (one) => one.tool === tool,
  )?.act;

test('higher stages permit more tools', () => {
  expect(['apprentice', 'operator', 'trusted'].map((stage) => act(stage as Stage, {}, 'Write'))).toEqual([
    'staged',
    'allowed',
    'allowed',
  ]);
  expect(['apprentice', 'operator'].map((stage) => act(stage as Stage, {}, 'Bash'))).toEqual(['denied', 'allowed']);
  expect(['operator', 'trusted'].map((stage) => act(stage as Stage, {}, 'mail'))).toEqual(['denied', 'allowed']);
});

test('tool lists and capabilities only restrict', () => {
  expect(act('sovereign', { tools: ['Read'] }, 'Bash')).toBe('denied');
  expect(act('sovereign', { capabilities: ['reading'] }, 'Bash', [extension('reading', { tools: ['Read'] })])).toBe(
    'denied',
  );
  expect(act('sovereign', { capabilities: ['reading'] }, 'Read', [])).toBe('denied');
});

test('plan mode only reads', () => {
  const all = allowances(extension('helper', {}), 'sovereign', [], []);
  expect(all.filter(({ plan }) => plan === 'allowed').map(({ tool }) => tool)).toEqual([
    'Read',
    'Glob',
    'Grep',
    'WebFetch',
    'WebSearch',
  ]);
});
