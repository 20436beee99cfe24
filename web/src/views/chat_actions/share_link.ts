/** Shares a chat as a link: the exported file is packed into the address of a page that needs no token. */
import type { Thread } from '../../api/types';
import { locale, t } from '../../base/language';
import { toasts } from '../../base/toasts.svelte';
import { confirmations } from '../../components/confirm.svelte';
import { maxFragment, packed } from '../../shared/link';
import { saveShared, sharedFile } from './share';

const page = '/ui/shared.html';
/** Programs for messages and mail may cut links that are longer. */
const unsureLength = 2000;
const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$|\.localhost$/.test(location.hostname);

/** The notes to read before passing the link on. */
function about(length: number): string {
  const { host } = location;
  const size = t('It is {count} characters long.', { count: length.toLocaleString(locale) });
  return [
    t('The link contains the whole chat, without secrets and without what tools got and gave.'),
    t('Anyone who has the link can read the chat, and you cannot take it back.'),
    isLoopback
      ? t('Only this machine can open it, because {host} is an address of this machine only. Others need the file.', {
          host,
        })
      : t('It opens only where {host} can be reached. Elsewhere, the file is needed.', { host }),
    length > unsureLength ? `${size} ${t('Many programs for messages and mail cut links of this length.')}` : size,
  ].join('\n\n');
}

async function offerFile(thread: Thread, length: number): Promise<void> {
  const yes = await confirmations.ask({
    title: t('Share as a link'),
    text: t('This chat is too long for a link: {count} characters, of at most {most}. Send the file.', {
      count: length.toLocaleString(locale),
      most: maxFragment.toLocaleString(locale),
    }),
    confirm: t('Share as a file'),
    danger: false,
  });
  if (yes) await saveShared(thread);
}

export async function shareLink(thread: Thread): Promise<void> {
  const file = await sharedFile(thread);
  const { length, fragment } = await packed(await file.text());
  if (!fragment) return offerFile(thread, length);
  const link = location.origin + page + fragment;
  const yes = await confirmations.ask({
    title: t('Share as a link'),
    text: about(link.length),
    confirm: t('Copy link'),
    danger: false,
  });
  if (!yes) return;
  const wasCopied = await navigator.clipboard?.writeText(link).then(
    () => true,
    () => false,
  );
  const words = wasCopied
    ? t('Link copied. Read the chat before you pass it on.')
    : t('The browser blocked copying. Open the link and copy its address.');
  toasts.show(words, { action: { label: t('Open'), run: () => open(link, '_blank', 'noopener') } });
}
