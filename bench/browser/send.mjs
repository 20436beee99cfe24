// From Send to the frame that says that an answer is coming, while each answer of the gateway takes 1.5 s longer: median of
// five messages in one chat, as JSON. Within one frame means: in the frame that begins next.
//   node bench/browser/send.mjs <url of the gateway> <its token> <id of a thread>
import { freshPage, median, openBrowser } from './browser.mjs';

const [url, token, thread] = process.argv.slice(2);
const latency = 1500;

/**
 * In the page: sends what is written, and returns the milliseconds until the frame began that has `Thinking…`. It sends right
 * after a frame, as the time until the next one would else be a matter of luck, and ends when that begins: when a timer tells
 * that it was painted, more than a frame has passed in any case.
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
