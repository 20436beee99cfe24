/** Messages on their way: kept in this browser until the gateway has them, sent again with the same key after a cut. */
import { Refusal, patch, post } from '../api/client';
import { line } from '../api/line.svelte';
import type { Attachment, ModeName, Thread, Turn } from '../api/types';
import { store, stored } from '../base/storage';

export interface Letter {
  key: string;
  /** null: a thread is made for it first. */
  threadId: string | null;
  content: string;
  agentId?: string | undefined;
  projectId?: string | undefined;
  mode?: ModeName | undefined;
  model?: string | undefined;
  attachments?: Attachment[] | undefined;
  at: number;
  state: 'sending' | 'waiting' | 'failed';
  error?: string | undefined;
}

/** A message that did not get through is tried again, also where the line of events is well. */
const retryAfter = 3000;

type Delivered = (letter: Letter, turn: Turn) => void;
type Begun = (threadId: string) => void;

class Outbox {
  letters = $state<Letter[]>(stored<Letter[]>('outbox', []));
  #busy = new Set<string>();
  /** All that this tab knows the fate of. */
  #own = new Set<string>(this.letters.map(({ key }) => key));
  #delivered = new Set<Delivered>();
  #begun = new Set<Begun>();

  constructor() {
    line.listen((event) => {
      if (event.type === 'reconnected') this.sendAll();
    });
  }

  onDelivered(listener: Delivered): () => void {
    this.#delivered.add(listener);
    return () => this.#delivered.delete(listener);
  }

  /** Told of a thread that was made for a first message which did not get into it: it is shown there now. */
  onBegun(listener: Begun): () => void {
    this.#begun.add(listener);
    return () => this.#begun.delete(listener);
  }

  of(threadId: string | null): Letter[] {
    return this.letters.filter((letter) => letter.threadId === threadId);
  }

  add(letter: Omit<Letter, 'key' | 'at' | 'state'>): Letter {
    const added: Letter = { ...letter, key: newKey(), at: Date.now(), state: 'sending' };
    this.letters.push(added);
    this.#own.add(added.key);
    this.#keep();
    void this.send(added.key);
    return added;
  }

  discard(key: string): void {
    const letter = this.letters.find((one) => one.key === key);
    this.letters = this.letters.filter((one) => one !== letter);
    this.#keep();
    if (letter) this.#sendBehind(letter);
  }

  sendAll(): void {
    for (const { key, state } of this.letters) if (state !== 'failed') void this.send(key);
  }

  /** One thread's letters go one after the other, so that they arrive in the order in which they were written. */
  async send(key: string): Promise<void> {
    const letter = this.letters.find((one) => one.key === key);
    if (!letter || this.#busy.has(key)) return;
    const ahead = this.of(letter.threadId).find((other) => other.state !== 'failed');
    if (letter.threadId && ahead && ahead.key !== key) return;
    this.#busy.add(key);
    const begins = !letter.threadId;
    letter.state = 'sending';
    letter.error = undefined;
    try {
      const turn = await deliver(letter, () => this.#keep());
      this.discard(key);
      for (const listener of this.#delivered) listener({ ...letter }, turn);
    } catch (error) {
      letter.state = error instanceof Refusal && (error.passing || error.status === 401) ? 'waiting' : 'failed';
      letter.error = error instanceof Error ? error.message : String(error);
      if (letter.state === 'waiting') {
        setTimeout(() => void this.send(key), retryAfter);
        for (const behind of this.#behind(letter)) behind.state = 'waiting';
      }
      this.#keep();
      // The gateway tells nobody that a thread was deleted.
      if (letter.threadId && letter.error === 'thread not found') line.tell({ type: 'thread-deleted', threadId: letter.threadId });
      if (begins && letter.threadId) for (const listener of this.#begun) listener(letter.threadId);
    } finally {
      this.#busy.delete(key);
    }
    if (letter.state === 'failed') this.#sendBehind(letter);
  }

  #sendBehind(letter: Letter): void {
    const [next] = this.#behind(letter);
    if (next) void this.send(next.key);
  }

  /** What waits in the same thread for the letter to be out of the way. */
  #behind(letter: Letter): Letter[] {
    return letter.threadId ? this.of(letter.threadId).filter((other) => other.key !== letter.key && other.state !== 'failed') : [];
  }

  /** Beside the letters that other tabs have written since. */
  #keep(): void {
    const others = stored<Letter[]>('outbox', []).filter(({ key }) => !this.#own.has(key));
    const all = [...others, ...this.letters];
    store('outbox', all.length ? all : undefined);
  }
}

/** `crypto.randomUUID` is not there on a page that came over plain HTTP, as to a phone in the same house. */
const newKey = (): string => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

async function deliver(letter: Letter, keep: () => void): Promise<Turn> {
  if (!letter.threadId) {
    const asked = { agent_id: letter.agentId, project_id: letter.projectId };
    const thread = await post<Thread>('/threads', asked, { key: `${letter.key}-thread` });
    if (letter.mode && letter.mode !== thread.mode) await patch(`/threads/${thread.id}`, { mode: letter.mode });
    letter.threadId = thread.id;
    keep();
  }
  const { content, threadId, agentId, model, attachments } = letter;
  const ids = attachments?.map(({ id }) => id);
  return post<Turn>('/chat', { content, threadId, agentId, model, attachments: ids }, { key: letter.key });
}

export const outbox = new Outbox();
