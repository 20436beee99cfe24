// Debian's Chromium for benchmarks, and the cost of a first visit to a page.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../web/package.json', import.meta.url));
const { chromium } = require('playwright-core');

export const openBrowser = () =>
  chromium.launch({
    executablePath: new URL('chromium', import.meta.url).pathname,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

/**
 * In the page: stores in `window.shownAt` when the first frame with a visible matching text was painted. Polling from outside
 * the page would add a delay of up to half a second.
 */
function recordWhenShown(pattern) {
  if (window !== top) return;
  const wanted = new RegExp(pattern);
  const isShown = () => {
    const texts = document.createTreeWalker(document.body ?? document, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { data, parentElement } = texts.currentNode;
      if (wanted.test(data) && parentElement?.checkVisibility()) return true;
    }
    return false;
  };
  const record = () => (window.shownAt = performance.timeOrigin + performance.now());
  const observer = new MutationObserver(() => {
    if (!isShown()) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(record));
  });
  observer.observe(document, { childList: true, characterData: true, attributes: true, subtree: true });
}

/** A page of a browser with an empty cache; `storage`: the contents of localStorage. */
export async function freshPage(browser, storage = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript((entries) => {
    if (window !== top) return;
    for (const [name, value] of Object.entries(entries)) localStorage.setItem(name, value);
    window.longTasks = [];
    new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask', buffered: true });
  }, storage);
  return page;
}

/** Counts transferred bytes and requests, as reported by the browser's network layer; `bytes` includes `font`. */
async function watchNetwork(session) {
  const seen = { bytes: 0, font: 0, requests: 0 };
  const fonts = new Set();
  await session.send('Network.enable');
  session.on('Network.responseReceived', ({ requestId, type }) => type === 'Font' && fonts.add(requestId));
  session.on('Network.requestWillBeSent', ({ request }) => (seen.requests += /^(data|blob):/.test(request.url) ? 0 : 1));
  session.on('Network.webSocketCreated', () => seen.requests++);
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    seen.bytes += encodedDataLength;
    if (fonts.has(requestId)) seen.font += encodedDataLength;
  });
  return seen;
}

const settleTime = 1000; // ms

/**
 * Opens `url` with an empty cache, in an existing window, and waits until `text`, a regular expression, is displayed. `shown`:
 * milliseconds from the navigation to the frame with the text. Bytes and requests include those of the following second.
 */
export async function visit(browser, url, text, storage) {
  const page = await freshPage(browser, storage);
  const session = await page.context().newCDPSession(page);
  const traffic = await watchNetwork(session);
  await page.addInitScript(recordWhenShown, text);
  // A new window loads about 250 files of the browser itself, which would leave the page only half of the processors.
  await page.waitForTimeout(settleTime);
  const begun = performance.timeOrigin + performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  const shownAt = await page.waitForFunction(() => window.shownAt, null, { timeout: 60_000 });
  const shown = (await shownAt.jsonValue()) - begun;
  await page.waitForTimeout(settleTime);
  await page.waitForLoadState('networkidle', { timeout: 5000 }).catch(() => {});
  const metrics = await page.evaluate(() => ({
    painted: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null,
    elements: document.querySelectorAll('*').length,
    longest: Math.max(0, ...window.longTasks),
  }));
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await page.context().close();
  return { ...traffic, ...metrics, shown, heap: usedSize };
}

/** The medians of `times` visits. */
export async function visits(url, text, storage, times = 5) {
  const browser = await openBrowser();
  try {
    const all = [];
    for (let i = 0; i < times; i++) all.push(await visit(browser, url, text, storage));
    return Object.fromEntries(Object.keys(all[0]).map((name) => [name, median(all.map((one) => one[name]))]));
  } finally {
    await browser.close();
  }
}
