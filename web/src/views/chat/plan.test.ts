import { expect, test } from 'vitest';
import { presentsPlan, runsPlanCommand } from './plan';

const steps = '1. Look\n2. Do\n3. Check';

test('an answer with steps is a plan if the user asked for one', () => {
  expect(presentsPlan('Plan the move', steps)).toBe(true);
  expect(presentsPlan('/plan the move', `All of it:\n\n${steps}`)).toBe(true);
  expect(presentsPlan('Plan the move', 'What is there to move?')).toBe(false);
  expect(presentsPlan('Plan the move', '1. Only one')).toBe(false);
  expect(presentsPlan('Plan the move', '- Look\n- Do')).toBe(false);
  expect(presentsPlan('Plan the move', '```\n1. Look\n2. Do\n```')).toBe(false);
});

test('an answer with steps is a plan if it calls them one', () => {
  expect(presentsPlan('How do I move?', `## Plan\n\nFirst some thoughts.\n\n${steps}`)).toBe(true);
  expect(presentsPlan('How do I move?', `Here is the **plan**:\n\n${steps}`)).toBe(true);
});

test('a numbered list that explains something is not a plan', () => {
  expect(presentsPlan('How do B-trees work?', `A B-tree has these properties:\n\n${steps}`)).toBe(false);
  expect(presentsPlan('List the planets', '1. Mercury\n2. Venus')).toBe(false);
});

test('only the command /plan asks for a plan in every mode', () => {
  expect(['/plan', '/plan the move', '/planet', 'no /plan'].map(runsPlanCommand)).toEqual([true, true, false, false]);
});
