import cronstrue from 'cronstrue';

/** A cron expression in words; empty where it has none. */
export function inWords(expression: string): string {
  try {
    return cronstrue.toString(expression, { use24HourTimeFormat: true, verbose: true });
  } catch {
    return '';
  }
}
