import cronstrue from 'cronstrue';
import 'cronstrue/locales/de';
import { language } from '../base/language';

/** A cron expression in words; empty if it is invalid. */
export function describeCron(expression: string): string {
  try {
    const words = cronstrue.toString(expression, { use24HourTimeFormat: true, verbose: true, locale: language });
    return words.replace(/, (every hour|jede Stunde)(, (every day|jeden Tag))?/, '');
  } catch {
    return '';
  }
}
