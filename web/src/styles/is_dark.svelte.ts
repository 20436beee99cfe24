/** Whether the page has dark colours, chosen by the system, the person or a theme. */

let dark = $state(false);
let isWatched = false;

function look(): void {
  const { colorScheme } = getComputedStyle(document.documentElement);
  const bySystem = matchMedia('(prefers-color-scheme: dark)').matches;
  dark = colorScheme === 'dark' || (colorScheme !== 'light' && bySystem);
}

/** Reactive: effects and templates that call this function follow changes. */
export function isDark(): boolean {
  if (!isWatched) {
    isWatched = true;
    look();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', look);
    new MutationObserver(look).observe(document.documentElement, { attributeFilter: ['style'] });
  }
  return dark;
}
