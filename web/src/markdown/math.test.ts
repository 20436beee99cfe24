import { expect, test } from 'vitest';
import { lex } from './blocks';

interface Found {
  type: string;
  text: string;
  display?: boolean;
  tokens?: Found[];
  items?: Found[];
}
const formulas = (text: string): [string, boolean | undefined][] => {
  const all: [string, boolean | undefined][] = [];
  const visit = (tokens: Found[]): void =>
    tokens.forEach((token) => {
      if (token.type === 'math') all.push([token.text, token.display]);
      visit([...(token.tokens ?? []), ...(token.items ?? [])]);
    });
  visit(lex(text) as unknown as Found[]);
  return all;
};

test('formulas are found within text and as blocks', () => {
  expect(formulas('The sum $a + b$ is \\(O(\\log n)\\).')).toEqual([
    ['a + b', false],
    ['O(\\log n)', false],
  ]);
  expect(formulas('So\n$$\nh \\le \\log_2 n\n$$\nfollows.')).toEqual([['h \\le \\log_2 n', true]]);
  expect(formulas('\\[ x^2 \\]\n')).toEqual([['x^2', true]]);
  expect(formulas('- $x_1$\n- **$y$**\n')).toEqual([
    ['x_1', false],
    ['y', false],
  ]);
});

test('prices, shell variables and code are not formulas', () => {
  expect(formulas('It costs $5 and $10, or $5-$10.')).toEqual([]);
  expect(formulas('`$a$` and\n\n```\n$$x$$\n```\n')).toEqual([]);
  expect(formulas('echo $HOME and $PATH')).toEqual([]);
  expect(formulas('an open $x')).toEqual([]);
});

test('a hundred thousand opening delimiters are parsed in bounded time', () => {
  const began = performance.now();
  for (const opening of ['$x ', '\\(x ', '$$ x ', '\\[ x ']) formulas(opening.repeat(5000));
  expect(performance.now() - began).toBeLessThan(4000);
});
