/**
 * Browser notifications and sounds, if enabled. Notifications appear only while all tabs of the page are hidden, and
 * contain no text of agents.
 */
import { socket } from '../api/socket.svelte';
import type { GatewayEvent } from '../api/events';
import { onDemand } from '../api/on_demand';
import { router } from '../base/router.svelte';
import { store, stored } from '../base/storage';
import { isAnyVisible } from '../base/visible_tabs';
import { t } from '../base/language';

const pushedAfter = 60_000;
/** During shorter runs, people have probably not looked away. */
const soundAfter = 20_000;

/** Whether the gateway sends a push notification for this event while the page is hidden. */
function isPushed(event: GatewayEvent): boolean {
  const kinds = stored<string[]>('push', []);
  return kinds.includes(event.type) && (event.type !== 'finish' || event.durationMs > pushedAfter);
}

/** Plays two short, soft notes. */
function chime(): void {
  const context = new AudioContext();
  const volume = new GainNode(context, { gain: 0.1 });
  volume.connect(context.destination);
  volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + 0.7);
  const tone = new OscillatorNode(context, { frequency: 587 });
  tone.frequency.setValueAtTime(880, context.currentTime + 0.15);
  tone.connect(volume);
  tone.onended = () => void context.close();
  tone.start();
  tone.stop(context.currentTime + 0.7);
}

/** Runs `work` in only one tab. Browsers provide locks only in secure contexts; elsewhere each tab runs it. */
async function inOneTab(work: () => void): Promise<void> {
  if (!navigator.locks) return work();
  const meanwhile = 1000;
  await navigator.locks.request('agw.sound', { ifAvailable: true }, async (lock) => {
    if (!lock) return;
    work();
    await new Promise((done) => setTimeout(done, meanwhile));
  });
}

class Notifications {
  readonly isSupported = 'Notification' in globalThis && isSecureContext;
  isEnabled = $state(stored('notices', false));
  sounds = $state(stored('sound', false));

  constructor() {
    socket.listen((event) => this.#take(event));
    // The push subscription of this browser may have expired. It is checked after the first view is shown.
    if (stored('push', null))
      setTimeout(
        () => void onDemand(() => import('../views/system/push')).then(({ renew }) => renew().catch(console.warn)),
        5000,
      );
  }

  async enable(on: boolean): Promise<void> {
    this.isEnabled = on && (await Notification.requestPermission()) === 'granted';
    store('notices', this.isEnabled || undefined);
  }

  enableSound(on: boolean): void {
    this.sounds = on;
    store('sound', on || undefined);
    if (on) chime();
  }

  #take(event: GatewayEvent): void {
    // The setting is read again, because another tab may have changed it. Browsers block sound in tabs without user
    // activation.
    const sounds = navigator.userActivation?.hasBeenActive !== false && stored('sound', false);
    if (sounds && event.type === 'finish' && event.durationMs >= soundAfter) void inOneTab(chime);
    if (!this.isEnabled || !this.isSupported || !document.hidden || isPushed(event)) return;
    if (event.type === 'finish') void this.#show(t('An answer is ready.'));
    else if (event.type === 'proposal-created') void this.#show(t('A proposal is waiting for you.'));
    else if (event.type === 'permission-requested')
      void this.#show(
        event.request.kind === 'question' ? t('An agent asks you.') : t('An agent asks for permission.'),
        event,
      );
  }

  /** A click opens the chat. */
  async #show(body: string, at?: { threadId: string }): Promise<void> {
    try {
      if (await isAnyVisible()) return;
      const shown = new Notification('Agent Gateway', { body, tag: 'agw', icon: '/ui/icon-192.png' });
      if (!at) return;
      shown.onclick = () => {
        focus();
        router.push(['t', at.threadId]);
      };
    } catch (error) {
      console.warn('no notification:', error);
    }
  }
}

export const notifications = new Notifications();
