/** What takes a chat out of the list; fetched when it is asked for. */
import { patch, post, remove } from '../../api/client';
import type { Thread } from '../../api/types';
import { escapeInvisible } from '../../base/escape';
import { t, tn } from '../../base/language';
import { router } from '../../base/router.svelte';
import { toasts, tryOrToast } from '../../base/toasts.svelte';
import { confirmDanger } from '../../components/confirm.svelte';
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
