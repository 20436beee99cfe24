/** Whether the page is shown in dark colours, by the system's choice, the person's, or a theme's. */

let dark = $state(false);
let isWatched = false;

function look(): void {
  const { colorScheme } = getComputedStyle(document.documentElement);
  const bySystem = matchMedia('(prefers-color-scheme: dark)').matches;
  dark = colorScheme === 'dark' || (colorScheme !== 'light' && bySystem);
}

/** In an effect or a template, it is followed. */
export function isDark(): boolean {
  if (!isWatched) {
    isWatched = true;
    look();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', look);
    new MutationObserver(look).observe(document.documentElement, { attributeFilter: ['style'] });
  }
  return dark;
}
