/** Browser notifications, if enabled: only while the page is hidden, and without any text of an agent. */
import { socket } from '../api/socket.svelte';
import type { GatewayEvent } from '../api/events';
import { store, stored } from '../base/storage';

class Notifications {
  readonly isSupported = 'Notification' in globalThis && isSecureContext;
  isEnabled = $state(stored('notices', false));

  constructor() {
    socket.listen((event) => this.#take(event));
  }

  async enable(on: boolean): Promise<void> {
    this.isEnabled = on && (await Notification.requestPermission()) === 'granted';
    store('notices', this.isEnabled || undefined);
  }

  #take({ type }: GatewayEvent): void {
    if (!this.isEnabled || !this.isSupported || !document.hidden) return;
    if (type === 'finish') this.#show('An answer is ready.');
    else if (type === 'proposal-created') this.#show('A proposal is waiting for you.');
  }

  #show(body: string): void {
    try {
      new Notification('Agent Gateway', { body, tag: 'agw', icon: '/ui/icon-192.png' });
    } catch (error) {
      console.warn('the browser shows no notification:', error);
    }
  }
}

export const notifications = new Notifications();
