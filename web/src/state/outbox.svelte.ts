/** Unsent messages: stored in this browser until the gateway has them, and retried with the same idempotency key. */
import { ApiError, patch, post } from '../api/client';
import { socket } from '../api/socket.svelte';
import type { Attachment, ModeName, Thread, Turn } from '../api/types';
import { onStorageChange, store, stored } from '../base/storage';

export interface OutgoingMessage {
  key: string;
  /** null until a thread has been created for the message. */
  threadId: string | null;
  /** The thread was created for this message, and stays empty unless the message arrives. */
  createdThread?: boolean;
  content: string;
  agentId?: string | undefined;
  projectId?: string | undefined;
  mode?: ModeName | undefined;
  model?: string | undefined;
  attachments?: Attachment[] | undefined;
  delivery?: 'steer' | 'interrupt' | undefined;
  at: number;
  state: 'sending' | 'waiting' | 'failed';
  error?: string | undefined;
  /** Its tab was closed. */
  left?: boolean | undefined;
}

/** Failed deliveries are retried even while the WebSocket is connected. */
const retryDelay = 3000;

type Delivered = (message: OutgoingMessage, turn: Turn) => void;
type ThreadCreated = (threadId: string) => void;

class Outbox {
  messages = $state<OutgoingMessage[]>(stored<OutgoingMessage[]>('outbox', []));
  #busy = new Set<string>();
  /** The keys of all messages that this tab handles. */
  #own = new Set<string>(this.messages.map(({ key }) => key));
  #delivered = new Set<Delivered>();
  #threadCreated = new Set<ThreadCreated>();

  constructor() {
    socket.listen((event) => {
      if (event.type === 'reconnected') this.sendAll();
    });
    // A message that another tab has sent or discarded must not come back from here.
    onStorageChange<OutgoingMessage[]>('outbox', (now = [], before = []) => {
      for (const { key } of before) if (!now.some((one) => one.key === key)) this.#remove(key);
      const left = now.filter((one) => one.left && !this.#own.has(one.key));
      for (const message of left) this.#take(message);
      if (left.length) this.sendAll();
    });
    // The other tabs send what this one leaves.
    addEventListener('pagehide', () => this.#keep(true));
  }

  onDelivered(listener: Delivered): () => void {
    this.#delivered.add(listener);
    return () => this.#delivered.delete(listener);
  }

  /**
   * Calls `listener` with a thread that was created for a first message whose delivery then failed; the message is
   * shown in that thread.
   */
  onThreadCreated(listener: ThreadCreated): () => void {
    this.#threadCreated.add(listener);
    return () => this.#threadCreated.delete(listener);
  }

  of(threadId: string | null): OutgoingMessage[] {
    return this.messages.filter((message) => message.threadId === threadId);
  }

  add(message: Omit<OutgoingMessage, 'key' | 'at' | 'state'>): OutgoingMessage {
    const added: OutgoingMessage = { ...message, key: newKey(), at: Date.now(), state: 'sending' };
    this.#take(added);
    this.#keep();
    void this.send(added.key);
    return added;
  }

  #take(message: OutgoingMessage): void {
    this.messages.push(message);
    this.#own.add(message.key);
  }

  discard(key: string): void {
    this.#remove(key);
    this.#keep();
  }

  #remove(key: string): void {
    const message = this.messages.find((one) => one.key === key);
    this.messages = this.messages.filter((one) => one !== message);
    if (message) this.#sendNext(message);
  }

  sendAll(): void {
    for (const { key, state } of this.messages) if (state !== 'failed') void this.send(key);
  }

  /** Messages of one thread are sent one at a time, so that they arrive in order. */
  async send(key: string): Promise<void> {
    const message = this.messages.find((one) => one.key === key);
    if (!message || this.#busy.has(key)) return;
    const ahead = this.of(message.threadId).find((other) => other.state !== 'failed');
    if (message.threadId && ahead && ahead.key !== key) return;
    this.#busy.add(key);
    const isFirst = !message.threadId;
    message.state = 'sending';
    message.error = undefined;
    try {
      const turn = await deliver(message, () => this.#keep());
      this.discard(key);
      for (const listener of this.#delivered) listener({ ...message }, turn);
    } catch (error) {
      message.state = error instanceof ApiError && (error.isTransient || error.status === 401) ? 'waiting' : 'failed';
      message.error = error instanceof Error ? error.message : String(error);
      if (message.state === 'waiting') {
        setTimeout(() => void this.send(key), retryDelay);
        for (const behind of this.#waitingBehind(message)) behind.state = 'waiting';
      }
      this.#keep();
      if (isFirst && message.threadId) for (const listener of this.#threadCreated) listener(message.threadId);
    } finally {
      this.#busy.delete(key);
    }
    if (message.state === 'failed') this.#sendNext(message);
  }

  #sendNext(message: OutgoingMessage): void {
    const [next] = this.#waitingBehind(message);
    if (next) void this.send(next.key);
  }

  /** The messages of the same thread that wait for this one. */
  #waitingBehind(message: OutgoingMessage): OutgoingMessage[] {
    return message.threadId
      ? this.of(message.threadId).filter((other) => other.key !== message.key && other.state !== 'failed')
      : [];
  }

  /** Stores the messages of this tab without removing those of other tabs. */
  #keep(left?: boolean): void {
    const others = stored<OutgoingMessage[]>('outbox', []).filter(({ key }) => !this.#own.has(key));
    const all = [...others, ...this.messages.map((message) => ({ ...message, left }))];
    store('outbox', all.length ? all : undefined);
  }
}

/** `crypto.randomUUID` does not exist on pages served over plain HTTP, as on a phone in the local network. */
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

async function deliver(message: OutgoingMessage, keep: () => void): Promise<Turn> {
  if (!message.threadId) {
    const asked = { agent_id: message.agentId, project_id: message.projectId };
    const thread = await post<Thread>('/threads', asked, { key: `${message.key}-thread` });
    if (message.mode && message.mode !== thread.mode) await patch(`/threads/${thread.id}`, { mode: message.mode });
    message.threadId = thread.id;
    message.createdThread = true;
    store(`draft.${thread.id}.model`, message.model);
    keep();
  }
  const { content, threadId, agentId, model, attachments, delivery } = message;
  const ids = attachments?.map(({ id }) => id);
  const body = { content, threadId, agentId, model, attachments: ids, delivery };
  return post<Turn>('/chat', body, { key: message.key });
}

export const outbox = new Outbox();
