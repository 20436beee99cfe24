/** The browser that a person shares with the agents of a chat, and the connection to it (docs/contract/browsers.md). */
import { copyText } from '../../base/clipboard';
import { escapeInvisible } from '../../base/escape';
import { t } from '../../base/language';
import { toasts } from '../../base/toasts.svelte';
import { session } from '../../state/session.svelte';
import { hostOf } from './address';

export interface Size {
  width: number;
  height: number;
}

/** A picture of the active tab, and the size of the view in CSS pixels that it shows. */
export interface Picture extends Size {
  seq: number;
  src: string;
}

export interface BrowserTab {
  id: string;
  title: string;
  url: string;
  isLoading: boolean;
}

/** An element of the page: how to find it, and its box in CSS pixels of the view. Its texts are the website's. */
export interface PageElement extends Size {
  x: number;
  y: number;
  selector: string;
  html: string;
}

export interface SiteDialog {
  kind: 'alert' | 'confirm' | 'prompt' | 'beforeunload';
  message: string;
  default?: string;
}

export interface Refusal {
  host: string;
  reason: string;
  canAllow: boolean;
}

interface Messages {
  opened: { isNew: boolean };
  tabs: { tabs: BrowserTab[]; activeId: string; canGoBack: boolean; canGoForward: boolean };
  frame: Size & { seq: number; data: string };
  copied: { text: string };
  inspected: PageElement;
  dialog: SiteDialog;
  dialogClosed: object;
  refused: Refusal;
  agent: { action: string };
  closed: { reason: string };
  error: { status: number; error: string };
}
type Takers = { [Type in keyof Messages]: (message: Messages[Type]) => void };

const retryDelay = 1000;
const maxAttempts = 120;
const minSide = 100;
const maxSide = 4096;
const actionShownFor = 6000;
const maxRefusals = 20;

const reasons: Record<string, () => string> = {
  crashed: () => t('The browser has crashed.'),
  idle: () => t('The browser was ended, because nobody used it for 30 minutes.'),
  lifetime: () => t('The browser was ended after 24 hours.'),
  deleted: () => t('The browser was ended with its chat.'),
  disk: () => t('The browser was ended, because half of the free space was used up.'),
  processes: () => t('The browser was ended, because it had too many processes.'),
};

const steps = new Set(['back', 'forward', 'reload', 'stop']);

const side = (length: number): number => Math.max(minSide, Math.min(maxSide, Math.round(length)));

const connectToGateway = (token: string): WebSocket =>
  new WebSocket(`${location.origin.replace(/^http/, 'ws')}/browsers`, ['bearer', token]);

export class LiveBrowser {
  isOpen = $state(false);
  /** Why the browser has ended, as text to show; null before. */
  ended = $state<string | null>(null);
  /** Something that went wrong while the browser is open. */
  problem = $state('');
  /** What an agent is doing, for some seconds. */
  action = $state('');
  tabs = $state.raw<BrowserTab[]>([]);
  activeId = $state('');
  canGoBack = $state(false);
  canGoForward = $state(false);
  picture = $state.raw<Picture | null>(null);
  dialog = $state.raw<SiteDialog | null>(null);
  /** Refused connections of the page, the oldest first. */
  refusals = $state.raw<Refusal[]>([]);
  readonly active = $derived(this.tabs.find(({ id }) => id === this.activeId));
  /** The website that is shown, such as `example.org`; empty for an empty tab. */
  readonly host = $derived(hostOf(this.active?.url ?? ''));

  #socket: WebSocket | null = null;
  #size: Size | null = null;
  #attempts = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #actionTimer: ReturnType<typeof setTimeout> | undefined;
  /** Where to go if the browser has to be started again. */
  #address = '';
  /** Where a person wants to go as soon as the browser is open. */
  #next = '';
  #afterCopy = (): void => {};
  /** Waits for the one element that was asked for. */
  #inspected: ((answer: PageElement | string) => void) | null = null;

  constructor(
    readonly threadId: string,
    readonly connect: (token: string) => WebSocket = connectToGateway,
  ) {}

