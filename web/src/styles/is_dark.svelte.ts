/** Whether the page has dark colours, chosen by the system, the person or a theme. */

let dark = $state(false);
let style = $state('');
let isWatched = false;

function look(): void {
  style = document.documentElement.style.cssText;
  const { colorScheme } = getComputedStyle(document.documentElement);
  const bySystem = matchMedia('(prefers-color-scheme: dark)').matches;
  dark = colorScheme === 'dark' || (colorScheme !== 'light' && bySystem);
}

function watch(): void {
  if (isWatched) return;
  isWatched = true;
  look();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', look);
  new MutationObserver(look).observe(document.documentElement, { attributeFilter: ['style'] });
}

/** Reactive: effects and templates that call this function follow changes. */
export function isDark(): boolean {
  watch();
  return dark;
}

/** The declarations on the page's root, among them the colours of a theme. Reactive. */
export function rootStyle(): string {
  watch();
  return style;
}
