/** The request that `public/first.js` sent before this code was loaded. */
const preloaded = (globalThis as { preloaded?: { path: string; promise: Promise<unknown>; result?: unknown } })
  .preloaded;

/**
 * Calls `use` once with the response to a preloaded request, now or when the response arrives. The response is older
 * than the first event: show it only until the data has been read again after subscribing.
 */
export function usePreloaded<T>(path: string, use: (answer: T) => void): void {
  if (preloaded?.path !== path) return;
  preloaded.path = '';
  if (preloaded.result !== undefined) use(preloaded.result as T);
  else void preloaded.promise.then((answer) => answer !== undefined && use(answer as T));
}
