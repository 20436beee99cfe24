/** What `public/first.js` asked for before this code was there: the answer once it has come; undefined where none did. */
const early = (globalThis as { early?: { path: string; coming: Promise<unknown>; answer?: unknown } }).early;

/**
 * Gives `use` an answer from before the events began to come: at once where it is here, else when it comes. It is there to be
 * shown until what is read behind the events is here, once.
 */
export function takeEarly<T>(path: string, use: (answer: T) => void): void {
  if (early?.path !== path) return;
  early.path = '';
  if (early.answer !== undefined) use(early.answer as T);
  else void early.coming.then((answer) => answer !== undefined && use(answer as T));
}
