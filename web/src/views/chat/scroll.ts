/** Manages the scroll position of a transcript. Arriving text never moves the text being read. */

const nearEnd = 40;
const leavingKeys = new Set(['PageUp', 'ArrowUp', 'Home']);
/** Elements that expand in place when pressed. */
const expanders = 'details:not([open]) > summary, .more';

export class TranscriptScroll {
  #box: HTMLElement;
  #spacer: HTMLElement;
  #anchor: HTMLElement | null = null;
  #following = true;
  #changed: (atEnd: boolean) => void;
  #observer: ResizeObserver;

  /** `box` scrolls `content`. `spacer` adds room after it. `changed` receives whether the end is in view. */
  constructor(box: HTMLElement, content: HTMLElement, spacer: HTMLElement, changed: (atEnd: boolean) => void) {
    this.#box = box;
    this.#spacer = spacer;
    this.#changed = changed;
    this.#observer = new ResizeObserver(() => this.#onResize());
    this.#observer.observe(content);
    this.#observer.observe(box);
    box.addEventListener('wheel', ({ deltaY }) => deltaY < 0 && this.#stopFollowing(), { passive: true });
    box.addEventListener('touchmove', () => this.#stopFollowing(), { passive: true });
    box.addEventListener('keydown', ({ key }) => leavingKeys.has(key) && this.#stopFollowing());
    // In the capture phase, before the element expands.
    box.addEventListener('click', ({ target }) => (target as Element).closest(expanders) && this.#stopFollowing(), {
      capture: true,
    });
    box.addEventListener('selectstart', () => this.#stopFollowing());
    addEventListener('keydown', this.#onFind);
    box.addEventListener('scroll', () => this.#onScroll(), { passive: true });
  }

  close(): void {
    this.#observer.disconnect();
    removeEventListener('keydown', this.#onFind);
  }

  /** Stops following, which would scroll away from a match of the browser's search. */
  #onFind = ({ key, ctrlKey, metaKey }: KeyboardEvent): void => {
    if ((ctrlKey || metaKey) && key === 'f') this.#stopFollowing();
  };

  /** Scrolls the latest question to the top, with room below for the answer to grow into. */
  anchorTo(question: HTMLElement): void {
    this.#anchor = question;
    this.#following = false;
    this.#resizeSpacer();
    this.#box.scrollTop = this.#top(question);
  }

  scrollToEnd(): void {
    this.#anchor = null;
    this.#following = true;
    this.#resizeSpacer();
    this.#box.scrollTop = this.#box.scrollHeight;
  }

  /** Scrolls to an element. Turns get their real height only near the viewport, so this repeats until it is stable. */
  show(element: HTMLElement, attempts = 10): void {
    this.#anchor = null;
    this.#following = false;
    element.scrollIntoView({ block: 'center' });
    const { top } = element.getBoundingClientRect();
    const look = (): void => {
      if (attempts > 0 && element.getBoundingClientRect().top !== top) this.show(element, attempts - 1);
    };
    requestAnimationFrame(() => requestAnimationFrame(look));
  }

  /** Runs `change`, which inserts content above, without moving what is visible. */
  async preservePosition(change: () => Promise<void>): Promise<void> {
    const top = this.#box.getBoundingClientRect().top;
    const articles = [...this.#box.querySelectorAll('article')];
    const seen = articles.find((article) => article.getBoundingClientRect().bottom > top);
    const before = seen?.getBoundingClientRect().top ?? 0;
    await change();
    if (seen?.isConnected) this.#box.scrollTop += seen.getBoundingClientRect().top - before;
  }

  #top(element: HTMLElement): number {
    return element.getBoundingClientRect().top - this.#box.getBoundingClientRect().top + this.#box.scrollTop - 8;
  }

  #resizeSpacer(): void {
    if (!this.#anchor?.isConnected) {
      this.#spacer.style.blockSize = '0';
      return;
    }
    const end = this.#box.scrollHeight - this.#spacer.offsetHeight;
    const below = end - this.#top(this.#anchor);
    this.#spacer.style.blockSize = `${Math.max(0, this.#box.clientHeight - below)}px`;
  }

  #onResize(): void {
    this.#resizeSpacer();
    if (this.#following) this.#box.scrollTop = this.#box.scrollHeight;
    this.#report();
  }

  #stopFollowing(): void {
    this.#following = false;
  }

  #distanceToEnd(): number {
    const { scrollHeight, scrollTop, clientHeight } = this.#box;
    return scrollHeight - this.#spacer.offsetHeight - scrollTop - clientHeight;
  }

  #onScroll(): void {
    if (!this.#anchor && this.#distanceToEnd() < nearEnd) this.#following = true;
    this.#report();
  }

  #report(): void {
    this.#changed(this.#distanceToEnd() < nearEnd);
  }
}
