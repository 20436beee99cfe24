/** Stores the contents that applied proposals replaced in this browser, for undo. */
import { post } from '../../api/client';
import type { Proposal } from '../../api/types';
import { store, stored } from '../../base/storage';
import { applyProposal, keyOf, rejectProposal } from './proposal';
import { t } from '../../base/language';

interface Replaced {
  key: string;
  agent: string;
  type: Proposal['type'];
  title: string;
  target: string;
  before: string;
  after: string;
}

const name = 'replaced';
const maxKept = 20;
const maxLength = 100_000;
const all = (): Replaced[] => stored<Replaced[]>(name, []);

/** Stores the replaced content. Not for extensions: they have state besides their text, so people edit them instead. */
export function keepReplaced(proposal: Proposal, after: string): void {
  const { agent, type, title, target, current_content: before } = proposal;
  if (type === 'extension' || !target || before === null || before.length + after.length > maxLength) return;
  const key = keyOf(proposal);
  const others = all().filter((one) => one.key !== key);
  store(name, [...others, { key, agent, type, title, target, before, after }].slice(-maxKept));
}

const forget = (key: string): void =>
  store(
    name,
    all().filter((one) => one.key !== key),
  );

export const canUndo = (key: string): boolean => all().some((one) => one.key === key);

/** Restores the replaced content by a new proposal. Throws an error if the target has changed since. */
export async function undoApplied(key: string): Promise<void> {
  const replaced = all().find((one) => one.key === key);
  if (!replaced) return;
  const { agent, type, title, target, before, after } = replaced;
  const reason = t('A person took the decision back.');
  const staged = await post<Proposal>('/propose', {
    agent,
    type,
    title: t('Undo: {title}', { title }),
    target,
    content: before,
    reason,
  });
  if (staged.current_content?.trimEnd() !== after.trimEnd()) {
    await rejectProposal(staged, reason);
    forget(key);
    throw new Error(t('The file was changed since, so it is left as it is.'));
  }
  await applyProposal(staged);
  forget(key);
}

/** Makes a new proposal with the content of a rejected one. */
export const proposeAgain = ({ agent, type, title, target, content, reason }: Proposal): Promise<Proposal> =>
  post('/propose', { agent, type, title, target, content, reason: reason ?? undefined });
