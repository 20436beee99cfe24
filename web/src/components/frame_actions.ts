/** Actions that an extension requests run only after the person has confirmed them outside the frame. */
import type { Extension } from '../api/types';
import { toasts } from '../base/toasts.svelte';
import { escapeInvisible } from '../base/escape';
import { writeNewChat } from '../state/new_chat';
import { confirmations } from './confirm.svelte';
import { t } from '../base/language';

const maxShown = 500;

/** Actions run as an agent's tool call: the request becomes the draft of a new chat, for the person to send. */
export async function confirmAction(
  from: string,
  action: string,
  input: unknown,
  extension: Extension | undefined,
): Promise<void> {
  if (!extension?.enabled) {
    toasts.error(t('{from} requested {action}, which is not enabled.', { from, action }));
    return;
  }
  const shown = escapeInvisible(JSON.stringify(input ?? {}).slice(0, maxShown));
  const text = t(
    'The extension {from} wants to run {action} with\n{shown}\n\nThis opens a new chat with the request. Nothing runs until you send it.',
    { from, action, shown },
  );
  if (
    !(await confirmations.ask({ title: t('Request from an extension'), text, confirm: t('Open chat'), danger: false }))
  )
    return;
  writeNewChat(t('Run {action} with {shown}', { action, shown }));
}
