/** Sends a person's decision on a request, or the answer to a question. */
import { ApiError, apiPath, post } from '../../api/client';
import type { PermissionRequest } from '../../api/types';
import { announcer } from '../../base/announce.svelte';
import { toasts } from '../../base/toasts.svelte';
import { approvals } from '../../state/approvals.svelte';

export type Decision =
  | { decision: 'allow'; scope: 'once' | 'thread' | 'agent' }
  | { decision: 'deny'; reason?: string }
  | { decision: 'propose' }
  | { answer: unknown };

/** What a request is about, to be continued with the name of its agent. */
const purposes: Record<string, string> = {
  Bash: 'run a command',
  Write: 'write a file',
  Edit: 'change a file',
  WebFetch: 'open an address',
  WebSearch: 'search the web',
};

export const purposeOf = ({ tool }: PermissionRequest): string => purposes[tool] ?? `use ${tool}`;

const decisions: Record<string, string> = {
  deny: 'Denied',
  propose: 'Staged as a proposal',
  answer: 'Answered',
  once: 'Allowed once',
  thread: 'Allowed in this chat',
  agent: 'Always allowed',
};
const endings: Record<string, string> = {
  timeout: 'Nobody answered in time.',
  stop: 'The answer was stopped before anybody decided.',
  restart: 'The gateway was stopped before anybody decided.',
};

const wordsFor = (decision: string, scope?: string | null): string =>
  decisions[decision === 'allow' ? (scope ?? 'once') : decision] ?? 'Decided';

/** How a request ended that was not decided on this page. */
export const outcomeOf = ({ decision, scope, by }: PermissionRequest): string =>
  endings[by ?? ''] ?? `${wordsFor(decision ?? '', scope)} by a person on another page or device.`;

/** Returns whether the request is decided now, by whomever. */
export async function decide({ id }: PermissionRequest, body: Decision): Promise<boolean> {
  try {
    await post(apiPath`/permissions/${id}`, body);
    approvals.drop(id);
    announcer.say(`${'answer' in body ? 'Answered' : wordsFor(body.decision, 'scope' in body ? body.scope : null)}.`);
    return true;
  } catch (error) {
    const status = error instanceof ApiError ? error.status : 0;
    // Somebody else was faster: the event says what they decided.
    if (status === 409 || status === 404) await approvals.load();
    else toasts.error(error);
    return status === 409 || status === 404;
  }
}
