import assert from 'node:assert/strict';
import test from 'node:test';
import { crc32, deflateSync } from 'node:zlib';
import { expectAccessible } from './accessibility.mjs';
import { answers, eventually, measureWork, missing, repository, withGateway } from './environment.mjs';

/** A PNG of one colour. */
function png(width, height, color) {
  const chunk = (name, data) => {
    const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  const line = Buffer.concat([Buffer.of(0), Buffer.alloc(3 * width, Buffer.from(color))]);
  const lines = Buffer.concat(Array.from({ length: height }, () => line));
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const red = [200, 0, 0];
  const green = [0, 160, 0];
  const blue = [0, 0, 200];

  /** Creates the tool and an agent that may call it. Returns the agent. */
  async function setUp() {
    await env.api('POST', '/extensions', {
      type: 'integration',
      name: 'camera',
      description: '',
      enabled: true,
      definition: {
        kind: 'mcp-stdio',
        command: '/usr/bin/python3',
        args: [`${repository}/tests/api/stubs/mcp_server.py`],
      },
    });
    const agent = await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'watcher',
      description: '',
      enabled: true,
      definition: { mode: 'act' },
    });
    await env.api('PATCH', '/agents/watcher/stage', { stage: 'trusted', reason: 'It takes pictures' });
    return agent;
  }
  let agent;
  async function newThread() {
    agent ??= setUp();
    return env.thread({ agent_id: (await agent).id });
  }

  /** A call of the tool that returns pictures of these colours, one pixel wider each. */
  const taking = (...colors) => ({
    name: 'camera__pictures',
    arguments: { pictures: colors.map((color, i) => ['image/png', png(320 + i, 200, color).toString('base64')]) },
  });
  const ask = (thread, content) => env.api('POST', '/chat', { threadId: thread.id, content });
  const ended = (page, text) => answers(page).last().getByText(text).waitFor();

  async function chatWith(...colors) {
    const thread = await newThread();
    await env.backend.reply({ text: '', tool_calls: [taking(...colors)] });
    await env.backend.reply({ text: 'Taken.' });
    const page = await env.open(`/t/${thread.id}`);
    await ask(thread, 'Take pictures.');
    await ended(page, 'Taken.');
    return { page, thread };
  }

  const panel = (page) => page.getByRole('region', { name: 'Pictures of tools' });
  const thumbnails = (page) =>
    answers(page).getByRole('button', { name: /^Picture \d+ of \d+ from camera__pictures$/ });
  const shows = (image, width) =>
    eventually(async () => assert.equal(await image.evaluate(({ naturalWidth }) => naturalWidth), width));
  const shownIn = (page) => panel(page).getByRole('img');
  const button = (page, name) => panel(page).getByRole('button', { name });

  test('pictures of a tool are shown in the chat, at once and after a reload, and open beside it', async () => {
    const { page } = await chatWith(red, green);
    for (const again of [false, true]) {
      if (again) await page.reload();
      await shows(thumbnails(page).first().locator('img'), 320);
      await shows(thumbnails(page).last().locator('img'), 321);
    }
    await thumbnails(page).first().click();
    await shows(shownIn(page), 320);
    await panel(page).getByText('1 of 2').waitFor();
    assert.equal(await button(page, 'Follow the newest').getAttribute('aria-pressed'), 'false');
    await button(page, 'Next picture').click();
    await shows(shownIn(page), 321);
    await button(page, 'Previous picture').press('Enter');
    await shows(shownIn(page), 320);
    await page.keyboard.press('Escape');
    await panel(page).waitFor({ state: 'detached' });
    await eventually(async () =>
      assert.ok(
        await thumbnails(page)
          .first()
          .evaluate((thumbnail) => thumbnail === document.activeElement),
      ),
    );
  });

  test('an open panel follows the newest picture until another one is chosen', async () => {
    const { page, thread } = await chatWith(red);
    await thumbnails(page).click();
    await shows(shownIn(page), 320);
    assert.equal(await button(page, 'Follow the newest').getAttribute('aria-pressed'), 'true');

    const take = async (says, ...colors) => {
      await env.backend.reply({ text: '', tool_calls: [taking(...colors)] });
      await env.backend.reply({ text: says });
      await ask(thread, 'Again.');
      await ended(page, says);
    };
    await take('Second.', green, blue);
    await shows(shownIn(page), 321);
    await panel(page).getByText('3 of 3').waitFor();

    await button(page, 'Previous picture').click();
    await take('Third.', red, green, blue);
    await panel(page).getByText('2 of 6').waitFor();
    await shows(shownIn(page), 320);
    await button(page, 'Follow the newest').click();
    await shows(shownIn(page), 322);
    await panel(page).getByText('6 of 6').waitFor();
  });

  test('the panel opens from the menu, before there is a picture', async () => {
    const thread = await newThread();
    const page = await env.open(`/t/${thread.id}`);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Watch the pictures of tools' }).click();
    await panel(page).getByText('There is no picture yet.').waitFor();
    await env.backend.reply({ text: '', tool_calls: [taking(blue)] });
    await env.backend.reply({ text: 'Taken.' });
    await ask(thread, 'Take one.');
    await shows(shownIn(page), 320);
  });

  /** Stores calls with these files as pictures, eight each. */
  async function threadWithPictures(files) {
    const { id: thread } = await env.thread();
    const steps = [];
    for (let call = 0; call < files.length / 8; ++call) {
      const pictures = files.slice(8 * call, 8 * call + 8);
      const metadata = { run_id: 'r', tool_call_id: `c${call}`, tool_name: 'browser__shot', input: {}, pictures };
      await env.api('POST', `/threads/${thread}/turns`, { role: 'tool', content: 'shot', metadata });
      steps.push(`c${call}`);
    }
    const metadata = { run_id: 'r', steps: [{ text_end: 0, tool_call_ids: steps }] };
    await env.api('POST', `/threads/${thread}/turns`, { role: 'assistant', content: 'Done.', metadata });
    return thread;
  }

  test('pictures that are no longer kept are named so', async () => {
    const gone = { id: '01890000-0000-7000-8000-00000000dead', name: 'a.png', mime: 'image/png', size: 1 };
    const page = await env.open(`/t/${await threadWithPictures([gone])}`);
    await answers(page).getByText('No longer kept').waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Watch the pictures of tools' }).click();
    await panel(page).getByText('The gateway no longer keeps this picture.').waitFor();
  });

  test('scrolling past 200 pictures takes no more work than past 100, and only visible ones are loaded', async () => {
    const body = png(1280, 720, green);
    const files = [];
    for (let i = 0; i < 200; ++i) {
      const headers = { authorization: `Bearer ${env.token}`, 'content-type': 'image/png' };
      const response = await fetch(`${env.url}/files?name=a.png`, { method: 'POST', headers, body });
      files.push(await response.json());
    }
    const usual = [];
    for (const count of [100, 200]) {
      const page = await env.open(`/t/${await threadWithPictures(files.slice(0, count))}`);
      await ended(page, 'Done.');
      const all = answers(page).locator('li img');
      await shows(all.nth(count - 8), 1280);
      const loaded = await all.evaluateAll((images) => images.filter(({ naturalWidth }) => naturalWidth).length);
      assert.ok(loaded < 120, `${loaded} of ${count}`);
      await all.nth(count - 8).hover();
      const works = [];
      for (let i = 0; i < 10; ++i) {
        const work = await measureWork(page);
        await page.mouse.wheel(0, -100);
        await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
        works.push(await work());
      }
      console.log(`# ${count} pictures: ${works.join(', ')} ms of work for 100 pixels each`);
      usual.push(works.sort((a, b) => a - b)[2]);
      await page.mouse.wheel(0, -10_000);
      await shows(all.first(), 1280);
      await page.close();
    }
    const [half, whole] = usual;
    assert.ok(whole < 3 * half + 20, `${whole} ms for 200 pictures, ${half} ms for 100`);
  });

  for (const width of [1280, 390])
    test(`the pictures are accessible and fit (${width} px)`, async () => {
      const { page } = await chatWith(red, green, blue);
      await page.setViewportSize({ width, height: 800 });
      await expectAccessible(page);
      await thumbnails(page).last().click();
      await shows(shownIn(page), 322);
      await expectAccessible(page);
    });
}
