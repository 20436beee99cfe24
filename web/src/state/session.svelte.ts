/** The session of this browser: paired or not. */
import { authorize, post } from '../api/client';
import { socket } from '../api/socket.svelte';
import { router } from '../base/router.svelte';
import { clearStorage, disableStorage, onStorageChange, store, stored } from '../base/storage';

class Session {
  token = $state<string | null>(stored<string | null>('token', null));
  /** The token of this paired browser is no longer valid. */
  lost = $state(false);

  constructor() {
    authorize(this.token, () => this.#refused());
    onStorageChange<string>('token', (paired) => this.#begin(paired));
    onStorageChange('forgotten', () => this.#leave());
    if (this.token) socket.start(this.token);
  }

  /** Redeems a code. `keep`: stay paired after the browser is closed. Throws an ApiError. */
  async pair(code: string, keep: boolean): Promise<void> {
    const { token } = await post<{ token: string }>('/pair', { otp: code });
    if (keep) store('token', token);
    this.#begin(token);
  }

  /** Removes the token and all other data of the page from this browser, in all tabs. */
  forget(): void {
    clearStorage();
    // Only a moment, for the other tabs.
    store('forgotten', true);
    store('forgotten', undefined);
    this.#leave();
  }

  #begin(token?: string): void {
    if (!token || token === this.token) return;
    this.token = token;
    this.lost = false;
    authorize(token);
    socket.start(token);
  }

  /** Reloads the page, so that no data remains in memory that it could send or store. */
  #leave(): void {
    disableStorage();
    this.#end();
    location.reload();
  }

  #end(): void {
    this.token = null;
    authorize(null);
    socket.stop();
  }

  /** Called when the gateway rejects the token. Drafts and unsent messages stay. */
  #refused(): void {
    store('token', undefined);
    this.lost = true;
    this.#end();
  }
}

export const session = new Session();

/** Removes a token from the address, because the history would keep it. The page does not use the token. */
function cleanAddress(): void {
  const secret = /[?&#]token=/;
  if (!secret.test(location.search) && !secret.test(location.hash)) return;
  history.replaceState(null, '', location.pathname + location.hash.replace(/[?&#]token=[^&#]*/g, ''));
}
cleanAddress();
addEventListener('hashchange', cleanAddress);

/**
 * Returns the code in the address that `agw open` opens (`#code=123456`), and removes it before anything else happens.
 */
export function takeCode(): string | null {
  if (!/^#\/?code=/.test(location.hash)) return null;
  const code = /^#\/?code=(\d{6})$/.exec(location.hash)?.[1] ?? null;
  router.replace(['chats']);
  return code;
}
