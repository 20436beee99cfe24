/** Push notifications to this browser while the page is closed. Loaded on demand. */
import { apiPath, get, post, remove } from '../../api/client';
import { socket } from '../../api/socket.svelte';
import type { PushSubscription as Subscription } from '../../api/types';
import { toBase64url } from '../../base/base64url';
import { store, stored } from '../../base/storage';
import { t } from '../../base/language';

export type PushKind = Subscription['kinds'][number];

const isApple =
  /iPhone|iPad/.test(navigator.userAgent) || (/Mac/.test(navigator.userAgent) && 'ontouchend' in document);

/** Explains why this browser cannot get notifications, and what to do. Empty if it can. */
export function obstacle(): string {
  if (!isSecureContext) return t('To be notified while this page is closed, open it at an https address.');
  if (!('serviceWorker' in navigator) || !('PushManager' in window)) {
    return isApple
      ? t(
          'To be notified while this page is closed, install it first: Share, then Add to Home Screen. Then open it there.',
        )
      : t('This browser cannot be notified while the page is closed.');
  }
  if (Notification.permission === 'denied')
    return t('Notifications of this page are blocked. Allow them in the settings of the browser.');
  return '';
}

const device = (): string => stored('device', '');

/** The gateway's subscription of this browser, if there is one. */
export async function current(): Promise<Subscription | undefined> {
  if (!device()) return undefined;
  return (await get<Subscription[]>('/push/subscriptions')).find((found) => found.device === device());
}

async function register(): Promise<ServiceWorkerRegistration> {
  const { policy, workerAddress } = await import('../../markdown/highlight');
  await navigator.serviceWorker.register(policy.createScriptURL(workerAddress), { scope: '/ui/' });
  return navigator.serviceWorker.ready;
}

function isFor(subscription: PushSubscription, key: string): boolean {
  const own = subscription.options.applicationServerKey;
  return !!own && toBase64url(new Uint8Array(own)) === key;
}

async function fromBrowser(): Promise<PushSubscription> {
  const { pushManager } = await register();
  const { public_key: key } = await get<{ public_key: string }>('/push/key');
  const known = await pushManager.getSubscription();
  if (known && isFor(known, key)) return known;
  await known?.unsubscribe();
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

/** Subscribes this browser, or changes the kinds of its notifications. Throws errors with texts to show. */
export async function subscribe(kinds: PushKind[]): Promise<Subscription> {
  if ((await Notification.requestPermission()) !== 'granted') throw new Error(t('The browser blocked notifications.'));
  const subscription = await fromBrowser().catch((error: unknown) => {
    throw error instanceof DOMException
      ? new Error(t('The push service of this browser refused: {message}', { message: error.message }))
      : error;
  });
  const name = device() || crypto.randomUUID();
  const made = await post<Subscription>('/push/subscriptions', { ...subscription.toJSON(), kinds, device: name });
  store('device', name);
  store('push', kinds);
  socket.showPresence();
  return made;
}

/** Ends the subscription at the gateway, if it can be reached, and in the browser. */
export async function unsubscribe(): Promise<void> {
  try {
    const own = await current();
    if (own) await remove(apiPath`/push/subscriptions/${own.id}`);
  } finally {
    store('device', undefined);
    store('push', undefined);
    const registration = await navigator.serviceWorker?.getRegistration('/ui/');
    await (await registration?.pushManager?.getSubscription())?.unsubscribe();
  }
}

/** Subscribes again if the gateway no longer has the subscription: push services expire them. */
export async function renew(): Promise<void> {
  const kinds = stored<PushKind[] | null>('push', null);
  if (!kinds || obstacle() || Notification.permission !== 'granted') return;
  if (!(await current())) await subscribe(kinds);
}
