import { newRecognition, type Recognition } from './recognition';

/** Milliseconds of silence after final words that end an utterance. Browsers finalize words only after a pause. */
const pause = 1200;
/** The same after words that the browser has not finalized. */
const longPause = 4000;
/** Milliseconds without words after which the microphone is turned off, because the person may have left. */
const patience = 120_000;
/** If recognition ends within this many milliseconds more than `maxBrief` times, the browser does not really listen. */
const briefly = 1000;
const maxBrief = 3;

interface Heard {
  /** Called with the words so far. Returns whether they are meant for the agent; otherwise they are dropped. */
  words: (words: string, areFinal: boolean) => boolean;
  /** Called with the words of an utterance, once the microphone is off. */
  said: (words: string) => void;
  /** Called once the microphone is off after an error of the browser, or after `patience` (`no-speech`). */
  failed: (error: string) => void;
}

/** A microphone that is on from `start` until the end of an utterance, `stop` or a failure. */
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
      // After `no-speech`, browsers send `end`, which restarts recognition.
      if (error !== 'no-speech') this.#fail(error);
    });
    recognition.onend = ifActive<void>(() => this.#ended());
    try {
      recognition.start();
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error));
    }
  }

  /** Handles the words so far. Returns whether they are kept. */
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

  /** Restarts recognition if no words were recognized: browsers end it after seconds or a minute. */
  #ended(): void {
    clearTimeout(this.#pause);
    if (this.#words) this.#said();
    else if (Date.now() - this.#openedAt < briefly && ++this.#brief > maxBrief) this.#fail('aborted');
    else this.#open();
  }
}
