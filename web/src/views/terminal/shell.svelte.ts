/** A terminal on the gateway's machine, and its screen. */
import { Terminal } from '@xterm/xterm';
import './sheet';
import { escapeInvisible } from '../../base/escape';
import { session } from '../../state/session.svelte';
import { t } from '../../base/language';

/** The directory of a terminal: a project, or else the workspace of an agent. */
export interface Place {
  projectId?: string | undefined;
  agentId?: string | undefined;
  name: string;
}

interface Message {
  type: 'opened' | 'output' | 'closed' | 'error';
  id: string;
  isNew: boolean;
  seq: number;
  data: string;
  reason: string;
  exitCode?: number;
  status: number;
  error: string;
}

const retryDelay = 1000;
/** Two minutes of retries, because the gateway keeps a disconnected terminal for that time. */
const maxAttempts = 120;
const maxInput = 16_384;
const scrollback = 5000;

const reasons: Record<string, () => string> = {
  moved: () => t('The terminal was opened elsewhere.'),
  idle: () => t('The terminal was ended, because nothing happened in it for four hours.'),
  lifetime: () => t('The terminal was ended after 24 hours.'),
  deleted: () => t('The terminal was ended with its project.'),
  disk: () => t('The terminal was ended, because half of the free space was used up.'),
  processes: () => t('The terminal was ended, because it had too many processes.'),
  stopped: () => t('The gateway has stopped.'),
};

export class Shell {
  /** The gateway's id of the terminal; empty until it is open. */
  id = $state('');
  isOpen = $state(false);
  /** Why the terminal has ended, as text to show; null before. */
  ended = $state<string | null>(null);
  readonly screen = new Terminal({ scrollback, screenReaderMode: true, minimumContrastRatio: 4.5 });

  #socket: WebSocket | null = null;
  #attempts = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  /** Earlier output is being repeated. xterm's replies to queries in it are dropped, as programs already got them. */
  #isRepeating = false;

  constructor(
    readonly place: Place,
    id = '',
  ) {
    this.id = id;
    this.screen.onData((text) => this.#isRepeating || this.#type(text));
    this.screen.onResize(({ cols, rows }) => this.#send({ type: 'resize', columns: cols, rows }));
  }

  /** Connects, unless connected. Preferably called once the screen has its size, which is sent to the gateway. */
  connect(): void {
    clearTimeout(this.#retryTimer);
    if (this.#socket || !session.token || this.ended !== null) return;
    const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/terminals`, ['bearer', session.token]);
    this.#socket = socket;
    socket.onopen = () => this.#open();
    socket.onmessage = ({ data }) => this.#take(JSON.parse(String(data)) as Message);
    socket.onclose = () => this.#lost(socket);
  }

  /** Ends the shell and all processes that it has started. */
  end(): void {
    this.#send({ type: 'close' });
    this.#leave(t('Ended.'));
  }

  dispose(): void {
    this.#leave('');
    this.screen.dispose();
  }

  #open(): void {
    const { projectId, agentId } = this.place;
    const { cols, rows } = this.screen;
    this.#send({ type: 'open', id: this.id || undefined, projectId, agentId, columns: cols, rows });
  }

  #take(message: Message): void {
    if (message.type === 'opened') {
      this.#attempts = 0;
      if (this.id) this.screen.reset();
      this.#isRepeating = !message.isNew;
      this.id = message.id;
      this.isOpen = true;
    } else if (message.type === 'output') {
      this.screen.write(message.data, () => {
        this.#isRepeating = false;
        this.#send({ type: 'shown', seq: message.seq });
      });
    } else if (message.type === 'closed') {
      this.#leave(
        reasons[message.reason]?.() ??
          (message.exitCode ? t('Ended with status {status}.', { status: message.exitCode }) : t('Ended.')),
      );
    } else if (!this.isOpen) {
      this.#leave(escapeInvisible(message.error));
    }
  }

  #type(text: string): void {
    for (let at = 0; at < text.length; at += maxInput)
      this.#send({ type: 'input', data: text.slice(at, at + maxInput) });
  }

  #send(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #lost(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    this.isOpen = false;
    this.#socket = null;
    if (++this.#attempts > maxAttempts) this.#leave(t('The gateway cannot be reached.'));
    else this.#retryTimer = setTimeout(() => this.connect(), retryDelay);
  }

  #leave(why: string): void {
    clearTimeout(this.#retryTimer);
    const socket = this.#socket;
    this.#socket = null;
    this.isOpen = false;
    this.ended ??= why;
    socket?.close();
  }
}
