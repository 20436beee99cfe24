/** Asks before everything is forgotten that this browser keeps. */
import { confirmed } from '../../parts/ask.svelte';
import { session } from '../../state/session.svelte';

export async function forget(): Promise<void> {
  const text = 'The token, drafts and messages that were not sent yet are deleted from this browser. The gateway keeps everything.';
  if (await confirmed('Forget this browser?', text, 'Forget')) session.forget();
}
