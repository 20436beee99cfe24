// From Send to the frame that says that an answer is coming, while each answer of the gateway takes 1.5 s longer: median of
// five messages in one chat, as JSON.
//   node bench/browser/send.mjs <url of the gateway> <its token> <id of a thread>
import { freshPage, median, openBrowser } from './browser.mjs';

const [url, token, thread] = process.argv.slice(2);
const latency = 1500;

/** In the page: sends what is written, and returns the milliseconds until `Thinking…` was painted. */
function send() {
  return new Promise((shown) => {
    const observer = new MutationObserver(() => {
      if (!document.querySelector('[role=log]').textContent.includes('Thinking…')) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => shown(performance.now() - begun)));
    });
    observer.observe(document, { childList: true, characterData: true, subtree: true });
    const begun = performance.now();
    document.querySelector('main form button.primary').click();
  });
}

const browser = await openBrowser();
const page = await freshPage(browser, { 'agw.token': JSON.stringify(token) });
await page.goto(`${url}/ui/#/t/${thread}`);
const message = page.getByRole('textbox', { name: 'Message' });
await message.waitFor();
await page.waitForLoadState('networkidle');
const line = await page.context().newCDPSession(page);
await line.send('Network.enable');
await line.send('Network.emulateNetworkConditions', {
  offline: false,
  latency,
  downloadThroughput: -1,
  uploadThroughput: -1,
});
const took = [];
for (let i = 0; i < 5; i++) {
  await message.fill(`Message ${i}`);
  // What typing caused is over.
  await page.waitForTimeout(500);
  took.push(await page.evaluate(send));
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
}
await browser.close();
console.log(JSON.stringify({ took: median(took) }));
