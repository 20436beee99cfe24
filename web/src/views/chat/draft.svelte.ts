import { onStorageChange, store, stored } from '../../base/storage';

const saveDelay = 300;

/** The storage key for the edited text of a sent message. */
export const editKey = (turnId: string): string => `draft.edit.${turnId}`;

/** A message or an answer being written, or the values of a form, stored in this browser under `key` and shared by its tabs. */
export class Draft<T = string> {
  text = $state.raw() as T | '';
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
      return () => {
        removeEventListener('pagehide', this.save);
        this.save();
      };
    });
    $effect(() => onStorageChange<T>(key, (text) => this.#isDirty || (this.text = text ?? '')));
  }

  /** Stores the text after a pause in typing. */
  changed(): void {
    this.#isDirty = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.save, saveDelay);
  }

  /** Stores only changes of this tab: another tab may have edited or sent the text since. */
  save = (): void => {
    clearTimeout(this.#timer);
    if (this.#isDirty) store(this.#key, this.text || undefined);
    this.#isDirty = false;
  };

  clear(): void {
    this.text = '';
    this.#isDirty = true;
    this.save();
  }
}
