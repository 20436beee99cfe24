/** Reads aloud with a voice of this device. The page has one voice: what began last is read. */

/** A browser may read its list of voices only when it is first asked for. */
const voicesWithin = 1500;

async function localVoice(): Promise<SpeechSynthesisVoice | undefined> {
  if (!speechSynthesis.getVoices().length)
    await new Promise((resolve) => {
      speechSynthesis.addEventListener('voiceschanged', resolve, { once: true });
      setTimeout(resolve, voicesWithin);
    });
  const local = speechSynthesis.getVoices().filter(({ localService }) => localService);
  const fitting = local.filter(({ lang }) => lang.slice(0, 2) === document.documentElement.lang);
  return fitting.find((voice) => voice.default) ?? fitting[0] ?? local.find((voice) => voice.default) ?? local[0];
}

let latest: Reader | undefined;
/** How many of the parts that were read last may still be heard. */
const recentParts = 3;

export class Reader {
  /** Something is being read, or about to be. */
  isReading = $state(false);
  /** What was read last, and what is read. */
  recent: string[] = [];
  #waiting: string[] = [];
  #voice: SpeechSynthesisVoice | undefined;
  /** Raised by each start and stop: what began before counts no more. */
  #turn = 0;

  /** `taken`: called when another one takes the voice. */
  constructor(readonly taken: () => void = () => {}) {}

  /** Takes the voice. */
  take(): void {
    const before = latest;
    latest = this;
    if (!before || before === this) return;
    before.stop();
    before.taken();
  }

  /** Adds to what is read. Returns false if this device has no voice: a service would get the text. */
  async read(parts: string[]): Promise<boolean> {
    if (!('speechSynthesis' in window)) return false;
    this.take();
    this.#waiting.push(...parts);
    if (this.isReading) return true;
    this.isReading = true;
    const turn = ++this.#turn;
    speechSynthesis.cancel();
    this.#voice ??= await localVoice();
    if (turn !== this.#turn) return true;
    if (this.#voice) this.#next(this.#voice, turn);
    else this.stop();
    return this.#voice !== undefined;
  }

  stop(): void {
    if (this.isReading) speechSynthesis.cancel();
    this.#turn++;
    this.#waiting = [];
    this.isReading = false;
  }

  #next(voice: SpeechSynthesisVoice, turn: number): void {
    if (turn !== this.#turn) return;
    const part = this.#waiting.shift();
    if (part === undefined) {
      this.isReading = false;
      return;
    }
    this.recent = [...this.recent, part].slice(-recentParts);
    const utterance = new SpeechSynthesisUtterance(part);
    utterance.voice = voice;
    utterance.lang = voice.lang;
    utterance.onend = () => this.#next(voice, turn);
    utterance.onerror = () => turn === this.#turn && this.stop();
    speechSynthesis.speak(utterance);
  }
}
