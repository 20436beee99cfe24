/** The gateway's words for states and sources, in the language of the page. */
import { t } from '../base/language';

const terms: Record<string, string> = {
  'built-in': t('built-in'),
  user: t('user'),
  agent: t('agent'),
  community: t('community'),
  info: t('info'),
  warning: t('warning'),
  critical: t('critical'),
  connecting: t('connecting'),
  connected: t('connected'),
  failing: t('failing'),
  stopped: t('stopped'),
  starting: t('starting'),
  running: t('running'),
  failed: t('failed'),
};

/** The translated term, or the word itself if it is not one of the gateway's terms. */
export const termFor = (word: string): string => terms[word] ?? word;
