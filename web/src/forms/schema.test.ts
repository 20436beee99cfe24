import { expect, test } from 'vitest';
import { errorAt, errorsByPath, fromLines, fromPairs, kindOf, linesOf, pairsOf, withMember } from './schema';

test('each type of a definition has its kind of field', () => {
  expect(kindOf({ type: 'string' })).toBe('text');
  expect(kindOf({ type: 'string', format: 'multiline' })).toBe('long-text');
  expect(kindOf({ type: 'string', enum: ['plan', 'act'] })).toBe('choice');
  expect(kindOf({ type: ['array', 'null'], items: { type: 'string' } })).toBe('lines');
  expect(kindOf({ type: 'object', additionalProperties: { type: 'string' } })).toBe('pairs');
  expect(kindOf({ type: 'object', additionalProperties: { type: 'object' } })).toBe('json');
  expect(kindOf({ type: 'object', properties: {} })).toBe('group');
  expect(kindOf({ type: 'array', items: { type: 'object' } })).toBe('json');
  expect(kindOf({})).toBe('json');
});

test('values survive conversion to text and back', () => {
  expect(fromLines(linesOf(['a', 'b']))).toEqual(['a', 'b']);
  expect(fromPairs(pairsOf({ PORT: '80', URL: 'a=b' }))).toEqual({ PORT: '80', URL: 'a=b' });
  expect(fromLines(' \n')).toBeUndefined();
});

test('members unknown to the form are preserved', () => {
  expect(withMember({ x: 1, unknown: true }, 'x', 2)).toEqual({ x: 2, unknown: true });
  expect(withMember({ x: 1, unknown: true }, 'x', undefined)).toEqual({ unknown: true });
});

test('errors are shown at their fields', () => {
  const details = [{ path: 'definition.agent_id', message: 'definition.agent_id must be a string' }];
  expect(errorsByPath(details)).toEqual({ 'definition.agent_id': 'must be a string' });
});

test('errors in parts without a field are shown at the enclosing field', () => {
  const errors = {
    'definition.tools[1]': 'must be a string',
    'definition.toolset': 'is odd',
    'definition.tools': 'is odd too',
  };
  expect(errorAt(errors, 'definition.tools')).toBe('[1] must be a string; is odd too');
  expect(errorAt(errors, 'definition.other')).toBe('');
});
