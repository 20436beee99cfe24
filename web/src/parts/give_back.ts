/** The keyboard goes back to who had it before a dialog opened; where that has gone meanwhile, to the heading of what is shown. */
export function giveBack(before: Element | null): void {
  const holder = before?.isConnected ? before : document.querySelector('main h1');
  if (holder instanceof HTMLElement) holder.focus();
}
