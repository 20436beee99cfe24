import { newRecognition, type Recognition } from './recognition';

/** The silence after which something counts as said. Until words are final, browsers wait themselves. */
const pause = 1200;
/** The same for words that the browser does not make final. */
const longPause = 4000;
/** The microphone does not stay on for somebody who has left. */
const patience = 120_000;
/** A browser that ends at once, again and again, does not listen. */
const briefly = 1000;
const maxBrief = 3;

interface Heard {
  /** Words so far. Returns whether they are meant for the agent; others are forgotten. */
  words: (words: string, areFinal: boolean) => boolean;
  /** All that was said before a pause. The microphone is off. */
  said: (words: string) => void;
  /** The microphone is off: an error of the browser, or nothing was said for long. */
  failed: (error: string) => void;
}

/** A microphone that is on from `start` until something was said, or until `stop`. */
export class Listener {
  isOn = $state(false);
  #active: Recognition | null = null;
  #words = '';
  #openedAt = 0;
  #brief = 0;
  #pause: ReturnType<typeof setTimeout> | undefined;
  #patience: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly isLocal: boolean,
    readonly heard: Heard,
  ) {}

  start(): void {
    if (this.isOn) return;
    this.isOn = true;
    this.#brief = 0;
    this.#wait();
    this.#open();
  }

  stop(): void {
    const active = this.#active;
    this.#active = null;
    this.isOn = false;
    clearTimeout(this.#pause);
    clearTimeout(this.#patience);
    active?.abort();
  }

  #wait(): void {
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this.#fail('no-speech'), patience);
  }

  #fail(error: string): void {
    this.stop();
    this.heard.failed(error);
  }

  #open(): void {
    const recognition = newRecognition(this.isLocal);
    const ifActive =
      <Event>(take: (event: Event) => void) =>
      (event: Event): void => {
        if (this.#active === recognition) take(event);
      };
    this.#active = recognition;
    this.#words = '';
    this.#openedAt = Date.now();
    let final = '';
    recognition.onresult = ifActive(({ resultIndex, results }) => {
      let unsure = '';
      for (const one of [...results].slice(resultIndex)) {
        const words = one[0]?.transcript.trim() ?? '';
        if (one.isFinal) final = `${final} ${words}`.trim();
        else unsure = `${unsure} ${words}`.trim();
      }
      if (!this.#take(`${final} ${unsure}`.trim(), !unsure)) final = '';
    });
    recognition.onerror = ifActive(({ error }) => {
      // The browser ends after it.
      if (error !== 'no-speech') this.#fail(error);
    });
    recognition.onend = ifActive<void>(() => this.#ended());
    try {
      recognition.start();
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  /** Returns whether the words are kept. */
  #take(words: string, areFinal: boolean): boolean {
    clearTimeout(this.#pause);
    const isMeant = this.heard.words(words, areFinal);
    this.#words = isMeant ? words : '';
    if (!isMeant || !words) return isMeant;
    this.#wait();
    this.#pause = setTimeout(() => this.#said(), areFinal ? pause : longPause);
    return true;
  }

  #said(): void {
    const words = this.#words;
    this.stop();
    this.heard.said(words);
  }

  /** Browsers listen for some seconds, or a minute, only. */
  #ended(): void {
    clearTimeout(this.#pause);
    if (this.#words) this.#said();
    else if (Date.now() - this.#openedAt < briefly && ++this.#brief > maxBrief) this.#fail('aborted');
    else this.#open();
  }
}
