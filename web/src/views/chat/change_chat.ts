/** Changes and deletes chats and messages. Loaded on demand. */
import { ApiError, apiPath, patch, post, remove } from '../../api/client';
import type { Attachment, Thread, Turn } from '../../api/types';
import { escapeInvisible } from '../../base/escape';
import { t, tn } from '../../base/language';
import { router } from '../../base/router.svelte';
import { toasts, tryOrToast } from '../../base/toasts.svelte';
import { confirmDanger } from '../../components/confirm.svelte';
import { moveFocus } from '../../components/focus';
import type { Conversation } from '../../state/conversation.svelte';
import { outbox, type OutgoingMessage } from '../../state/outbox.svelte';
import { threads } from '../../state/threads.svelte';

function leave(id: string): void {
  if (threads.beside === id) threads.showBeside(null);
  // By now, the person may have opened another chat.
  if (threads.selectedId === id) router.push(['chats']);
}

/** Archives a chat, with an offer to undo that, or unarchives it. */
export async function archive({ id, archived }: Thread): Promise<void> {
  if (!(await tryOrToast(() => patch(`/threads/${id}`, { archived: !archived }))) || archived) return;
  leave(id);
  toasts.show(t('Archived.'), {
    action: { label: t('Undo'), run: () => void tryOrToast(() => patch(`/threads/${id}`, { archived: false })) },
  });
}

/** Permanently deletes a chat, after a confirmation. */
export async function discard({ id, title, turn_count }: Thread, isRunning: () => boolean): Promise<void> {
  const answering = isRunning() ? ` ${t('The current answer will be stopped.')}` : '';
  const text =
    tn(
      '“{title}” and its {count} message will be permanently deleted.',
      '“{title}” and its {count} messages will be permanently deleted.',
      turn_count,
      { title: escapeInvisible(title) },
    ) + answering;
  if (!(await confirmDanger(t('Delete this chat?'), text, t('Delete')))) return;
  const done = await tryOrToast(async () => {
    // The gateway does not delete a chat with an active answer.
    if (isRunning()) await post('/chat/stop', { threadId: id });
    await remove(`/threads/${id}`);
  });
  if (done) {
    threads.drop(id);
    leave(id);
  }
}

/** Makes a new chat with the conversation up to a turn, and opens it. */
export async function fork(id: string, turnId: string): Promise<void> {
  const thread = await post<Thread>(apiPath`/threads/${id}/fork`, { turnId });
  // The title distinguishes the copy from the original in the list.
  threads.put(await patch<Thread>(apiPath`/threads/${thread.id}`, { title: `${thread.title} (fork)` }));
  router.push(['t', thread.id]);
}

const retryDelay = 100;
const maxAttempts = 50;

/** Retries on status 409: a stopped answer releases its thread with a short delay. */
async function whenIdle(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409 || attempt === maxAttempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryDelay));
    }
  }
}

const attachmentsIn = (metadata: Turn['metadata']): Attachment[] | undefined =>
  Array.isArray(metadata?.attachments) ? (metadata.attachments as Attachment[]) : undefined;

/**
 * Restores the queue after Stop, which drops it at the gateway: has the first message answered, queues the others.
 * `asked`: the agents and models that were asked, by turn.
 */
export async function answerQueued(
  conversation: Conversation,
  queued: Turn[],
  asked: Record<string, Pick<OutgoingMessage, 'agentId' | 'model'>>,
): Promise<void> {
  await tryOrToast(async () => {
    for (const [i, { id, content, metadata }] of queued.entries()) {
      const { agentId, model } = asked[id] ?? {};
      if (i === 0 && !agentId) {
        await whenIdle(() => post(`/turns/${id}/regenerate`, { model }));
        conversation.expect(id);
      } else {
        outbox.add({ threadId: conversation.id, content, attachments: attachmentsIn(metadata), agentId, model });
        await whenIdle(() => remove(`/turns/${id}`));
      }
    }
  });
}

/** Deletes turns once Undo has expired or the page is closed. `log`: null if the chat is no longer shown. */
export function deleteTurns(conversation: Conversation, ids: string[], log: () => Element | null): void {
  const restore = conversation.hide(ids);
  let isLeft = false;
  const onDismiss = (): void => {
    removeEventListener('pagehide', left);
    Promise.all(ids.map((id) => remove(`/turns/${id}`, isLeft))).catch((error: unknown) => {
      restore();
      toasts.error(error);
    });
  };
  const undo = (): void => {
    removeEventListener('pagehide', left);
    restore();
    void moveFocus(() => log() ?? document.getElementById('main'));
  };
  const close = toasts.show(t('Deleted.'), { action: { label: t('Undo'), run: undo }, onDismiss });
  const left = (): void => {
    isLeft = true;
    close();
  };
  addEventListener('pagehide', left);
}

/** Deletes a queued message immediately, because it could be answered soon. Offers to edit and resend it. */
export function takeBack(
  conversation: Conversation,
  { id, content, metadata }: Turn,
  write: (text: string, files?: Attachment[]) => void,
): void {
  const restore = conversation.hide([id]);
  remove(`/turns/${id}`).then(
    () =>
      toasts.show(t('Removed from the queue.'), {
        action: { label: t('Edit and resend'), run: () => write(content, attachmentsIn(metadata)) },
      }),
    (error: unknown) => {
      restore();
      toasts.error(error);
    },
  );
}
