/** The browser's speech recognition, as far as the page uses it. TypeScript's DOM library does not declare it. */

export interface Recognition extends EventTarget {
  lang: string;
  continuous: boolean;
  interimResults: boolean;
  /** Exists only in browsers that can recognize speech on the device. */
  processLocally?: boolean;
  start(): void;
  stop(): void;
  /** Stops, and drops words that are not final. */
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

/** Whether the browser recognizes speech on this device, without a service. */
export async function recognizesHere(): Promise<boolean> {
  const wanted = { langs: [navigator.language], processLocally: true };
  return (await Recognizer?.available?.(wanted).catch(() => '')) === 'available';
}

/** Makes a recognition for the browser's language. */
export function newRecognition(isLocal: boolean): Recognition {
  const recognition = new (Recognizer as Constructor)();
  recognition.lang = navigator.language;
  recognition.continuous = recognition.interimResults = true;
  if (isLocal) recognition.processLocally = true;
  return recognition;
}