  /** Sets the size of the view. The first call opens the browser. */
  resize({ width, height }: Size): void {
    this.#size = { width: side(width), height: side(height) };
    if (this.#socket) this.#post({ type: 'resize', ...this.#size });
    else this.#connect();
  }

  /** Does nothing while there is no connection. */
  send(message: object): void {
    if (this.isOpen) this.#post(message);
  }

  /** `to`: an address, `back`, `forward`, `reload` or `stop`. An address waits for the connection. */
  go(to: string): void {
    this.refusals = [];
    this.problem = '';
    if (!this.isOpen && !steps.has(to)) this.#next = to;
    this.send({ type: 'go', to });
  }

  /** Copies the selected text of the site to the clipboard, then calls `then`. */
  copy(then: () => void = () => {}): void {
    this.#afterCopy = then;
    this.send({ type: 'copy' });
  }

  /** Asks for the element at a place of the view; `then` gets it, or why it cannot be named. One at a time. */
  inspect({ x, y }: { x: number; y: number }, then: (answer: PageElement | string) => void): void {
    if (this.#inspected) return;
    this.#inspected = then;
    if (this.isOpen) this.send({ type: 'inspect', x, y });
    else this.#answerInspection(t('Connecting…'));
  }

  /** Answers the dialog of the site. `text` answers a prompt. */
  answer(accept: boolean, text?: string): void {
    this.dialog = null;
    this.send({ type: 'dialog', accept, ...(text !== undefined && { text }) });
  }

  /** Allows the host of a refusal until this browser ends, and loads the page again. */
  allow(refusal: Refusal): void {
    this.dismiss(refusal);
    this.send({ type: 'allow', host: refusal.host });
    this.send({ type: 'go', to: 'reload' });
  }

  dismiss(refusal: Refusal): void {
    this.refusals = this.refusals.filter((one) => one !== refusal);
  }

  /** Ends the browser, with all its tabs. */
  end(): void {
    this.send({ type: 'close' });
    this.#address = '';
    this.#leave(t('Ended.'));
  }

  openAgain(): void {
    this.ended = null;
    this.#attempts = 0;
    this.#connect();
  }

  /** Closes the connection. The browser goes on for a while. */
  dispose(): void {
    clearTimeout(this.#actionTimer);
    this.#leave('');
  }

  #connect(): void {
    clearTimeout(this.#retryTimer);
    if (this.#socket || !this.#size || !session.token || this.ended !== null) return;
    const socket = this.connect(session.token);
    this.#socket = socket;
    socket.onopen = () => this.#post({ type: 'open', threadId: this.threadId, ...this.#size });
    socket.onmessage = ({ data }) => this.#take(String(data));
    socket.onclose = () => this.#lost(socket);
  }

  #take(text: string): void {
    const message = JSON.parse(text) as { type: keyof Messages };
    (this.#takers[message.type] as ((message: object) => void) | undefined)?.(message);
  }

  readonly #takers: Takers = {
    opened: ({ isNew }) => this.#opened(isNew),
    tabs: (message) => this.#showTabs(message),
    frame: ({ seq, data, width, height }) =>
      (this.picture = { seq, src: `data:image/jpeg;base64,${data}`, width, height }),
    copied: ({ text }) => void this.#copied(text),
    inspected: (element) => this.#answerInspection(element),
    dialog: (dialog) => (this.dialog = dialog),
    dialogClosed: () => (this.dialog = null),
    refused: (refusal) => this.#refused(refusal),
    agent: ({ action }) => this.#showAction(action),
    closed: ({ reason }) => this.#closed(reason),
    error: ({ error }) => this.#failed(escapeInvisible(error)),
  };

  #opened(isNew: boolean): void {
    this.#attempts = 0;
    this.isOpen = true;
    this.dialog = null;
    this.problem = '';
    const next = this.#next || (isNew && this.#address);
    this.#next = '';
    if (next) this.go(next);
  }

  #showTabs({ tabs, activeId, canGoBack, canGoForward }: Messages['tabs']): void {
    Object.assign(this, { tabs, activeId, canGoBack, canGoForward });
    const url = this.active?.url ?? '';
    if (/^https?:/.test(url)) this.#address = url;
  }

  async #copied(text: string): Promise<void> {
    this.#afterCopy();
    this.#afterCopy = () => {};
    if (text && !(await copyText(text))) toasts.error(t('This browser did not allow the page to copy.'));
  }

  #refused(refusal: Refusal): void {
    const others = this.refusals.filter(({ host }) => host !== refusal.host);
    this.refusals = [...others, refusal].slice(0, maxRefusals);
  }

  #showAction(action: string): void {
    clearTimeout(this.#actionTimer);
    this.action = escapeInvisible(action);
    this.#actionTimer = setTimeout(() => (this.action = ''), actionShownFor);
  }

  #closed(reason: string): void {
    // After a restart of the gateway, the page opens the browser again by itself.
    if (reason === 'stopped') return;
    if (reason === 'closed') this.#address = '';
    this.#leave(reasons[reason]?.() ?? t('Ended.'));
  }

  #answerInspection(answer: PageElement | string): void {
    this.#inspected?.(answer);
    this.#inspected = null;
  }

  #failed(error: string): void {
    if (this.#inspected) this.#answerInspection(error);
    else if (this.isOpen) this.problem = error;
    else this.#leave(error);
  }

  #post(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #lost(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    this.isOpen = false;
    this.#socket = null;
    this.#answerInspection(t('Connecting…'));
    if (++this.#attempts > maxAttempts) this.#leave(t('The gateway cannot be reached.'));
    else this.#retryTimer = setTimeout(() => this.#connect(), retryDelay);
  }

  #leave(why: string): void {
    clearTimeout(this.#retryTimer);
    const socket = this.#socket;
    this.#socket = null;
    this.isOpen = false;
    this.dialog = null;
    this.picture = null;
    this.tabs = [];
    this.refusals = [];
    this.ended = why;
    this.#answerInspection(why);
    socket?.close();
  }
}
