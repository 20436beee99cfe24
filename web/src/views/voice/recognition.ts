/** Speech recognition of the browser, as far as the page uses it: TypeScript's library does not have it. */

export interface Recognition extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  /** Only in browsers that can recognize speech themselves. */
  processLocally?: boolean;
  start(): void;
  stop(): void;
  /** Without the words that are still unsure. */
  abort(): void;
  onresult: (event: { resultIndex: number; results: SpeechRecognitionResultList }) => void;
  onerror: (event: { error: string }) => void;
  onend: () => void;
}

interface Constructor {
  new (): Recognition;
  available?: (wanted: { langs: string[]; processLocally: boolean }) => Promise<string>;
}

const { SpeechRecognition, webkitSpeechRecognition } = window as unknown as Record<string, Constructor | undefined>;
const Recognizer = SpeechRecognition ?? webkitSpeechRecognition;

export const canRecognize = Recognizer !== undefined;

/** Whether what is said stays on this device. */
export async function recognizesHere(): Promise<boolean> {
  const wanted = { langs: [navigator.language], processLocally: true };
  return (await Recognizer?.available?.(wanted).catch(() => '')) === 'available';
}

/** In the browser's language. */
export function newRecognition(isLocal: boolean): Recognition {
  const recognition = new (Recognizer as Constructor)();
  recognition.lang = navigator.language;
  recognition.continuous = recognition.interimResults = true;
  if (isLocal) recognition.processLocally = true;
  return recognition;
}
