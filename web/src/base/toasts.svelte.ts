/** Short messages at the bottom of the page, each with at most one action. */
import { t } from './language';

/** Whether code that is loaded on demand is missing. Browsers describe it by its address, in English. */
const isMissingCode = (cause: unknown): boolean => cause instanceof TypeError && / module\b/.test(cause.message);

/** The words of an error, with the details of a response. */
export function messageOf(cause: unknown): string {
  if (isMissingCode(cause)) return t('This part of the page could not be loaded.');
  return cause instanceof Error ? ((cause as { fullMessage?: string }).fullMessage ?? cause.message) : String(cause);
}

export interface Toast {
  id: number;
  text: string;
  kind: 'info' | 'error';
  action?: { label: string; run: () => void };
  /** Called when the toast closes without its action being taken. */
  onDismiss?: () => void;
  /** Replaces toasts with the same text; its action applies to all of them. */
  replaces: boolean;
}

class Toasts {
  all = $state<Toast[]>([]);
  #last = 0;

  /** Returns a function that dismisses the toast. */
  show(text: string, options: Partial<Pick<Toast, 'kind' | 'action' | 'onDismiss' | 'replaces'>> = {}): () => void {
    const id = ++this.#last;
    const toast: Toast = { id, text, kind: 'info', replaces: !options.action, ...options };
    const isReplaced = (other: Toast): boolean =>
      toast.replaces && other.replaces && other.text === text && other.kind === toast.kind;
    this.all = [...this.all.filter((other) => !isReplaced(other)), toast];
    return () => this.dismiss(id);
  }

  error(cause: unknown, action?: Toast['action'], replaces = !action): void {
    this.show(messageOf(cause), { kind: 'error', replaces, ...(action && { action }) });
  }

  /** Called when the view changes: errors concern the view in which they occurred. */
  dismissErrors(): void {
    for (const { id, kind } of this.all) if (kind === 'error') this.dismiss(id);
  }

  dismiss(id: number): void {
    this.remove(id)?.onDismiss?.();
  }

  /** Removes and returns the toast without calling `onDismiss`, because its action is taken. */
  remove(id: number): Toast | undefined {
    const removed = this.all.find((toast) => toast.id === id);
    this.all = this.all.filter((toast) => toast !== removed);
    return removed;
  }
}

export const toasts = new Toasts();

/** The action for code that cannot be loaded by trying again: Firefox remembers failures until the page is reloaded. */
export const reload: Toast['action'] = { label: t('Reload the page'), run: () => location.reload() };

const pending = new Set<string>();

/**
 * Runs `work`; if it fails, shows a toast with a way to retry. Returns whether it succeeded. `once`: a name for the
 * work, which is not begun again before it has ended, such as by a second click.
 */
export async function tryOrToast(work: () => Promise<unknown>, once = '', isRetry = false): Promise<boolean> {
  if (pending.has(once)) return false;
  if (once) pending.add(once);
  try {
    await work();
    return true;
  } catch (error) {
    const retry = { label: t('Retry'), run: () => void tryOrToast(work, once, true) };
    // Repeated failures share one toast, so retrying runs the work once.
    toasts.error(error, isRetry && isMissingCode(error) ? reload : retry, true);
    return false;
  } finally {
    pending.delete(once);
  }
}
