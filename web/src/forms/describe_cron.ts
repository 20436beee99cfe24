import cronstrue from 'cronstrue';

/** A cron expression in words; empty if it is invalid. */
export function describeCron(expression: string): string {
  try {
    const words = cronstrue.toString(expression, { use24HourTimeFormat: true, verbose: true });
    return words.replace(/, every hour(, every day)?/, '');
  } catch {
    return '';
  }
}
