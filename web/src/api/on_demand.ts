import { t } from '../base/language';
import { reload, toasts } from '../base/toasts.svelte';
import { socket } from './socket.svelte';

/** Milliseconds after which a broken connection has been noticed, usually. */
const pause = 1000;

/**
 * Loads code that is needed now. What cannot be loaded is tried again once the gateway can be reached, so this never
 * rejects. Firefox remembers failures until the page is reloaded, and a newer gateway lacks this page's files: then a
 * message says so.
 */
export async function onDemand<T>(load: () => Promise<T>): Promise<T> {
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await load();
    } catch (error) {
      console.warn(error);
      const isLost = !isFirst && socket.open;
      if (isLost) toasts.error(t('This part of the page could not be loaded.'), reload, true);
      else await new Promise((passed) => setTimeout(passed, pause));
      if (isLost || !socket.open) await socket.reconnected();
    }
  }
}
