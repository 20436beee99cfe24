import { request } from '../../api/client';
import type { Attachment } from '../../api/types';
import { onStored, pass, store, stored } from '../../base/storage';
import { toasts } from '../../base/toasts.svelte';
import { visible } from '../../base/visible';

/** In bytes; more the gateway refuses. */
const largest = 20 * 1024 * 1024;

/** The gateway takes no name with line ends or other controls. */
const unprintable = /\p{Cc}/gu;

async function upload(file: File): Promise<Attachment> {
  const answer = await request('POST', '/files', { query: { name: file.name.replace(unprintable, ' ') }, body: file });
  return (await answer.json()) as Attachment;
}

/** The files of a message that is being written. This browser keeps those that the gateway has. */
export class Attachments {
  files = $state<Attachment[]>([]);
  /** On their way to the gateway. */
  coming = $state<File[]>([]);
  readonly #kept: string;
  readonly #failed: () => void;
  /** One after the other, so that they stay in the order in which they were chosen. */
  #queue = Promise.resolve();
  #left = false;

  /**
   * For as long as the component is there that makes it; what arrives after that is kept all the same.
   * `kept`: the name that they are kept under. `failed`: told of each that does not arrive.
   */
  constructor(kept: string, failed: () => void) {
    this.#kept = kept;
    this.#failed = failed;
    this.files = stored(kept, []);
    $effect(() => onStored<Attachment[]>(kept, (files) => (this.files = files ?? [])));
    $effect(() => store(kept, this.files.length ? this.files : undefined));
    $effect(() => () => {
      this.#left = true;
    });
  }

  add(chosen: Iterable<File>): void {
    for (const file of [...chosen]) {
      if (file.size > largest) toasts.bad(`${visible(file.name)} is larger than 20 MB.`);
      else {
        this.coming.push(file);
        this.#queue = this.#queue.then(() => this.#bring(file));
      }
    }
  }

  async #bring(file: File): Promise<void> {
    if (!this.coming.includes(file)) return;
    try {
      const brought = await upload(file);
      if (!this.coming.includes(file)) return;
      if (this.#left) pass(this.#kept, [...stored<Attachment[]>(this.#kept, []), brought]);
      else this.files.push(brought);
    } catch (error) {
      if (!this.coming.includes(file)) return;
      this.#failed();
      toasts.bad(`${visible(file.name)}: ${error instanceof Error ? error.message : error}`, { label: 'Retry', run: () => this.add([file]) });
    } finally {
      this.coming = this.coming.filter((one) => one !== file);
    }
  }
}
