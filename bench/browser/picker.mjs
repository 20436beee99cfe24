// Measures opening the picker of models: from the click to the frame that shows it, and the longest task until it has
// reloaded the models. Prints medians and maxima of five first openings and five later ones, as JSON.
//   node bench/browser/picker.mjs <url of the gateway> <its token> <number of its models>
import { freshPage, median, openBrowser } from './browser.mjs';

const [url, token, count] = process.argv.slice(2);

/** In the page: clicks, and returns the milliseconds until the first option was painted. */
function open() {
  window.longTasks.length = 0;
  return new Promise((shown) => {
    const observer = new MutationObserver(() => {
      if (!document.querySelector('[role=option]')) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => shown(performance.now() - begun)));
    });
    observer.observe(document, { childList: true, subtree: true });
    const begun = performance.now();
    document.querySelector('button[aria-label^="Model: "]').click();
  });
}

/** Opens the picker, and waits until it has requested the gateway's models. */
async function opened(page) {
  const took = await page.evaluate(open);
  await page.getByText(`of ${count} models are shown`).waitFor();
  await page.getByText('Ask the services again').waitFor();
  await page.waitForTimeout(500);
  const longest = await page.evaluate(() => Math.max(0, ...window.longTasks));
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  return { took, longest };
}

const browser = await openBrowser();
const first = [];
const later = [];
for (let i = 0; i < 5; i++) {
  const page = await freshPage(browser, { 'agw.token': JSON.stringify(token) });
  await page.goto(`${url}/ui/#/new`);
  await page.getByRole('button', { name: /^Model: / }).waitFor();
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(1000);
  first.push(await opened(page));
  later.push(await opened(page));
  await page.context().close();
}
await browser.close();
const summary = (all) => ({
  took: median(all.map(({ took }) => took)),
  longest: Math.max(...all.map(({ longest }) => longest)),
});
console.log(JSON.stringify({ first: summary(first), later: summary(later) }));
