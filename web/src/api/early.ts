/** What `public/first.js` asked for before this code was there, and the answer if it has come. */
const early = (globalThis as { early?: { path: string; answer?: unknown } }).early;

/**
 * An answer from before the events began to come, once: to be shown until what is read behind them is here. None where it was
 * not asked for, or has not come.
 */
export function takeEarly<T>(path: string): T | undefined {
  if (early?.path !== path) return undefined;
  const answer = early.answer as T | undefined;
  delete early.answer;
  return answer;
}
