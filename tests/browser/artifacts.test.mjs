import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { chromium, launchOptions } from './chromium.mjs';
import { answers, eventually, message, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  // Chromium runs frames without an origin in a separate process. Its headless shell does so only with this option.
  const open = () => chromium.launch({ ...launchOptions, args: [...launchOptions.args, '--site-per-process'] });
  const env = withGateway({ open });
  const block = (language, text) => `Here it is:\n\n\`\`\`${language}\n${text}\n\`\`\`\n`;

  async function chatWith(...contents) {
    const id = await env.threadWith(...contents.map((content) => ({ role: 'assistant', content })));
    const page = await env.open(`/t/${id}`);
    await answers(page).last().waitFor();
    return page;
  }
  const panel = (page) => page.getByRole('region', { name: 'Artifact' });

  test('a page that an agent wrote is shown next to the chat, with its versions', async () => {
    const page = await chatWith(
      block('html', '<title>Garden</title><h1>First garden</h1>'),
      block('html', '<title>Garden</title><h1>Second garden</h1>'),
    );
    const open = answers(page).last().getByRole('button', { name: 'Open', exact: true });
    await open.click();
    await panel(page).getByRole('heading', { name: 'Garden' }).waitFor();
    await panel(page).getByText('2 of 2').waitFor();
    const frame = panel(page).frameLocator('iframe');
    await frame.getByRole('heading', { name: 'Second garden' }).waitFor();
    await panel(page).getByRole('button', { name: 'Earlier version' }).click();
    await frame.getByRole('heading', { name: 'First garden' }).waitFor();
    await panel(page).getByRole('button', { name: 'Source' }).click();
    await panel(page).getByText('<h1>First garden</h1>').waitFor();
    assert.ok((await message(page).boundingBox()).width > 200);
    await page.keyboard.press('Escape');
    await panel(page).waitFor({ state: 'detached' });
    assert.ok(await open.evaluate((button) => button === document.activeElement));
  });

  test('SVG pictures and Markdown documents are shown too', async () => {
    const page = await chatWith(
      block('svg', '<svg viewBox="0 0 10 10" width="100"><title>A dot</title><circle cx="5" cy="5" r="4" /></svg>'),
      '````markdown\n# A plan\n\n1. Go **on**\n````\n',
    );
    await answers(page).first().getByRole('button', { name: 'Open', exact: true }).click();
    await panel(page).frameLocator('iframe').locator('circle').waitFor();
    await answers(page).last().getByRole('button', { name: 'Open', exact: true }).click();
    await panel(page).locator('strong', { hasText: 'on' }).waitFor();
  });

  test('an artifact that loops or tries to access the page neither blocks nor changes it', async () => {
    const page = await chatWith(
      block(
        'html',
        '<script>try { parent.document.title = "taken" } catch {} try { localStorage.x = 1 } catch {} for (;;) {}</script>',
      ),
    );
    await answers(page).getByRole('button', { name: 'Open', exact: true }).click();
    await panel(page).waitFor();
    await message(page).fill('still alive');
    assert.equal(await message(page).inputValue(), 'still alive');
    await panel(page).getByRole('button', { name: 'Close artifact' }).click();
    await panel(page).waitFor({ state: 'detached' });
    assert.doesNotMatch(await page.title(), /taken/);
    await eventually(async () => assert.equal(await page.locator('iframe').count(), 0));
  });

  test('a page on another port of this host has its own process, and does not hold up this page', async () => {
    const held = [];
    const server = http.createServer((request, response) => {
      if (request.url !== '/') return void held.push(response);
      response.setHeader('content-type', 'text/html');
      // A synchronous request: its process does nothing else until the response arrives.
      response.end(`<script>{ const r = new XMLHttpRequest(); r.open('GET', '/held', false); r.send(); }</script>`);
    });
    await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
    // The policy allows no such frame. But browsers put tabs and frames of one host into one process, too.
    const page = await env.open('/new', { bypassCSP: true });
    await message(page).waitFor();
    await page.evaluate((src) => {
      document.body.append(Object.assign(document.createElement('iframe'), { src }));
    }, `http://127.0.0.1:${server.address().port}/`);
    await eventually(() => assert.ok(held.length));
    try {
      await message(page).fill('still alive', { timeout: 20_000 });
    } finally {
      for (const response of held) response.end();
      server.close();
    }
  });

  for (const width of [1280, 390])
    test(`an artifact is accessible and fits (${width} px)`, async () => {
      const page = await chatWith(block('markdown', '# A plan'));
      await page.setViewportSize({ width, height: 800 });
      await answers(page).getByRole('button', { name: 'Open', exact: true }).click();
      await panel(page).waitFor();
      await expectAccessible(page);
    });
}
