/** Links to chats: encrypted by this page and stored by the gateway, which never gets the key. */
import { apiPath, post } from '../../api/client';
import type { SharedLink, Thread } from '../../api/types';
import { copyText } from '../../base/clipboard';
import { t } from '../../base/language';
import { toasts } from '../../base/toasts.svelte';
import { deflated, maxStoredContent } from '../../shared/link';
import { fragmentOf } from '../../shared/stored';

/** Of the page that shows a shared chat. */
export const address = (fragment: string): string => `${location.origin}/ui/shared.html${fragment}`;
const keySize = 32;
const maxSealed = 8 * 1024 * 1024;

/** Stores the chat and returns its link, which works for `days`. */
export async function createLink({ id }: Thread, content: Blob, days: string): Promise<string> {
  const { sealed } = await import('../../shared/sealed');
  const key = crypto.getRandomValues(new Uint8Array(keySize));
  const bytes = content.size <= maxStoredContent ? sealed(key, await deflated(content)) : undefined;
  if (!bytes || bytes.length > maxSealed) throw new Error(t('This chat is too long for a link. Send the file.'));
  const made = await post<SharedLink>(apiPath`/threads/${id}/links`, new Blob([bytes]), { query: { days } });
  return address(fragmentOf(made.id, key));
}

export async function copyLink(link: string): Promise<void> {
  const words = (await copyText(link))
    ? t('Link copied. Read the chat before you pass it on.')
    : t('The browser blocked copying. Open the link and copy its address.');
  toasts.show(words, { action: { label: t('Open'), run: () => open(link, '_blank', 'noopener') } });
}
