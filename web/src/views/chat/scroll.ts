/** Where the reader is in a transcript: nothing that arrives moves what is being read. */

const nearEnd = 40;
const leavingKeys = new Set(['PageUp', 'ArrowUp', 'Home']);
/** What, pressed, shows more where it stands. */
const opens = 'details:not([open]) > summary, .more';

export class Reading {
  #box: HTMLElement;
  #room: HTMLElement;
  #anchor: HTMLElement | null = null;
  #following = true;
  #changed: (atEnd: boolean) => void;
  #observer: ResizeObserver;

  /** `box` scrolls `content`, behind which `room` makes place; `changed` is told whether the end is in sight. */
  constructor(box: HTMLElement, content: HTMLElement, room: HTMLElement, changed: (atEnd: boolean) => void) {
    this.#box = box;
    this.#room = room;
    this.#changed = changed;
    this.#observer = new ResizeObserver(() => this.#grown());
    this.#observer.observe(content);
    this.#observer.observe(box);
    box.addEventListener('wheel', ({ deltaY }) => deltaY < 0 && this.#leave(), { passive: true });
    box.addEventListener('touchmove', () => this.#leave(), { passive: true });
    box.addEventListener('keydown', ({ key }) => leavingKeys.has(key) && this.#leave());
    // Before what it shows is there.
    box.addEventListener('click', ({ target }) => (target as Element).closest(opens) && this.#leave(), { capture: true });
    box.addEventListener('selectstart', () => this.#leave());
    addEventListener('keydown', this.#finding);
    box.addEventListener('scroll', () => this.#scrolled(), { passive: true });
  }

  close(): void {
    this.#observer.disconnect();
    removeEventListener('keydown', this.#finding);
  }

  /** Who looks for a word on the page wants to stay where it stands. */
  #finding = ({ key, ctrlKey, metaKey }: KeyboardEvent): void => {
    if ((ctrlKey || metaKey) && key === 'f') this.#leave();
  };

  /** Puts what was just asked at the top, with room below it for the answer to grow into. */
  begin(question: HTMLElement): void {
    this.#anchor = question;
    this.#following = false;
    this.#makeRoom();
    this.#box.scrollTop = this.#top(question);
  }

  toEnd(): void {
    this.#anchor = null;
    this.#following = true;
    this.#makeRoom();
    this.#box.scrollTop = this.#box.scrollHeight;
  }

  /** Turns take their real height only as they come near: it is put into the middle again until it stays there. */
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

  /** Runs `change`, which adds above what is seen, and keeps that where it is. */
  async hold(change: () => Promise<void>): Promise<void> {
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

  #makeRoom(): void {
    if (!this.#anchor?.isConnected) {
      this.#room.style.blockSize = '0';
      return;
    }
    const end = this.#box.scrollHeight - this.#room.offsetHeight;
    const below = end - this.#top(this.#anchor);
    this.#room.style.blockSize = `${Math.max(0, this.#box.clientHeight - below)}px`;
  }

  #grown(): void {
    this.#makeRoom();
    if (this.#following) this.#box.scrollTop = this.#box.scrollHeight;
    this.#tell();
  }

  #leave(): void {
    this.#following = false;
  }

  #left(): number {
    const { scrollHeight, scrollTop, clientHeight } = this.#box;
    return scrollHeight - this.#room.offsetHeight - scrollTop - clientHeight;
  }

  #scrolled(): void {
    if (!this.#anchor && this.#left() < nearEnd) this.#following = true;
    this.#tell();
  }

  #tell(): void {
    this.#changed(this.#left() < nearEnd);
  }
}
