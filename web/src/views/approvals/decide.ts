/** Sends a person's decision on a request, or the answer to a question. */
import { ApiError, apiPath, post } from '../../api/client';
import type { PermissionRequest } from '../../api/types';
import { announcer } from '../../base/announce.svelte';
import { toasts } from '../../base/toasts.svelte';
import { approvals } from '../../state/approvals.svelte';
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

/** Sends the decision. Returns whether the request is decided now, by this or another person. */
export async function decide({ id }: PermissionRequest, body: Decision): Promise<boolean> {
  try {
    await post(apiPath`/permissions/${id}`, body);
    approvals.drop(id);
    announcer.say(
      `${'answer' in body ? t('Answered') : wordsFor(body.decision, 'scope' in body ? body.scope : null)}.`,
    );
    return true;
  } catch (error) {
    const status = error instanceof ApiError ? error.status : 0;
    // Another person decided first; an event reports their decision.
    if (status === 409 || status === 404) await approvals.load();
    else toasts.error(error);
    return status === 409 || status === 404;
  }
}
