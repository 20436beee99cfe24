/** Short notes at the foot of the page, each with at most one thing to do about it. */

export interface Toast {
  id: number;
  text: string;
  kind: 'info' | 'bad';
  action?: { label: string; run: () => void };
  /** It has gone, and its action was not taken. */
  gone?: () => void;
  /** It stands for those that say the same: what it offers does for all of them. */
  renews: boolean;
}

class Toasts {
  all = $state<Toast[]>([]);
  #last = 0;

  /** Answers a function that takes the note away again. */
  show(text: string, options: Partial<Pick<Toast, 'kind' | 'action' | 'gone' | 'renews'>> = {}): () => void {
    const id = ++this.#last;
    const toast: Toast = { id, text, kind: 'info', renews: !options.action, ...options };
    const isRenewed = (other: Toast): boolean => toast.renews && other.renews && other.text === text && other.kind === toast.kind;
    this.all = [...this.all.filter((other) => !isRenewed(other)), toast];
    return () => this.close(id);
  }

  /** An error whose message is short may say all of it in `whole`. */
  bad(error: unknown, action?: Toast['action'], renews = !action): void {
    const words = error instanceof Error ? ((error as { whole?: string }).whole ?? error.message) : String(error);
    this.show(words, { kind: 'bad', renews, ...(action && { action }) });
  }

  close(id: number): void {
    this.take(id)?.gone?.();
  }

  /** Takes it away for its action. */
  take(id: number): Toast | undefined {
    const taken = this.all.find((toast) => toast.id === id);
    this.all = this.all.filter((toast) => toast !== taken);
    return taken;
  }
}

export const toasts = new Toasts();

/** Does it, and says why when it fails. Answers whether it worked. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    // Who pressed it again wants it once.
    toasts.bad(error, { label: 'Retry', run: () => void attempt(work) }, true);
    return false;
  }
}
