/**
 * Keeps the keys of an input method from the page. While it composes text, as for Chinese, Enter, Escape and the arrow
 * keys belong to its list of candidates.
 */

/** Safari reports the key that ends a composition after it, known only by this code. */
const processed = 229;

export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === processed;

/** Must be called before anything else listens to keys. The terminal reads composed text by its own means. */
export function withholdComposition(): void {
  const withhold = (event: KeyboardEvent): void => {
    if (isComposing(event) && !(event.target as Element).closest?.('.xterm')) event.stopImmediatePropagation();
  };
  addEventListener('keydown', withhold, { capture: true });
}
