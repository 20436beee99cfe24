/** Reads aloud with a voice of this device. The page has one voice: starting a reader stops the previous one. */

/** Milliseconds to wait for the voices: a browser may load its list only on the first request. */
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
/** The number of last parts that the microphone may still hear. */
const recentParts = 3;

export class Reader {
  /** Text is being read, or is about to be. */
  isReading = $state(false);
  /** The parts that were read last, including the current one. */
  recent: string[] = [];
  #waiting: string[] = [];
  #voice: SpeechSynthesisVoice | undefined;
  /** Incremented by each start and stop, to ignore callbacks of earlier readings. */
  #turn = 0;

  /** `taken`: called when another reader takes the voice. */
  constructor(readonly taken: () => void = () => {}) {}

  /** Takes the voice from the reader that has it. */
  take(): void {
    const before = latest;
    latest = this;
    if (!before || before === this) return;
    before.stop();
    before.taken();
  }

  /** Queues parts to read. Returns false if this device has no local voice: others send the text to a service. */
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
