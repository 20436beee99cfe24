const gap = 4;
const margin = 8;

/**
 * Keeps `list`, an element of fixed position, below `button`, or above it if there is more room. Calls `lost` when the
 * button has left the window. Returns a function that stops this.
 */
export function placeBy(button: HTMLElement, list: HTMLElement, lost: () => void): () => void {
  const place = (): void => {
    const at = button.getBoundingClientRect();
    // Excludes the area that a phone's keyboard covers.
    const height = visualViewport?.height ?? innerHeight;
    if (at.bottom < 0 || at.top > innerHeight) return lost();
    list.style.minInlineSize = `${Math.min(at.width, innerWidth - 2 * margin)}px`;
    list.style.maxBlockSize = '';
    const below = height - at.bottom - gap - margin;
    const above = at.top - gap - margin;
    const isBelow = below >= Math.min(list.offsetHeight, 320) || below >= above;
    list.style.maxBlockSize = `${Math.max(80, Math.min(isBelow ? below : above, 480))}px`;
    list.style.top = `${isBelow ? at.bottom + gap : Math.max(margin, at.top - gap - list.offsetHeight)}px`;
    const wanted = getComputedStyle(button).direction === 'rtl' ? at.right - list.offsetWidth : at.left;
    list.style.left = `${Math.max(margin, Math.min(wanted, innerWidth - margin - list.offsetWidth))}px`;
  };
  const moved = ({ target }: Event): void => {
    if (!(target instanceof Node && list.contains(target))) place();
  };
  // The height of the list changes with the matches.
  const sized = new ResizeObserver(place);
  place();
  sized.observe(list);
  addEventListener('scroll', moved, { capture: true, passive: true });
  addEventListener('resize', place);
  visualViewport?.addEventListener('resize', place);
  return () => {
    sized.disconnect();
    removeEventListener('scroll', moved, { capture: true });
    removeEventListener('resize', place);
    visualViewport?.removeEventListener('resize', place);
  };
}
