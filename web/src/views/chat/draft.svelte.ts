import { onStorageChange, store, stored } from '../../base/storage';
import { toasts } from '../../base/toasts.svelte';
import { t } from '../../base/language';

const saveDelay = 300;
/** Milliseconds in which a tab learns that another one has cleared a text. */
const clearedWithin = 500;

/** The storage key for the edited text of a sent message. */
export const editKey = (turnId: string): string => `draft.edit.${turnId}`;

/** The drafts on the page, by key. */
const shown = new Map<string, Draft>();

/** A message or an answer being written, or the values of a form, stored in this browser under `key` and shared by its tabs. */
export class Draft<T = string> {
  text = $state.raw() as T | '';
  /** Whether the last change of the text was made in this tab. */
  isOwn = false;
  readonly #key: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Changed in this tab and not stored yet. */
  #isDirty = false;

  /** Must be created while the editing component is initialized. Stores unsaved text when that is destroyed. */
  constructor(key: string) {
    this.#key = key;
    this.text = stored(key, '');
    $effect(() => {
      addEventListener('pagehide', this.save);
      shown.set(key, this as Draft);
      return () => {
        shown.delete(key);
        removeEventListener('pagehide', this.save);
        this.save();
      };
    });
    $effect(() => this.#follow());
  }

  /** Shows what other tabs do with the text. Returns a function that ends this. */
  #follow(): () => void {
    return onStorageChange<T>(this.#key, (text) => {
      if (this.#isDirty) return;
      this.text = text ?? '';
      this.isOwn = false;
    });
  }

  /** Stores the text after a pause in typing. */
  changed(): void {
    this.#isDirty = this.isOwn = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.save, saveDelay);
  }

  /** Stores only changes of this tab: another tab may have edited or sent the text since. */
  save = (): void => {
    clearTimeout(this.#timer);
    if (this.#isDirty) store(this.#key, this.text || undefined);
    this.#isDirty = false;
  };

  /**
   * Moves the text to the message being written in a chat, because what it was for is gone, unless another tab has sent
   * it: that tab has cleared it, which may be known here later than what came of it. `why`: a sentence.
   */
  async moveTo(threadId: string, why: string): Promise<void> {
    const message = shown.get(`draft.${threadId}`);
    const stop = this.#follow();
    await new Promise((passed) => setTimeout(passed, clearedWithin));
    stop();
    const { text } = this;
    if (!text || !message) return;
    this.clear();
    const words = typeof text === 'string' ? text.trim() : Object.values(text).join('\n');
    message.text = [message.text, words].filter(Boolean).join('\n\n');
    message.changed();
    toasts.show(`${why} ${t('Your text is in the message box.')}`);
  }

  clear(): void {
    this.text = '';
    this.#isDirty = true;
    this.save();
  }
}
