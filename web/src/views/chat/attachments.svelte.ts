import { ApiError } from '../../api/client';
import { onDemand } from '../../api/on_demand';
import type { Attachment } from '../../api/types';
import { onStorageChange, storeAndNotify, store, stored } from '../../base/storage';
import { toasts } from '../../base/toasts.svelte';
import { escapeInvisible } from '../../base/escape';
import { t } from '../../base/language';

/** The picture types that every browser can display. */
const picture = /^image\/(png|jpeg|gif|webp)$/;

/** The attachments of the message being written. Uploaded ones are stored in this browser. */
export class Attachments {
  files = $state<Attachment[]>([]);
  /** Files being uploaded, or waiting for their upload. */
  coming = $state<File[]>([]);
  /** Object URLs of pictures that were chosen on this page, by file id. */
  pictures = $state.raw<Readonly<Record<string, string>>>({});
  readonly #kept: string;
  readonly #failed: () => void;
  /** Uploads one at a time, to keep the order in which files were chosen. */
  #queue = Promise.resolve();
  #left = false;

  /**
   * Must be created while a component is initialized, and belongs to it. Uploads that finish after the component is
   * destroyed are still stored. `kept`: the storage key. `failed`: called for each failed upload.
   */
  constructor(kept: string, failed: () => void) {
    this.#kept = kept;
    this.#failed = failed;
    this.files = stored(kept, []);
    $effect(() => onStorageChange<Attachment[]>(kept, (files) => (this.files = files ?? [])));
    $effect(() => store(kept, this.files.length ? this.files : undefined));
    $effect(() => () => {
      this.#left = true;
      for (const address of Object.values(this.pictures)) URL.revokeObjectURL(address);
    });
  }

  add(chosen: Iterable<File>): void {
    for (const file of [...chosen]) {
      this.coming.push(file);
      this.#queue = this.#queue.then(() => this.#bring(file));
    }
  }

  async #bring(file: File): Promise<void> {
    if (!this.coming.includes(file)) return;
    try {
      const brought = await (await onDemand(() => import('./upload'))).upload(file);
      if (!this.coming.includes(file)) return;
      if (this.#left) storeAndNotify(this.#kept, [...stored<Attachment[]>(this.#kept, []), brought]);
      else {
        if (picture.test(file.type)) this.pictures = { ...this.pictures, [brought.id]: URL.createObjectURL(file) };
        this.files.push(brought);
      }
    } catch (error) {
      if (!this.coming.includes(file)) return;
      this.#failed();
      if (!(error instanceof ApiError)) toasts.error(error);
      else
        toasts.error(`${escapeInvisible(file.name)}: ${error.message}`, {
          label: t('Retry'),
          run: () => this.add([file]),
        });
    } finally {
      this.coming = this.coming.filter((one) => one !== file);
    }
  }
}
