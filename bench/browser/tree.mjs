// Measures opening a directory in the tree of a project's files: from the click to the frame that shows its first names, until
// all are displayed, and the longest task. Prints medians and maximum of five openings, as JSON.
//   node bench/browser/tree.mjs <url of the gateway> <its token> <id of the project> <number of entries in the directory>
import { freshPage, median, openBrowser } from './browser.mjs';

const [url, token, project, count] = process.argv.slice(2);

/** In the page: clicks, and returns the milliseconds until the first names, and the given number of names, were painted. */
async function open(entries) {
  window.longTasks.length = 0;
  const painted = (isThere) =>
    new Promise((shown) => {
      const observer = new MutationObserver(() => {
        if (!isThere()) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => shown(performance.now() - begun)));
      });
      observer.observe(document, { childList: true, subtree: true, attributes: true });
    });
  const first = painted(() => document.querySelectorAll('[role=treeitem]').length > 10);
  const all = painted(() => document.querySelector(`[aria-setsize="${entries}"]`));
  const begun = performance.now();
  document.querySelector('[role=treeitem]').click();
  return { took: await first, whole: await all };
}

const browser = await openBrowser();
const all = [];
for (let i = 0; i < 5; i++) {
  const page = await freshPage(browser, { 'agw.token': JSON.stringify(token) });
  await page.goto(`${url}/ui/#/files/${project}`);
  await page.getByRole('treeitem').first().waitFor();
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(1000);
  const opened = await page.evaluate(open, count);
  await page.waitForTimeout(500);
  all.push({ ...opened, longest: await page.evaluate(() => Math.max(0, ...window.longTasks)) });
  await page.context().close();
}
await browser.close();
console.log(
  JSON.stringify({
    took: median(all.map(({ took }) => took)),
    whole: median(all.map(({ whole }) => whole)),
    longest: Math.max(...all.map(({ longest }) => longest)),
  }),
);
