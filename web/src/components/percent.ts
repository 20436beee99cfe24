import { language } from '../base/language';

/** `42%`, or `42 %` in German. */
export const percent = (part: number, whole = 1): string =>
  `${whole ? Math.round((part / whole) * 100) : 0}${language === 'de' ? ' ' : ''}%`;
