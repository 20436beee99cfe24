/** Sends a person's decision on a request, or the answer to a question. */
import { ApiError, apiPath, post } from '../../api/client';
import type { PermissionRequest } from '../../api/types';
import { announcer } from '../../base/announce.svelte';
import { toasts } from '../../base/toasts.svelte';
import { approvals } from '../../state/approvals.svelte';
import type { Draft } from '../chat/draft.svelte';
import { t } from '../../base/language';

export type Decision =
  | { decision: 'allow'; scope: 'once' | 'thread' | 'agent' }
  | { decision: 'deny'; reason?: string }
  | { decision: 'propose' }
  | { answer: unknown };

/** The purpose of a request by tool, as it follows “asks to”. */
const purposes: Record<string, string> = {
  Bash: t('run a command'),
  Write: t('write a file'),
  Edit: t('change a file'),
  WebFetch: t('open an address'),
  WebSearch: t('search the web'),
};

export const purposeOf = ({ tool }: PermissionRequest): string => purposes[tool] ?? t('use {tool}', { tool });

const decisions: Record<string, string> = {
  deny: t('Denied'),
  propose: t('Staged as a proposal'),
  answer: t('Answered'),
  once: t('Allowed once'),
  thread: t('Allowed in this chat'),
  agent: t('Always allowed'),
};
const endings: Record<string, string> = {
  timeout: t('Nobody answered in time.'),
  stop: t('The answer was stopped before anybody decided.'),
  restart: t('The gateway was stopped before anybody decided.'),
};

const wordsFor = (decision: string, scope?: string | null): string =>
  decisions[decision === 'allow' ? (scope ?? 'once') : decision] ?? t('Decided');

/** The outcome of a request that was not decided on this page. */
export const outcomeOf = ({ decision, scope, by }: PermissionRequest): string =>
  endings[by ?? ''] ??
  t('{decided} by a person on another page or device.', { decided: wordsFor(decision ?? '', scope) });

/**
 * Sends the decision. `typed`: the words of this or another tab. Those that are sent, or were typed here, are cleared before,
 * so that no other tab takes them for unsent, and come back if the decision fails.
 */
export async function decide<T>(request: PermissionRequest, body: Decision, typed: Draft<T>): Promise<void> {
  const { id } = request;
  const words = typed.text;
  // An option may be chosen while another tab has other words.
  const isOther = 'answer' in body && typeof body.answer === 'string' && body.answer !== String(words).trim();
  const isDone = typed.isOwn || (!isOther && ('answer' in body || 'reason' in body));
  if (isDone) typed.clear();
  try {
    await post(apiPath`/permissions/${id}`, body);
    approvals.drop(id);
    announcer.say(
      `${'answer' in body ? t('Answered') : wordsFor(body.decision, 'scope' in body ? body.scope : null)}.`,
    );
  } catch (error) {
    typed.text ||= words;
    if (isDone) typed.changed();
    const status = error instanceof ApiError ? error.status : 0;
    // Another person decided first; an event reports their decision.
    if (status === 409 || status === 404) await approvals.load();
    else toasts.error(error);
    await keepTyped(request, typed);
  }
}

/** Keeps what was typed in this tab if the request has ended or was decided elsewhere. */
export async function keepTyped<T>({ id, thread_id }: PermissionRequest, typed: Draft<T>): Promise<void> {
  // States still have the values from before while effects end.
  await Promise.resolve();
  if (typed.isOwn && approvals.all.every((request) => request.id !== id || request.decision))
    await typed.moveTo(thread_id, t('The agent got another answer, or was stopped.'));
}
