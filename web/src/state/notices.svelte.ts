/** Notifications of the browser, for who wants them: only while the page is hidden, and without any text of an agent. */
import { line } from '../api/line.svelte';
import type { GatewayEvent } from '../api/events';
import { store, stored } from '../base/storage';

class Notices {
  readonly possible = 'Notification' in globalThis && isSecureContext;
  wanted = $state(stored('notices', false));

  constructor() {
    line.listen((event) => this.#take(event));
  }

  async want(on: boolean): Promise<void> {
    this.wanted = on && (await Notification.requestPermission()) === 'granted';
    store('notices', this.wanted || undefined);
  }

  #take({ type }: GatewayEvent): void {
    if (!this.wanted || !this.possible || !document.hidden) return;
    if (type === 'finish') this.#show('An answer has ended.');
    else if (type === 'proposal-created') this.#show('A proposal waits for you.');
  }

  #show(body: string): void {
    try {
      new Notification('Agent Gateway', { body, tag: 'agw', icon: '/ui/icon-192.png' });
    } catch (error) {
      console.warn('the browser shows no notification:', error);
    }
  }
}

export const notices = new Notices();
