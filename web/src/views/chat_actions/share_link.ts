/**
 * Shares a chat as a link: the exported file is stored by the gateway, or packed into the address. Both are shown by a
 * page that needs no token.
 */
import { mount, unmount } from 'svelte';
import type { Thread } from '../../api/types';
import { packed } from '../../shared/link';
import { address } from './links';
import { sharedFile } from './share';
import ShareDialog from './ShareDialog.svelte';

export async function shareLink(thread: Thread): Promise<void> {
  const file = await sharedFile(thread);
  const fragment = await packed(file);
  const long = fragment && address(fragment);
  let dialog = {};
  await new Promise<void>((close) => {
    dialog = mount(ShareDialog, { target: document.body, props: { thread, file, long, close } });
  });
  void unmount(dialog);
}
