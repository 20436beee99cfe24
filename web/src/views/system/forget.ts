/** Asks before removing all data of the page from this browser. */
import { stored } from '../../base/storage';
import { confirmDanger } from '../../components/confirm.svelte';
import { session } from '../../state/session.svelte';
import { t } from '../../base/language';

export async function forget(): Promise<void> {
  const text = t(
    'The token, drafts and unsent messages are deleted from this browser. Everything on the gateway is kept.',
  );
  if (await confirmDanger(t('Forget this browser?'), text, t('Forget'))) {
    // Fails if the gateway cannot be reached, which must not prevent forgetting.
    if (stored('push', null)) await import('./push').then(({ unsubscribe }) => unsubscribe().catch(() => {}));
    session.forget();
  }
}
