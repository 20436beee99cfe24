// Measures the effect of streams on the page's frames, as JSON. On stdin: {url, token, model, threads: [id…], deltas}. The
// page shows the first thread while all of them are answered.
import { text } from 'node:stream/consumers';
import { freshPage, openBrowser } from './browser.mjs';

const { url, token, model, threads, deltas } = JSON.parse(await text(process.stdin));
const ask = (threadId) =>
  fetch(`${url}/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content: 'Go.', threadId, model }),
  });

const browser = await openBrowser();
try {
  const page = await freshPage(browser, { 'agw.token': JSON.stringify(token) });
  await page.goto(`${url}/ui/#/t/${threads[0]}`);
  await page.getByRole('log').waitFor();
  await page.waitForLoadState('networkidle');
  await page.evaluate(() => {
    window.longTasks.length = 0;
    window.gaps = [];
    let last = performance.now();
    const frame = (now) => {
      window.gaps.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await Promise.all(threads.map(ask));
  const answer = page.getByRole('article', { name: 'Assistant' });
  await answer.getByText(model).waitFor({ timeout: 120_000 });
  const { gaps, longTasks } = await page.evaluate(() => ({ gaps: window.gaps.slice(2), longTasks: window.longTasks }));
  gaps.sort((a, b) => a - b);
  const shown = ((await answer.innerText()).match(/@\d+/g) ?? []).length;
  console.log(JSON.stringify({ p99: gaps[Math.floor(gaps.length * 0.99)], frames: gaps.length, longTasks: longTasks.length, missing: deltas - shown }));
} finally {
  await browser.close();
}
