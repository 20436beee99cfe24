import cronstrue from 'cronstrue';
import 'cronstrue/locales/de';
import { language } from '../base/language';

/** Describes a cron expression in words. Empty if the expression is invalid. */
export function describeCron(expression: string): string {
  try {
    const words = cronstrue.toString(expression, { use24HourTimeFormat: true, verbose: true, locale: language });
    return words.replace(/, (every hour|jede Stunde)(, (every day|jeden Tag))?/, '');
  } catch {
    return '';
  }
}
