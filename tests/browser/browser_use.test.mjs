// The browser panel with a Chromium of the gateway, and a website of this machine in it.
import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { answers, eventually, expectFocus, message, missing, sendMessage, withGateway } from './environment.mjs';

if (missing) test(`the browser of a chat (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  const panel = (page) => page.getByRole('region', { name: 'Browser', exact: true });
  const button = (page, name) => panel(page).getByRole('button', { name, exact: true });
  const address = (page) => panel(page).getByRole('textbox', { name: 'Address' });
  const input = (page) => panel(page).getByRole('textbox', { name: 'Input for the website' });
  const tab = (page, title) =>
    panel(page).getByRole('group', { name: 'Tabs' }).getByRole('button', { name: title, exact: true });

  /** Its titles say what happened in it. Elements have fixed places, because tests can only click on a picture. */
  const document = `<!doctype html><title>Garden</title>
    <style>body { margin: 0; background: rgb(0, 128, 0) } body > * { position: absolute; left: 0; width: 200px; height: 40px }</style>
    <textarea style="top: 0"></textarea>
    <button style="top: 50px" onclick="document.title = 'Answer: ' + prompt('Your name?', 'Ann')">Ask</button>
    <a style="top: 100px" href="/second" target="_blank">Second</a>
    <div style="top: 150px" onwheel="document.title = 'Turned ' + event.deltaY"></div>
    <script>
      const field = document.querySelector('textarea');
      field.oninput = () => (document.title = 'Typed ' + field.value.length);
      onkeydown = ({ key }) => void (key === 'F2' && fetch('/typed', { method: 'POST', body: field.value }));
    </script>`;
  let typed = '';
  const site = http.createServer((request, response) => {
    response.setHeader('content-type', 'text/html');
    if (request.method === 'POST') request.on('data', (data) => (typed += data));
    response.end(request.url === '/second' ? '<title>Second</title>Tulips' : document);
  });
  test.before(() => new Promise((listening) => site.listen(0, '127.0.0.1', listening)));
  test.after(() => site.close());

  /** The colour of a pixel of a picture, as red, green, blue and opacity. */
  const colorAt = (picture, x, y) =>
    picture.evaluate(
      (image, at) => {
        const canvas = new OffscreenCanvas(1, 1).getContext('2d');
        canvas.drawImage(image, ...at, 1, 1, 0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
      },
      [x, y],
    );

  /** Waits until the website is shown, because Chromium drops input before a page's first picture. */
  async function garden(page) {
    await tab(page, 'Garden').waitFor();
    const picture = panel(page).getByRole('application').getByRole('img');
    await eventually(async () => {
      const [red, green] = await colorAt(picture, 300, 300);
      assert.ok(red < 20 && green > 100);
    });
  }

  const chats = [];
  // Browsers outlive their pages, but not their chats.
  test.afterEach(async () => {
    for (const id of chats.splice(0)) await env.api('DELETE', `/threads/${id}`);
  });

  async function openPanel(page) {
    await page.getByRole('main').getByRole('button', { name: 'More', exact: true }).first().click();
    await page.getByRole('menuitem', { name: 'Browser' }).click();
    await panel(page).waitFor();
  }

  /** Opens the panel in a new chat, and in it the website, which a person has to allow. */
  async function openSite(options) {
    const { id } = await env.thread({ title: 'Roses' });
    chats.push(id);
    const page = await env.open(`/t/${id}`, options);
    await openPanel(page);
    const host = `localhost:${site.address().port}`;
    await address(page).fill(host);
    await page.keyboard.press('Enter');
    await button(page, `Allow ${host} here`).click();
    await garden(page);
    return page;
  }

  /** Opens the address in the browser of the chat, as another client. */
  const goElsewhere = (page, threadId, to) =>
    page.evaluate(
      ([token, ...messages]) =>
        new Promise((done) => {
          const socket = new WebSocket(`${location.origin.replace('http', 'ws')}/browsers`, ['bearer', token]);
          const sendNext = () => socket.send(JSON.stringify(messages.shift()));
          socket.onopen = sendNext;
          socket.onmessage = () => (messages.length ? sendNext() : done());
        }),
      [env.token, { type: 'open', threadId, width: 500, height: 500 }, { type: 'go', to }],
    );

  async function clickAt(page, top) {
    const box = await panel(page).getByRole('application').boundingBox();
    await page.mouse.click(box.x + 20, box.y + top);
  }

  test('what a person types arrives in a website of this machine, in order and complete', async () => {
    const page = await openSite();
    const text = 'The quick brown fox jumps over the lazy dog, "twice" (or more).';
    await clickAt(page, 20);
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
    await page.keyboard.insertText('漢字');
    await tab(page, `Typed ${text.length + 3}`).waitFor();
    await page.keyboard.press('F2');
    await eventually(() => assert.equal(typed, `${text}\n漢字`));
    await expectAccessible(page);
  });

  test('the clipboard carries text into the website and out of it', async () => {
    const page = await openSite({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.evaluate(() => navigator.clipboard.writeText('two\nlines'));
    await clickAt(page, 20);
    await page.keyboard.press('Control+v');
    await tab(page, 'Typed 9').waitFor();
    await page.keyboard.type('!');
    await tab(page, 'Typed 10').waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Control+x');
    await tab(page, 'Typed 0').waitFor();
    await eventually(async () =>
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'two\nlines!'),
    );
  });

  test('a question of the website is answered, the wheel turns, and a link opens a tab', async () => {
    const page = await openSite();
    await clickAt(page, 70);
    await panel(page).getByText('Your name?').waitFor();
    await expectFocus(page, 'Answer');
    await page.keyboard.type('Bea');
    await page.keyboard.press('Enter');
    await tab(page, 'Answer: Bea').waitFor();
    await clickAt(page, 170);
    await page.mouse.wheel(0, 120);
    await tab(page, 'Turned 120').waitFor();
    await clickAt(page, 120);
    await tab(page, 'Second').waitFor();
    await eventually(async () => assert.match(await address(page).inputValue(), /\/second$/));
    await button(page, 'Close Second').click();
    await tab(page, 'Second').waitFor({ state: 'detached' });
  });

  test('the same browser is there after a reload, and its page again after a restart of the gateway', async () => {
    const page = await openSite();
    await page.reload();
    await openPanel(page);
    await garden(page);
    await clickAt(page, 20);
    await page.keyboard.type('x');
    await tab(page, 'Typed 1').waitFor();
    Object.assign(env, await env.backend.restart());
    await button(page, `Allow localhost:${site.address().port} here`).click();
    await garden(page);
  });

  test('what a person draws on a page is attached to the message, with the address', async () => {
    const page = await openSite();
    await button(page, 'Mark for a message').click();
    await expectFocus(page, 'Marks for a message');
    await page.keyboard.press('Escape');
    await expectFocus(page, 'Mark for a message');
    await page.keyboard.press('Enter');
    await expectAccessible(page);

    const marks = panel(page).getByRole('group', { name: 'Marks for a message' });
    const picture = marks.getByRole('img', { name: 'Picture of the page' });
    const box = await picture.boundingBox();
    // The last picture may be of the view before the panel gave it its size.
    const scale = await picture.evaluate((image) =>
      Math.max(image.naturalWidth / image.clientWidth, image.naturalHeight / image.clientHeight),
    );
    for (const top of [250, 300]) {
      await page.mouse.move(box.x + 250, box.y + top);
      await page.mouse.down();
      await page.mouse.move(box.x + 350, box.y + top, { steps: 4 });
      await page.mouse.up();
    }
    await button(page, 'Undo').click();
    await button(page, 'Add to message').click();
    await marks.waitFor({ state: 'detached' });
    await expectFocus(page, 'Message');

    const { port } = site.address();
    const attachment = page.getByRole('list', { name: 'Attachments' }).getByRole('listitem');
    await attachment.getByText(`localhost-${port}.jpg`).waitFor();
    const [red, green] = await colorAt(attachment.locator('img'), 300 * scale, 250 * scale);
    assert.ok(red > 120 && green < 90, `${red} ${green}`);
    const [undone] = await colorAt(attachment.locator('img'), 300 * scale, 300 * scale);
    assert.ok(undone < 20, `${undone}`);

    await page.keyboard.press('Enter');
    const sent = page.getByRole('article', { name: 'You' });
    await sent.getByText(`http://localhost:${port}/`).waitFor();
    await sent.getByText(`localhost-${port}.jpg`).waitFor();
  });

  test('elements that a person clicks on are named in the message, until the page changes', async () => {
    const page = await openSite();
    await message(page).fill('Rename it');
    await button(page, 'Mark for a message').click();
    const marks = panel(page).getByRole('group', { name: 'Marks for a message' });
    const box = await marks.getByRole('img', { name: 'Picture of the page' }).boundingBox();
    const lines = () => marks.locator('path').getAttribute('d');
    const outlined = (top) =>
      eventually(async () =>
        assert.ok((await lines()).endsWith(`M0 ${top}L200 ${top}L200 ${top + 40}L0 ${top + 40}L0 ${top}`)),
      );
    await page.mouse.click(box.x + 20, box.y + 70);
    await outlined(50);
    await page.mouse.click(box.x + 20, box.y + 120);
    await outlined(100);
    await button(page, 'Undo').click();
    await outlined(50);
    await page.mouse.click(box.x + 20, box.y + 170);
    await outlined(150);
    await expectAccessible(page);

    await marks.getByText('or click on elements').waitFor();
    await button(page, 'Add to message').click();
    await marks.waitFor({ state: 'detached' });
    const { port } = site.address();
    const expected = [
      `Rename it\n\nhttp://localhost:${port}/\n\n`,
      '```\nbutton\n\n<button style="top: 50px" onclick=',
      '```\ndiv\n\n<div style="top: 150px" onwheel=',
    ];
    const text = await message(page).inputValue();
    assert.deepEqual(
      expected.filter((part) => !text.includes(part)),
      [],
      text,
    );
    assert.ok(!text.includes('/second'), text);

    await button(page, 'Mark for a message').click();
    // Somebody else moves on meanwhile.
    await goElsewhere(page, chats[0], `http://localhost:${port}/second`);
    await tab(page, 'Second').waitFor();
    await page.mouse.click(box.x + 20, box.y + 70);
    await marks.getByText('The page has changed').waitFor();
    assert.equal(await lines(), '');
  });

  test('on a narrow screen, the panel is hidden when marks are added, and text is kept', async () => {
    const page = await openSite();
    await message(page).fill('Larger, please');
    await page.setViewportSize({ width: 600, height: 800 });
    await button(page, 'Mark for a message').click();
    await button(page, 'Add to message').click();
    await panel(page).waitFor({ state: 'detached' });
    await expectFocus(page, 'Message');
    await page.getByRole('list', { name: 'Attachments' }).getByText('.jpg').waitFor();
    assert.equal(await message(page).inputValue(), 'Larger, please');
  });

  test('a person lets agents use the browser, and watches one', async () => {
    const { id } = await env.thread({ title: 'Roses' });
    chats.push(id);
    await env.api('PATCH', `/threads/${id}`, { mode: 'act' });
    await env.api('PATCH', '/agents/assistant/stage', { stage: 'trusted', reason: 'It may use the browser.' });
    const page = await env.open(`/t/${id}`);
    await openPanel(page);
    await button(page, 'Let agents use it').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Let agents use it' }).click();
    await button(page, 'Let agents use it').waitFor({ state: 'detached' });
    const [integration] = await env.api('GET', '/extensions?type=integration');
    assert.deepEqual(
      [integration.name, integration.enabled, integration.definition.kind],
      ['browser', true, 'browser'],
    );

    const url = `http://localhost:${site.address().port}/`;
    await env.backend.reply({ tool_calls: [{ name: 'browser__open', arguments: { url } }] });
    await env.backend.reply({ text: 'It was refused.' });
    await sendMessage(page, 'Open my site');
    await panel(page).getByRole('status').getByText(`assistant opens ${url}`).waitFor();
    await answers(page).getByText('It was refused.').waitFor();
    await button(page, `Allow localhost:${site.address().port} here`).click();
    await garden(page);

    await env.api('POST', `/extensions/${integration.id}/toggle`);
    await button(page, 'Let agents use it').waitFor();
  });

  test('a reload of the page, another tab and the end of the browser', async () => {
    const page = await openSite();
    await page.keyboard.press('F6');
    await expectFocus(page, 'Address');
    await button(page, 'New tab').last().click();
    await expectFocus(page, 'Address');
    await eventually(async () => assert.equal(await address(page).inputValue(), ''));
    await tab(page, 'Garden').click();
    await input(page).focus();
    await page.keyboard.press('F5');
    await garden(page);
    await button(page, 'End').click();
    await panel(page).waitFor({ state: 'detached' });
    await openPanel(page);
    await expectFocus(page, 'Address');
    assert.equal(await tab(page, 'Garden').count(), 0);
  });
}
