import assert from 'node:assert/strict';
import test from 'node:test';
import { chromium, launchOptions } from './chromium.mjs';
import {
  answers,
  eventually,
  holdRequests,
  holdResponses,
  measureWork,
  message,
  missing,
  questions,
  sendMessage,
  withGateway,
} from './environment.mjs';

const phone = { width: 390, height: 844 };

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  test('a line of 1 MB, and one character 100,000 times, are pasted and edited with little work', async () => {
    // A browser of its own, because all pages of a browser share its clipboard.
    const own = await chromium.launch(launchOptions);
    try {
      const context = await own.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
      const page = await context.newPage();
      await page.addInitScript((token) => localStorage.setItem('agw.token', JSON.stringify(token)), env.token);
      await page.goto(`${env.proxy.url}/ui/#/t/${(await env.thread()).id}`);
      await page.getByRole('heading', { level: 1, name: 'New thread' }).waitFor();
      for (const [part, count] of [
        ['x', 100_000],
        ['{"name":"value"},', 60_000],
      ]) {
        await message(page).fill('');
        await page.evaluate((text) => navigator.clipboard.writeText(text), part.repeat(count));
        const work = await measureWork(page);
        await message(page).press('ControlOrMeta+v');
        await page.keyboard.type('abc');
        assert.equal((await message(page).inputValue()).length, part.length * count + 3);
        const took = await work();
        console.log(`# ${count} times ${part}: ${took} ms of work`);
        assert.ok(took < 3000, `${took} ms`);
      }
    } finally {
      await own.close();
    }
  });

  test('the composer’s selects are legible on a phone and at 200 %', async () => {
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'gardener',
      description: 'd',
      enabled: true,
      definition: { systemPrompt: 'x' },
    });
    const { id } = await env.thread();
    for (const options of [
      { viewport: phone, hasTouch: true, isMobile: true },
      { viewport: { width: 640, height: 400 } },
    ]) {
      for (const route of ['/new', `/t/${id}`]) {
        const page = await env.open(route, options);
        await page.getByRole('button', { name: /^Model: / }).waitFor();
        if (route !== '/new') await page.locator('form').getByRole('combobox', { name: 'Agent' }).waitFor();
        const boxes = await page.locator('form :is(.model, .agent) span').all();
        assert.ok(boxes.length > 0);
        for (const box of boxes)
          assert.ok(
            await box.evaluate((one) => one.scrollWidth <= one.clientWidth),
            `${route}: ${await box.innerText()}`,
          );
      }
    }
    const page = await env.open('/agents/gardener', { viewport: phone });
    const because = page.getByRole('textbox', { name: 'Reason' });
    await because.waitFor();
    assert.ok((await because.boundingBox()).width > 180);
  });

  test('Send is at the end of its row, whatever is open next to the chat', async () => {
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'one-with-a-rather-long-name',
      description: 'd',
      enabled: true,
      definition: { systemPrompt: 'x' },
    });
    const id = await env.threadWith({ role: 'assistant', content: '```html\n<h1>Beside</h1>\n```' });
    const page = await env.open(`/t/${id}`);
    const form = page.locator('form').filter({ has: message(page) });
    const agent = form.getByRole('combobox', { name: 'Agent' });
    const boxOf = (name) => form.getByRole('button', { name, exact: true }).boundingBox();

    /** Checks that Send is at the right end and, with `inRow`, that everything is in one row. */
    const expectSendAtEnd = (situation, inRow) =>
      eventually(async () => {
        const [box, attach, send] = [await form.boundingBox(), await boxOf('Attach files'), await boxOf('Send')];
        const gap = box.x + box.width - send.x - send.width;
        assert.ok(gap >= 0 && gap < 16, `${situation}: Send ends ${gap} px before the form`);
        const below = Math.abs(send.y + send.height / 2 - attach.y - attach.height / 2);
        assert.ok(!inRow || below < 4, `${situation}: Send is ${below} px below`);
      });

    await agent.waitFor();
    await expectSendAtEnd('alone', true);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByRole('region', { name: 'Artifact' }).waitFor();
    for (const width of [1440, 1280, 1100, 980]) {
      await page.setViewportSize({ width, height: 800 });
      await expectSendAtEnd(`${width} px`, width >= 1280);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    const held = await env.backend.hold({ pieces: ['On it'] });
    await sendMessage(page, 'Go');
    await page.getByText('On it').waitFor();
    await expectSendAtEnd('while it answers', true);
    await message(page).fill('And another thing');
    await form.getByRole('button', { name: 'Interrupt' }).waitFor();
    await expectSendAtEnd('while it answers and something is typed', true);
    await env.backend.release({ held, pieces: ['.'] });
  });

  test('on a phone, the choice of a model is above the row of buttons', async () => {
    const { id } = await env.thread();
    for (const route of ['/new', `/t/${id}`]) {
      const page = await env.open(route, { viewport: phone, hasTouch: true, isMobile: true });
      const form = page.locator('form').filter({ has: message(page) });
      const middle = async (element) => {
        const { y, height } = await element.boundingBox();
        return y + height / 2;
      };
      const send = form.getByRole('button', { name: 'Send' });
      await eventually(async () => {
        const model = await middle(form.getByRole('button', { name: /^Model: / }));
        assert.ok(model < (await send.boundingBox()).y, `${route}: the model is next to Send`);
        for (const other of [
          form.getByRole('button', { name: 'Attach files' }),
          form.getByText('Act', { exact: true }),
        ])
          assert.ok(Math.abs((await middle(other)) - (await middle(send))) < 4, `${route}: Send is in a separate row`);
      });
    }
  });

  test('on narrow phones, all buttons for a message during an answer are in one row', async () => {
    const { id } = await env.thread();
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'another',
      description: 'd',
      enabled: true,
      definition: { systemPrompt: 'x' },
    });
    const page = await env.open(`/t/${id}`, { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true });
    const held = await env.backend.hold({ pieces: ['On it'] });
    await sendMessage(page, 'Go');
    await page.getByText('On it').waitFor();
    await message(page).fill('And another thing');
    const form = page.locator('form').filter({ has: message(page) });
    for (const width of [320, 390]) {
      await page.setViewportSize({ width, height: 640 });
      await eventually(async () => {
        const tops = new Set();
        for (const name of ['Attach files', 'Stop', 'Interrupt', 'Steer', 'Send']) {
          const { y, height } = await form.getByRole('button', { name, exact: true }).boundingBox();
          tops.add(Math.round((y + height / 2) / 4));
        }
        assert.equal(tops.size, 1, `${width} px`);
      });
    }
    assert.equal(await form.getByRole('combobox', { name: 'Agent' }).isVisible(), false);
    await env.backend.release({ held, pieces: ['.'] });
  });

  test('an open chat shows the model that will answer', async () => {
    const { id } = await env.thread();
    const page = await env.open(`/t/${id}`);
    await page.getByRole('button', { name: 'Model: stub/talker-1' }).waitFor();
  });

  test('the model that is chosen for a chat answers its further messages, also after a reload', async () => {
    const page = await env.open('/new');
    await page.getByRole('button', { name: /^Model: / }).click();
    await page.getByRole('combobox', { name: 'Search models' }).fill('stub/other-9');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Model: stub/other-9' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Model: stub/other-9' }).waitFor();
    for (const words of ['First', 'Second', 'Third']) {
      await env.backend.reply({ text: `${words} answer.` });
      await sendMessage(page, words);
      await answers(page).getByText(`${words} answer.`).waitFor();
      if (words === 'Second') await page.reload();
    }
    const stored = await env.turns(page.url().split('/t/')[1]);
    const models = stored.flatMap(({ role, metadata }) => (role === 'assistant' ? metadata.model : []));
    assert.deepEqual(models, ['stub/other-9', 'stub/other-9', 'stub/other-9']);
    await page.getByRole('button', { name: 'New chat' }).click();
    await page.getByRole('button', { name: 'Model: stub/talker-1' }).waitFor();
  });

  test('files of a message are shown apart, also after a reload', async () => {
    const page = await env.open('/new');
    const buffer = Buffer.from('content');
    const files = ['one.txt', 'two.txt'].map((name) => ({ name, mimeType: 'text/plain', buffer }));
    await page.locator('input[type=file]').setInputFiles(files);
    await page.getByText('two.txt').waitFor();
    await env.backend.reply({ text: 'Read both.' });
    await sendMessage(page, 'See the files');
    await answers(page).getByText('Read both.').waitFor();
    await page.reload();
    const [one, two] = files.map(({ name }) => questions(page).getByText(name, { exact: true }));
    const [first, second] = [await one.boundingBox(), await two.boundingBox()];
    const said = await questions(page).getByText('See the files').boundingBox();
    assert.ok(second.x >= first.x + first.width + 2, `${first.x + first.width} and ${second.x}`);
    assert.ok(first.y >= said.y + said.height, `${said.y + said.height} and ${first.y}`);
  });

  test('a message of files only is sent once they are uploaded', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    const send = page.getByRole('button', { name: 'Send' });
    await message(page).fill(' ');
    assert.ok(await send.isDisabled());
    const upload = await holdRequests(page, '**/files?*');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('Tea at five') });
    await message(page).press('Enter');
    await upload.requested();
    await env.backend.reply({ text: 'Tea.' });
    await upload.release();
    await answers(page).getByText('Tea.').waitFor();
    await questions(page).getByText('plan.txt').waitFor();
    assert.equal(await questions(page).locator('.said').count(), 0);
    assert.ok(await send.isDisabled());
  });

  test('an attached picture is previewed, and a file that only has the name of one is not', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await page.locator('input[type=file]').setInputFiles([
      { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(pixel, 'base64') },
      { name: 'not.png', mimeType: 'text/plain', buffer: Buffer.from('text') },
    ]);
    const list = page.getByRole('list', { name: 'Attachments' });
    await list.getByText('not.png').waitFor();
    const pictures = list.locator('img');
    await eventually(async () => assert.equal(await pictures.evaluate((img) => img.naturalWidth), 1));
    await page.getByRole('button', { name: 'Remove dot.png' }).click();
    await pictures.waitFor({ state: 'hidden' });
  });

  test('suggestions close when the composer loses the focus, and can be clicked', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    const offered = page.getByRole('listbox', { name: 'Suggestions' });
    await message(page).fill('/');
    await offered.waitFor();
    await page.getByRole('button', { name: 'Rename', exact: true }).focus();
    await offered.waitFor({ state: 'hidden' });
    await message(page).fill('/s');
    await offered.getByRole('option').first().click();
    await eventually(async () => assert.match(await message(page).inputValue(), /^\/\S+ $/));
  });

  test('an accepted suggestion is undone like typed text, and what was typed before it stays', async () => {
    const page = await env.open('/new');
    await message(page).click();
    await page.keyboard.type('/pla');
    await page.getByRole('option', { name: '/plan' }).waitFor();
    await page.keyboard.press('Enter');
    assert.equal(await message(page).inputValue(), '/plan ');
    await page.keyboard.type('a trip');
    for (let presses = 0; presses < 10 && (await message(page).inputValue()) !== '/pla'; presses++)
      await page.keyboard.press('Control+z');
    assert.equal(await message(page).inputValue(), '/pla');
    await page.keyboard.press('Control+Shift+z');
    assert.match(await message(page).inputValue(), /^\/plan /);
  });

  test('Send is in the row of the other buttons on the smallest phones, in German too', async () => {
    const page = await env.open('/new', { viewport: { width: 320, height: 640 }, locale: 'de-DE' });
    const middleOf = async (name) => {
      const { y, height } = await page.getByRole('button', { name, exact: true }).boundingBox();
      return y + height / 2;
    };
    await page.getByRole('radio', { name: 'Handeln' }).waitFor({ state: 'attached' });
    await eventually(async () =>
      assert.ok(Math.abs((await middleOf('Senden')) - (await middleOf('Dateien anhängen'))) < 4),
    );
  });

  test('late suggestions stay hidden after the composer lost the focus', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    let answer;
    const held = new Promise((done) => (answer = done));
    const found = { name: 'late.md', path: '/late.md', isDirectory: false };
    await page.route('**/filesystem/search?*', async (route) => {
      await held;
      await route.fulfill({ json: { results: [found] } });
    });
    const requested = page.waitForRequest('**/filesystem/search?*');
    await message(page).fill('@late');
    await requested;
    await page.getByRole('button', { name: 'Rename', exact: true }).focus();
    const answered = page.waitForResponse('**/filesystem/search?*');
    answer();
    await answered;
    await page.evaluate(() => new Promise((settled) => setTimeout(settled, 50)));
    assert.equal(await page.getByRole('listbox', { name: 'Suggestions' }).count(), 0);
  });

  test('the selected suggestion is in view, however many suggestions there are', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      await env.api('POST', '/extensions', {
        type: 'command',
        name: `many-${name}`,
        description: 'so long that it is broken '.repeat(4),
        enabled: true,
        definition: { prompt: 'p' },
      });
    }
    const page = await env.open('/new', { viewport: { width: 360, height: 740 } });
    await page.getByRole('textbox', { name: 'Message' }).pressSequentially('/many');
    const options = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
    await eventually(async () => assert.equal(await options.count(), 8));
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowDown']) {
      await page.keyboard.press(key);
      await eventually(async () =>
        assert.ok(
          await page.evaluate(() => {
            const mine = document.querySelector('[role=option][aria-selected=true]').getBoundingClientRect();
            const all = document.querySelector('[role=listbox]').getBoundingClientRect();
            return mine.top >= all.top && mine.bottom <= all.bottom;
          }),
        ),
      );
    }
  });

  test('accepting a suggestion while newer ones load replaces all of the typed text', async () => {
    await env.backend.write({ path: 'garden/tomatoes.txt', text: 'x' });
    const page = await env.open('/new');
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.pressSequentially('Read @tomat');
    await page.getByRole('option').filter({ hasText: 'tomatoes.txt' }).waitFor();
    const release = await holdResponses(page, 'GET', '**/filesystem/search?**');
    await message.pressSequentially('oes');
    await page.keyboard.press('Tab');
    release();
    await eventually(async () => assert.equal(await message.inputValue(), `Read ${env.home}/garden/tomatoes.txt `));
  });

  test('commands are suggested after a slash, files after an at sign', async () => {
    const path = await env.backend.write({ path: 'notes/quince.txt', text: 'x' });
    const page = await env.open('/new');
    await message(page).fill('/pl');
    await page.getByRole('option', { name: /\/plan/ }).waitFor();
    await message(page).press('Enter');
    assert.equal(await message(page).inputValue(), '/plan ');
    await message(page).fill('Read @quin');
    await page.getByRole('option', { name: /quince.txt/ }).click();
    assert.equal(await message(page).inputValue(), `Read ${path} `);
  });

  test('a slash offers all commands in alphabetical order', async () => {
    const page = await env.open('/new');
    await message(page).fill('/');
    const options = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
    await options.filter({ hasText: '/act' }).waitFor();
    const names = (await options.locator('strong').allTextContents()).map((name) => name.trim());
    assert.deepEqual(names, names.toSorted());
    const commands = (await env.api('GET', '/extensions?type=command')).filter(({ enabled }) => enabled);
    assert.equal(names.length, commands.length);
  });
}
