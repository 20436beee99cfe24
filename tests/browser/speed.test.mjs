import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, missing, sendMessage, withGateway, measureWork } from './environment.mjs';

// Limits are for work of the page's main thread, because wall-clock time would measure the load of the machine.
const kilobyte = 1024;

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  async function createLongThread(count, content = (i) => `Turn ${i} with **some** text.`) {
    const batchSize = 5000;
    let id;
    for (let begin = 0; begin < count; begin += batchSize) {
      const turns = Array.from({ length: Math.min(batchSize, count - begin) }, (_, i) => ({
        key: `${begin + i}`,
        role: (begin + i) % 2 ? 'assistant' : 'user',
        content: content(begin + i),
      }));
      const { threads } = await env.api('POST', '/import', { source: 'test', threads: [{ key: `${count}`, turns }] });
      id = threads[0].id;
    }
    return id;
  }

  /** Opens `url`, and measures the traffic until the network is idle. */
  async function traffic(page, url) {
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    const urls = [];
    const kinds = new Map();
    const bytes = { page: 0, answers: 0, font: 0 };
    session.on('Network.requestWillBeSent', ({ requestId, request: { url: requestUrl } }) => {
      const { pathname } = new URL(requestUrl);
      kinds.set(requestId, pathname.endsWith('.woff2') ? 'font' : pathname.startsWith('/ui/') ? 'page' : 'answers');
      if (!requestUrl.startsWith('data:')) urls.push(requestUrl);
    });
    session.on('Network.webSocketCreated', ({ url: socket }) => urls.push(socket));
    session.on(
      'Network.loadingFinished',
      ({ requestId, encodedDataLength }) => (bytes[kinds.get(requestId)] += encodedDataLength),
    );
    await page.goto(url);
    await page.getByRole('textbox').first().waitFor();
    await page.waitForLoadState('networkidle');
    return { urls, bytes };
  }

  test('pairing and a chat stay within their limits for bytes and requests', async () => {
    const { id } = await env.thread();
    await env.api('POST', `/threads/${id}/turns`, { role: 'user', content: 'Hello' });
    const pairing = await traffic(await env.newPage(), `${env.url}/ui/`);
    const page = await env.open();
    await page.close();
    const chat = await env.newPage();
    await chat.addInitScript((token) => localStorage.setItem('agw.token', JSON.stringify(token)), env.token);
    const { urls, bytes } = await traffic(chat, `${env.url}/ui/#/t/${id}`);
    const summary = ({ bytes: { page, answers: data, font }, urls: all }) =>
      `${(page / kilobyte).toFixed(0)} KB, a font of ${(font / kilobyte).toFixed(0)} KB and ${(data / kilobyte).toFixed(0)} KB of data in ${all.length} requests`;
    console.log(`# pairing ${summary(pairing)}; chat ${summary({ bytes, urls })}`);
    assert.ok(pairing.bytes.page <= 40 * kilobyte);
    assert.ok(bytes.page <= 90 * kilobyte);
    assert.ok(urls.length <= 12, urls.join('\n'));
  });

  for (const [count, within] of [
    [1000, 1200],
    [10_000, 1200],
    [50_000, 1200],
  ]) {
    test(`a chat of ${count} turns shows its end at once, and older turns when scrolling up`, async () => {
      const id = await createLongThread(count);
      const page = await env.open('/inbox');
      await page.waitForLoadState('networkidle');
      const work = await measureWork(page);
      await page.evaluate((hash) => (location.hash = hash), `#/t/${id}`);
      await page
        .getByText(/^Turn \d+ with/)
        .last()
        .waitFor();
      const took = await work();
      console.log(`# ${count} turns: ${took} ms of work`);
      assert.ok(took < within, `${took} ms`);
      const log = page.getByRole('log');
      const loaded = await page.getByRole('article').count();
      assert.ok(loaded <= 60, `${loaded} turns in the page`);
      await log.hover();
      await page.mouse.wheel(0, -100_000);
      await eventually(async () => assert.ok((await page.getByRole('article').count()) > loaded));
    });
  }

  test('a message 1,000 turns back, in a chat full of code, is shown with little work, and so is a new one', async () => {
    const code = '```js\nconst a = 1;\n```';
    const id = await createLongThread(1000, (i) => `Turn ${i} with code:\n\n${code}\n\n${code}\n\n- one\n- two`);
    const first = (await env.turns(id))[0].id;
    const page = await env.open('/inbox');
    await page.waitForLoadState('networkidle');
    let work = await measureWork(page);
    await page.evaluate((hash) => (location.hash = hash), `#/t/${id}?turn=${first}`);
    // Selectors of the test would search the long document again and again.
    const shows = (selector) =>
      page.waitForFunction((wanted) => document.querySelector(wanted), selector, { polling: 250 });
    await shows('.found');
    const found = await work();
    work = await measureWork(page);
    await env.api('POST', '/chat', { threadId: id, content: 'Go on' });
    await shows('.answer:last-of-type .took');
    const added = await work();
    console.log(`# 1,000 turns: ${found} ms of work to show the first, ${added} ms to show another answer`);
    assert.ok(found < 2000, `${found} ms`);
    assert.ok(added < 700, `${added} ms`);
  });

  test('twenty concurrent answers take little work, and the open one is complete', async () => {
    const text = Array.from({ length: 75 }, (_, i) => `Paragraph ${i} of a **long** answer.\n\n`).join('');
    await env.backend.always({ text, deltas: 300, rate: 50 });
    const threads = await Promise.all(Array.from({ length: 20 }, () => env.thread({ title: 'One of twenty' })));
    const page = await env.open(`/t/${threads[0].id}`);
    await page.getByRole('log').waitFor();
    await page.waitForLoadState('networkidle');
    const work = await measureWork(page);
    await Promise.all(threads.map(({ id }) => env.api('POST', '/chat', { content: 'Go', threadId: id })));
    await page.getByText('stub/talker-1').waitFor();
    const took = await work();
    console.log(`# 20 answers of 300 deltas: ${took} ms of work`);
    assert.ok(took < 9000, `${took} ms`);
    assert.equal(
      await answers(page)
        .getByText(/^Paragraph \d+ of a long answer\.$/)
        .count(),
      75,
    );
  });

  test('600 deltas at 100 per second take little work and do not move a reader who scrolled up', async () => {
    const page = await env.open();
    const work = await measureWork(page);
    const text = Array.from({ length: 150 }, (_, i) => `Paragraph ${i} of a **long** answer.\n\n`).join('');
    await env.backend.reply({ text, deltas: 600, rate: 100 });
    await sendMessage(page, 'Go on at length');
    await answers(page).getByText('Paragraph 60 of').waitFor();
    const log = page.getByRole('log');
    await log.hover();
    await page.mouse.wheel(0, -300);
    await page.waitForTimeout(200);
    const top = await log.evaluate((box) => box.scrollTop);
    await page.waitForTimeout(1000);
    assert.equal(await log.evaluate((box) => box.scrollTop), top);
    await page.getByText('stub/talker-1').waitFor();
    const took = await work();
    console.log(`# 600 deltas in 6 s: ${took} ms of work`);
    assert.ok(took < 6000, `${took} ms: 10 ms for a delta`);
  });
}
