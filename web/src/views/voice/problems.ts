import { t } from '../../base/language';

const problems: Record<string, string> = {
  'not-allowed': t('The browser did not allow the microphone.'),
  'service-not-allowed': t('The browser did not allow dictation.'),
  'audio-capture': t('No microphone was found.'),
  network: t('The browser’s speech service cannot be reached.'),
  'language-not-supported': t('The browser cannot recognize speech in its language.'),
  aborted: t('The browser gave the microphone to something else.'),
};

/** Explains an error code of speech recognition. */
export const problemOf = (error: string): string => problems[error] ?? error;
