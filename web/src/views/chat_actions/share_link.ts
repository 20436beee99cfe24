/** Shares a chat as a link: the exported file is packed into the address of a page that needs no token. */
import { mount, unmount } from 'svelte';
import type { Thread } from '../../api/types';
import { locale, t } from '../../base/language';
import { toasts } from '../../base/toasts.svelte';
import { packed } from '../../shared/link';
import { save, sharedFile } from './share';
import ShareDialog from './ShareDialog.svelte';

const page = '/ui/shared.html';
/** Some programs for messages and mail cut links that are longer. */
const unsureLength = 2000;
/** Few programs for messages and mail accept messages that are longer. */
const unlikelyLength = 32_768;
const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$|\.localhost$/.test(location.hostname);

function aboutLength(length: number): string {
  const size = t('It is {count} characters long.', { count: length.toLocaleString(locale) });
  if (length > unlikelyLength)
    return `${size} ${t('Most programs for messages and mail cut links of this length; send the file there.')}`;
  return length > unsureLength ? `${size} ${t('Many programs for messages and mail cut links of this length.')}` : size;
}

/** The notes to read before passing the link on. */
function about(length: number): string[] {
  const { host } = location;
  return [
    t('The link contains the whole chat, without secrets and without what tools got and gave.'),
    t('Anyone who has the link can read the chat, and you cannot take it back.'),
    isLoopback
      ? t('Only this machine can open it, because {host} is an address of this machine only. Others need the file.', {
          host,
        })
      : t('It opens only where {host} can be reached. Elsewhere, the file is needed.', { host }),
    aboutLength(length),
  ];
}

type Choice = 'link' | 'file' | undefined;

async function ask(notes: string[], hasLink: boolean): Promise<Choice> {
  let dialog = {};
  const choice = await new Promise<Choice>((answer) => {
    dialog = mount(ShareDialog, { target: document.body, props: { notes, hasLink, answer } });
  });
  void unmount(dialog);
  return choice;
}

async function copy(link: string): Promise<void> {
  const wasCopied = await navigator.clipboard?.writeText(link).then(
    () => true,
    () => false,
  );
  const words = wasCopied
    ? t('Link copied. Read the chat before you pass it on.')
    : t('The browser blocked copying. Open the link and copy its address.');
  toasts.show(words, { action: { label: t('Open'), run: () => open(link, '_blank', 'noopener') } });
}

export async function shareLink(thread: Thread): Promise<void> {
  const file = await sharedFile(thread);
  const fragment = await packed(file);
  const link = fragment && location.origin + page + fragment;
  const notes = link ? about(link.length) : [t('This chat is too long for a link. Send the file.')];
  const choice = await ask(notes, !!link);
  if (choice === 'file') save(file);
  else if (choice && link) await copy(link);
}
