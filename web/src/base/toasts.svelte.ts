/** Short notes at the foot of the page, each with at most one thing to do about it. */

export interface Toast {
  id: number;
  text: string;
  kind: 'info' | 'bad';
  action?: { label: string; run: () => void };
  /** It has gone, and its action was not taken. */
  gone?: () => void;
}

class Toasts {
  all = $state<Toast[]>([]);
  #last = 0;

  /** Answers a function that takes the note away again. */
  show(text: string, options: Partial<Pick<Toast, 'kind' | 'action' | 'gone'>> = {}): () => void {
    const id = ++this.#last;
    this.all.push({ id, text, kind: 'info', ...options });
    return () => this.close(id);
  }

  /** An error whose message is short may say all of it in `whole`. */
  bad(error: unknown, action?: Toast['action']): void {
    const words = error instanceof Error ? ((error as { whole?: string }).whole ?? error.message) : String(error);
    this.show(words, { kind: 'bad', ...(action && { action }) });
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
    toasts.bad(error, { label: 'Retry', run: () => void attempt(work) });
    return false;
  }
}
