/** Speech recognition of the browser, as far as the page uses it: TypeScript's library does not have it. */

export interface Recognition extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  /** Only in browsers that can recognize speech themselves. */
  processLocally?: boolean;
  start(): void;
  stop(): void;
  onresult: (event: { resultIndex: number; results: SpeechRecognitionResultList }) => void;
  onerror: (event: { error: string }) => void;
  onend: () => void;
}

interface Constructor {
  new (): Recognition;
  available?: (wanted: { langs: string[]; processLocally: boolean }) => Promise<string>;
}

const { SpeechRecognition, webkitSpeechRecognition } = window as unknown as Record<string, Constructor | undefined>;

/** In the browser's language. `isLocal`: what is said does not leave this device. */
export async function recognition(): Promise<{ recognizer: Recognition; isLocal: boolean }> {
  const Recognizer = (SpeechRecognition ?? webkitSpeechRecognition) as Constructor;
  const recognizer = new Recognizer();
  recognizer.lang = navigator.language;
  recognizer.continuous = recognizer.interimResults = true;
  const wanted = { langs: [navigator.language], processLocally: true };
  const isLocal = (await Recognizer.available?.(wanted).catch(() => '')) === 'available';
  if (isLocal) recognizer.processLocally = true;
  return { recognizer, isLocal };
}
