// Measures the time from Send to the frame that announces an answer, while each response of the gateway is delayed by 1.5 s.
// Prints the median of five messages in one chat, as JSON. "Within one frame" means the frame that begins next.
//   node bench/browser/send.mjs <url of the gateway> <its token> <id of a thread>
import { freshPage, median, openBrowser } from './browser.mjs';

const [url, token, thread] = process.argv.slice(2);
const latency = 1500;

/**
 * In the page: sends the message, and returns the milliseconds until the start of the frame with `Thinking…`. Sends
 * immediately after a frame, because the time until the next one would otherwise be random. Stops at the start of the frame,
 * because a timer would report its painting only after another frame.
 */
async function send() {
  const frame = () => new Promise((begins) => requestAnimationFrame(() => begins(performance.now())));
  await frame();
  await new Promise((painted) => setTimeout(painted));
  const begun = performance.now();
  document.querySelector('main form button.primary').click();
  for (;;) {
    const began = await frame();
    if (document.querySelector('[role=log]').textContent.includes('Thinking…')) return began - begun;
  }
}

const browser = await openBrowser();
const page = await freshPage(browser, { 'agw.token': JSON.stringify(token) });
await page.goto(`${url}/ui/#/t/${thread}`);
const message = page.getByRole('textbox', { name: 'Message' });
await message.waitFor();
await page.waitForLoadState('networkidle');
const session = await page.context().newCDPSession(page);
await session.send('Network.enable');
await session.send('Network.emulateNetworkConditions', {
  offline: false,
  latency,
  downloadThroughput: -1,
  uploadThroughput: -1,
});
const took = [];
for (let i = 0; i < 5; i++) {
  await message.fill(`Message ${i}`);
  // Wait for the effects of typing.
  await page.waitForTimeout(500);
  took.push(await page.evaluate(send));
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
}
await browser.close();
console.log(JSON.stringify({ took: median(took) }));
