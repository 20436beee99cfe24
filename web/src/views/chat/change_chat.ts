/** What changes chats and their messages, or takes them away; fetched when it is asked for. */
import { ApiError, apiPath, patch, post, remove } from '../../api/client';
import type { Attachment, Thread, Turn } from '../../api/types';
import { escapeInvisible } from '../../base/escape';
import { t, tn } from '../../base/language';
import { router } from '../../base/router.svelte';
import { toasts, tryOrToast } from '../../base/toasts.svelte';
import { confirmDanger } from '../../components/confirm.svelte';
import { moveFocus } from '../../components/focus';
import type { Conversation } from '../../state/conversation.svelte';
import { outbox } from '../../state/outbox.svelte';
import { threads } from '../../state/threads.svelte';

function leave(id: string): void {
  const isSecond = threads.secondId === id;
  if (threads.beside === id) threads.showBeside(null);
  if (!isSecond) router.push(['chats']);
}

/** Archives a chat, which can be undone, or takes it out of the archive. */
export async function archive({ id, archived }: Thread): Promise<void> {
  if (!(await tryOrToast(() => patch(`/threads/${id}`, { archived: !archived }))) || archived) return;
  leave(id);
  toasts.show(t('Archived.'), {
    action: { label: t('Undo'), run: () => void tryOrToast(() => patch(`/threads/${id}`, { archived: false })) },
  });
}

/** Deletes a chat for good, after a question. */
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
    // A chat cannot be deleted while it is being answered.
    if (isRunning()) await post('/chat/stop', { threadId: id });
    await remove(`/threads/${id}`);
  });
  if (done) {
    threads.drop(id);
    leave(id);
  }
}

/** A separate chat with the conversation up to a turn. */
export async function fork(id: string, turnId: string): Promise<void> {
  const thread = await post<Thread>(apiPath`/threads/${id}/fork`, { turnId });
  // Told apart from the original in the list.
  threads.put(await patch<Thread>(apiPath`/threads/${thread.id}`, { title: `${thread.title} (fork)` }));
  router.push(['t', thread.id]);
}

const retryDelay = 100;
const maxAttempts = 50;

/** A thread is in use for a moment after its answer was stopped. */
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

/** Stopping an answer drops the queue at the gateway: the first message is answered next, the others are queued again. */
export async function answerQueued(conversation: Conversation, [next, ...others]: Turn[]): Promise<void> {
  if (!next) return;
  await tryOrToast(async () => {
    await whenIdle(() => post(`/turns/${next.id}/regenerate`));
    conversation.expect(next.id);
    for (const { id: turn, content, metadata } of others) {
      outbox.add({ threadId: conversation.id, content, attachments: attachmentsIn(metadata) });
      await remove(`/turns/${turn}`);
    }
  });
}

/** Deletes turns at the gateway once Undo has expired, or when the page is closed. `log`: null once the chat was left. */
export function deleteTurns(conversation: Conversation, ids: string[], log: () => Element | null): void {
  const restore = conversation.hide(ids);
  let isLeft = false;
  const onDismiss = (): void => {
    removeEventListener('pagehide', left);
    conversation.delete(ids, isLeft).catch((error: unknown) => {
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

/** A queued message is deleted immediately, or it could be answered in the meantime; its text can be edited again. */
export function takeBack(conversation: Conversation, { id, content }: Turn, write: (text: string) => void): void {
  const restore = conversation.hide([id]);
  conversation.delete([id]).then(
    () =>
      toasts.show(t('Removed from the queue.'), { action: { label: t('Edit and resend'), run: () => write(content) } }),
    (error: unknown) => {
      restore();
      toasts.error(error);
    },
  );
}
