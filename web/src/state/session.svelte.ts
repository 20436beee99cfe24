/** Who this browser is to the gateway: paired, or asked to pair. */
import { authorize, post } from '../api/client';
import { line } from '../api/line.svelte';
import { place } from '../base/route.svelte';
import { forgetAll, keepNothing, store, stored } from '../base/storage';

const tabs = new BroadcastChannel('agw.session');

class Session {
  token = $state<string | null>(stored<string | null>('token', null));
  /** Why a browser that was paired has to pair again. */
  lost = $state(false);

  constructor() {
    authorize(this.token, () => this.#refused());
    tabs.onmessage = ({ data }) => {
      if (data === 'forgotten') this.#leave();
      else if (data === 'paired') this.#begin(stored<string | null>('token', null));
    };
    if (this.token) line.start(this.token);
  }

  /** Redeems a code. `keep`: also after the browser was closed. Throws the gateway's refusal. */
  async pair(code: string, keep: boolean): Promise<void> {
    const { token } = await post<{ token: string }>('/pair', { otp: code });
    if (keep) store('token', token);
    this.#begin(token);
    if (keep) tabs.postMessage('paired');
  }

  /** Forgets the token and everything else that this browser keeps, in all tabs. */
  forget(): void {
    forgetAll();
    tabs.postMessage('forgotten');
    this.#leave();
  }

  #begin(token: string | null): void {
    if (!token || token === this.token) return;
    this.token = token;
    this.lost = false;
    authorize(token);
    line.start(token);
  }

  /** Begun anew, the page holds nothing more in its memory that it could send or keep. */
  #leave(): void {
    keepNothing();
    this.#end();
    location.reload();
  }

  #end(): void {
    this.token = null;
    authorize(null);
    line.stop();
  }

  /** Drafts and what waits to be sent stay. */
  #refused(): void {
    store('token', undefined);
    this.lost = true;
    this.#end();
  }
}

export const session = new Session();

/** A token has no business in an address, where histories keep it: it is not taken, and does not stay there. */
function cleanAddress(): void {
  const secret = /[?&#]token=/;
  if (!secret.test(location.search) && !secret.test(location.hash)) return;
  history.replaceState(null, '', location.pathname + location.hash.replace(/[?&#]token=[^&#]*/g, ''));
}
cleanAddress();
addEventListener('hashchange', cleanAddress);

/** `#code=123456` of `agw open`: taken out of the address before anything else is done with it. */
export function takeCode(): string | null {
  if (!/^#\/?code=/.test(location.hash)) return null;
  const code = /^#\/?code=(\d{6})$/.exec(location.hash)?.[1] ?? null;
  place.replace(['chats']);
  return code;
}
