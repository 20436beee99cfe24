/** Recognizes answers that are plans to approve. */
import type { Tokens } from 'marked';
import { lex, wordsOf } from '../../markdown/blocks';

const named = /\bplan(s|ned|ning|e|en)?\b/i;

const isSteps = (list: Tokens.List): boolean => list.ordered && list.items.length > 1;

/**
 * Whether an answer is a plan. Many answers have numbered lists; a list is a plan if the person asked for a plan, or if
 * the answer calls it one, in a heading or in the line before the list.
 */
export function presentsPlan(question: string, answer: string): boolean {
  const tokens = lex(answer).filter(({ type }) => type !== 'space');
  const steps = tokens.findIndex((token) => token.type === 'list' && isSteps(token as Tokens.List));
  if (steps < 0) return false;
  const lead = tokens.filter(({ type }, i) => type === 'heading' || i === steps - 1);
  return named.test(question) || lead.some((token) => named.test(wordsOf(token)));
}

/** Whether a message runs the command `/plan`, which plans in every mode. */
export const runsPlanCommand = (question: string): boolean => /^\/plan(\s|$)/.test(question);
