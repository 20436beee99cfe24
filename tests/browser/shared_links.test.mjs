import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import { text as readAll } from 'node:stream/consumers';
import test from 'node:test';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { expectAccessible } from './accessibility.mjs';
import { answers, eventually, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const address = (fragment) => `${env.proxy.url}/ui/shared.html${fragment}`;
  const fragmentOf = (content) => `#1.${deflateRawSync(content).toString('base64url')}`;
  const contentOf = (link) => inflateRawSync(Buffer.from(link.split('#1.')[1], 'base64url')).toString();
  const shown = (page) => page.frameLocator('iframe');
  const warning = (page) => page.getByText('Anyone could have made this link; the gateway did not check what it says.');

  /** Opens a chat and its dialog for a link. Copied text is stored in `window.copied`. */
  async function openDialog(...turns) {
    const id = await env.threadWith(...turns);
    await env.api('PATCH', `/threads/${id}`, { title: 'A garden' });
    const page = await env.open(`/t/${id}`);
    await page.evaluate(() =>
      Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => (window.copied = text) } }),
    );
    await answers(page).first().waitFor();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Share as a link' }).click();
    const dialog = page.getByRole('dialog', { name: 'Share as a link' });
    await dialog.getByText('A link that contains the chat').click();
    return { page, dialog };
  }

  async function copyLink(...turns) {
    const { page, dialog } = await openDialog(...turns);
    await dialog.getByText('you cannot take it back').waitFor();
    await dialog.getByText('Only this machine can open it').waitFor();
    await dialog.getByText(/It is [\d,]+ characters long\./).waitFor();
    await dialog.getByRole('button', { name: 'Copy the long link' }).click();
    await page.getByText('Link copied.').waitFor();
    return page.evaluate(() => window.copied);
  }

  /** Opens a browser without a token, and records the addresses that it requests. */
  async function openReader(options) {
    const page = await env.newPage(options);
    const requested = [];
    page.on('request', (request) => requested.push(request.url().split('#')[0]));
    return { page, requested };
  }

  test('a chat is read from a link without a token, and only files of the page are loaded', async () => {
    await env.api('PUT', '/secrets/KEY', { value: 'hunter2-and-more' });
    const link = await copyLink(
      { role: 'user', content: 'My key is hunter2-and-more.\n<script>alert(1)</script>' },
      { role: 'tool', content: 'the contents', metadata: { tool_name: 'Read', input: { path: 'diary' } } },
      { role: 'assistant', content: 'Water it **well**, see [the pump](https://example.org/pump).\n\nHere $a_1$.\n' },
    );
    assert.ok(link.startsWith(address('#1.')), link.slice(0, 80));
    for (const secret of ['hunter2-and-more', 'diary', 'the contents', env.token])
      assert.ok(!contentOf(link).includes(secret), secret);

    const { page, requested } = await openReader();
    await page.goto(link);
    await warning(page).waitFor();
    await shown(page).getByRole('heading', { name: 'A garden' }).waitFor();
    await shown(page).getByText('My key is [secret].').waitFor();
    await shown(page).getByText('<script>alert(1)</script>').waitFor();
    await shown(page).getByText('Tools that were used: Read').waitFor();
    await shown(page).locator('strong', { hasText: 'well' }).waitFor();
    await shown(page).locator('msub').waitFor({ state: 'attached' });
    await shown(page).getByText('the pump (https://example.org/pump)').waitFor();
    assert.equal(await shown(page).locator('[href]').count(), 0);
    for (const url of requested)
      assert.match(url.replace(env.proxy.url, ''), /^\/ui\/(shared\.html|frame|icon\.svg|assets\/shared[\w.-]+)$/);
    assert.equal(await page.evaluate(() => localStorage.length), 0);
    await expectAccessible(page, { iframes: false });

    const save = page.getByRole('button', { name: 'Save as file' });
    const [saved] = await Promise.all([page.waitForEvent('download'), save.click()]);
    assert.equal(saved.suggestedFilename(), 'A garden.html');
    const file = await readAll(await saved.createReadStream());
    assert.match(file, /default-src 'none'/);
    assert.match(file, /<a href="https:\/\/example\.org\/pump">the pump<\/a>/);
    assert.match(file, /<msub>/);
    assert.doesNotMatch(file, /<script/);
  });

  test('a link contains diagrams', async () => {
    const link = await copyLink({ role: 'assistant', content: '```mermaid\nflowchart TD\n  rain --> roses\n```\n' });
    const { page } = await openReader();
    await page.goto(link);
    const picture = shown(page).locator('img');
    await picture.waitFor();
    await eventually(async () => assert.ok(await picture.evaluate((image) => image.naturalWidth > 0)));
    await shown(page).getByText('Source').click();
    await shown(page).getByText('rain --> roses').waitFor();
  });

  /** A message that does not become shorter when it is packed. */
  const noise = (length) => ({
    role: 'user',
    content: randomBytes(length).toString('base64').slice(0, length).replace(/.{70}/g, '$&\n'),
  });
  const end = { role: 'assistant', content: 'The **end**.' };

  test('a long chat is read from a link, and its file is offered beside it', async () => {
    const turns = Array.from({ length: 10 }, () => noise(30_000));
    const { page, dialog } = await openDialog(...turns, end);
    await dialog.getByText('Most programs for messages and mail cut links of this length').waitFor();
    await dialog.getByRole('button', { name: 'Share as a file' }).waitFor();
    await dialog.getByRole('button', { name: 'Copy the long link' }).click();
    await page.getByText('Link copied.').waitFor();
    const link = await page.evaluate(() => window.copied);
    assert.ok(link.length > 200_000, `${link.length}`);

    const { page: other } = await openReader();
    await other.goto(link);
    await shown(other).locator('strong', { hasText: 'end' }).waitFor();
    assert.equal(await shown(other).locator('.said').count(), turns.length);
    assert.equal(await shown(other).locator('.said').first().textContent(), turns[0].content);
    const save = other.getByRole('button', { name: 'Save as file' });
    const [saved] = await Promise.all([other.waitForEvent('download'), save.click()]);
    const file = await readAll(await saved.createReadStream());
    for (const { content } of turns) assert.ok(file.includes(content));
  });

  test('a chat that is too long for a link is offered as a file', async () => {
    const turns = Array.from({ length: 5 }, () => noise(150_000));
    const { page, dialog } = await openDialog(...turns, end);
    await dialog.getByText('This chat is too long for a link. Send the file.').waitFor();
    assert.equal(await dialog.getByRole('button', { name: 'Copy the long link' }).count(), 0);
    const save = dialog.getByRole('button', { name: 'Share as a file' });
    const [saved] = await Promise.all([page.waitForEvent('download'), save.click()]);
    assert.equal(saved.suggestedFilename(), 'A garden.html');
  });

  test('a hostile link runs, loads and opens nothing, even in a browser with the token', async () => {
    let connections = 0;
    const spy = net.createServer((socket) => (connections++, socket.destroy()));
    await new Promise((listening) => spy.listen(0, '127.0.0.1', listening));
    const away = `http://127.0.0.1:${spy.address().port}`;
    const run = 'globalThis.ran = true; parent.document.title = localStorage[&quot;agw.token&quot;]';
    const hostile = `<!doctype html><html><head><title>Agent\u202eGateway</title>
      <meta http-equiv="refresh" content="0;url=${away}/refresh"><base href="${away}/">
      <link rel="preconnect" href="${away}"><link rel="stylesheet" href="${away}/style">
      <style>body { background: url(${away}/ground) } p { unicode-bidi: bidi-override; direction: rtl }</style>
      </head><body onload="${run}" style="background: url(${away}/body)"><script>${run.replaceAll('&quot;', '"')}</script>
      <img src="${away}/picture" onerror="${run}"><img src="x" onerror="${run}">
      <svg onload="${run}"><image href="${away}/image"/></svg><iframe src="${away}/frame"></iframe>
      <iframe srcdoc="<script>${run}</script>"></iframe><object data="${away}/object"></object><video src="${away}/video"></video>
      <form action="${away}/form"><input autofocus onfocus="${run}"><button>Pair</button></form>
      <math><mtext><img src="${away}/math"></mtext><annotation-xml encoding="text/html"><img src="x" onerror="${run}"></annotation-xml></math>
      <a href="javascript:${run}">one</a> <a href="${away}/link">two</a> <a href="#/chats" target="_top">three</a>
      <bdo dir="rtl">four</bdo> <template><img src="${away}/template"></template>
      <p dir="ltr" style="position: fixed" class="said other">before\u202eafter</p></body></html>`;
    try {
      env.allowedErrors.push(/base URI/);
      const page = await env.open();
      await page.getByRole('textbox', { name: 'Message' }).waitFor();
      const requested = [];
      page.on('request', (request) => requested.push(request.url().split('#')[0]));
      const link = address(fragmentOf(hostile));
      await page.goto(link);
      await shown(page).getByText('before⟨U+202E⟩after').waitFor();
      await warning(page).waitFor();
      await shown(page).getByText('one').click();
      await shown(page).getByText('two').click();
      await shown(page).getByText('three').click();
      const [, frame] = page.frames();
      assert.equal(await frame.evaluate(() => globalThis.ran ?? origin), 'null');
      const kept = await frame.evaluate(() => document.body.outerHTML);
      for (const unwanted of [
        / on\w+=/,
        /<(script|svg|iframe|object|video|form|input|button|bdo|meta|link|style)\b/,
        /javascript:/,
        /style=/,
        /src=/,
      ])
        assert.doesNotMatch(kept, unwanted);
      const save = page.getByRole('button', { name: 'Save as file' });
      const [saved] = await Promise.all([page.waitForEvent('download'), save.click()]);
      assert.equal(saved.suggestedFilename(), 'AgentU202EGateway.html');
      assert.doesNotMatch(await readAll(await saved.createReadStream()), /<script|onerror|refresh|javascript:/);
      assert.equal(await page.title(), 'Shared chat');
      assert.equal(page.url(), link);
      assert.deepEqual(
        requested.filter((url) => !url.startsWith(`${env.proxy.url}/ui/`) && !url.startsWith('blob:')),
        [],
      );
      assert.equal(connections, 0);
    } finally {
      spy.close();
    }
  });

  test('a link without a complete chat is rejected with an explanation', async () => {
    const { page } = await openReader();
    const whole = fragmentOf(`<p>${randomBytes(3000).toString('hex')}</p>`);
    const broken = page.getByText('This link contains no chat, or only a part of one');
    const large = page.getByText('This link contains more than a chat may be.');
    const unreadable = `#1.${deflateRawSync(Buffer.from([0xff, 0xfe])).toString('base64url')}`;
    for (const fragment of ['', '#/chats', '#2.AAAA', '#1.%%%', whole.slice(0, 1000), unreadable]) {
      // Otherwise only the fragment would change.
      await page.goto('about:blank');
      await page.goto(address(fragment));
      await broken.waitFor();
    }
    const bomb = fragmentOf(Buffer.alloc(20 * 1024 * 1024));
    assert.ok(bomb.length < 32_768);
    for (const fragment of [bomb, `#1.${'A'.repeat(1_000_000)}`]) {
      await page.goto('about:blank');
      await page.goto(address(fragment));
      await large.waitFor();
    }
    assert.equal(await page.locator('iframe').count(), 0);
  });

  test('another link in the same tab is shown, in the language of the browser', async () => {
    const { page } = await openReader({ locale: 'de-DE', viewport: { width: 360, height: 740 } });
    await page.goto(address(fragmentOf('<p>first</p>')));
    await shown(page).getByText('first').waitFor();
    await page.getByText('Jeder könnte diesen Link gemacht haben').waitFor();
    await page.getByRole('button', { name: 'Als Datei speichern' }).waitFor();
    await page.goto(address(fragmentOf('<p>second</p>')));
    await shown(page).getByText('second').waitFor();
    await expectAccessible(page, { iframes: false });
  });
}
