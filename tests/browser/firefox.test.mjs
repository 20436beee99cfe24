// The most important uses in a second browser: Debian's Firefox, driven by WebDriver BiDi.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { eventually, missing as missingHere, require, withGateway } from './environment.mjs';

const executable = process.env.FIREFOX ?? '/usr/bin/firefox-esr';
const missing = missingHere || (!existsSync(executable) && `${executable} is missing: run script/bootstrap`);

if (missing) test(`the page in Firefox (skipped: ${missing})`, { skip: true });
else {
  const openFirefox = () =>
    require('puppeteer-core').launch({
      browser: 'firefox',
      executablePath: executable,
      defaultViewport: { width: 1280, height: 800 },
    });
  const env = withGateway({ open: openFirefox });
  const timeout = 60_000;

  /** Waits for a visible element with that accessible name or text, and returns it. */
  async function findNamed(page, selector, name) {
    const handle = await page.waitForFunction(
      (wanted, expected) =>
        [...document.querySelectorAll(wanted)].find((element) => {
          const label = element.ariaLabel ?? element.labels?.[0]?.textContent ?? element.textContent;
          const text = label.trim();
          return (text === expected || text.startsWith(`${expected} `)) && element.checkVisibility();
        }),
      { timeout },
      selector,
      name,
    );
    return handle.asElement();
  }

  const expectText = (page, text) =>
    page.waitForFunction((expected) => document.body.innerText.includes(expected), { timeout }, text);
  const press = async (page, name) => (await findNamed(page, 'button', name)).click();

  /** A page in a separate context; its errors fail the file, except those of connections that are cut. */
  async function newPage() {
    const context = await env.browser.createBrowserContext();
    const page = await context.newPage();
    page.on('pageerror', (error) => {
      if (!/ws:\S+\/ws\b/.test(String(error))) env.pageErrors.push(String(error.stack || error));
    });
    return page;
  }

  async function open(route) {
    const page = await newPage();
    await page.goto(`${env.proxy.url}/ui/`);
    await page.evaluate((token) => localStorage.setItem('agw.token', JSON.stringify(token)), env.token);
    await page.goto(`${env.proxy.url}/ui/?paired#${route}`);
    return page;
  }

  async function send(page, text) {
    const message = await findNamed(page, 'textarea', 'Message');
    await message.type(text);
    await press(page, 'Send');
  }

  test('a typed code pairs', async () => {
    const page = await newPage();
    await page.goto(`${env.proxy.url}/ui/`);
    const { code } = await env.api('GET', '/pair/refresh');
    const field = await findNamed(page, 'input', 'Code');
    await field.type(code);
    await press(page, 'Pair');
    await eventually(async () => {
      assert.ok(await page.evaluate(() => localStorage.getItem('agw.token')));
    });
    await findNamed(page, 'textarea', 'Message');
  });

  test('a message is answered as it streams, and an answer is stopped', async () => {
    const page = await open('/new');
    const held = await env.backend.hold({ pieces: ['One, ', 'two'] });
    await send(page, 'Count');
    await expectText(page, 'One, two');
    await env.backend.release({ held, pieces: [', three.'] });
    await expectText(page, 'One, two, three.');
    await expectText(page, 'stub/talker-1');
    await env.backend.hold({ pieces: ['Half an answer'] });
    await send(page, 'Again');
    await expectText(page, 'Half an answer');
    await press(page, 'Stop');
    await expectText(page, 'Stopped.');
  });

  test('a request of an agent is allowed with a click', async () => {
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'asker',
      description: 'Asks',
      enabled: true,
      definition: { systemPrompt: 'Ask.' },
    });
    const { id } = await env.thread({ agent_id: 'asker' });
    await env.api('PATCH', `/threads/${id}`, { mode: 'act' });
    const page = await open(`/t/${id}`);
    await env.backend.reply({ text: '', tool_calls: [{ name: 'Bash', arguments: { command: 'echo from-firefox' } }] });
    await env.backend.reply({ text: 'Said.' });
    await send(page, 'Say it');
    await expectText(page, 'echo from-firefox');
    await findNamed(page, 'button', 'Allow once');
    // Clicks in the first half second are ignored.
    await new Promise((later) => setTimeout(later, 700));
    await press(page, 'Allow once');
    await expectText(page, 'Said.');
  });

  test('a proposal is applied from the inbox', async () => {
    await env.backend.write({
      path: '.agent-gateway/autoresearch/proposals/assistant/2026-01-02/fox.md',
      text: '---\ntitle: A fox\ntype: knowledge\nagent: assistant\ntarget: knowledge/wiki/fox.md\nstatus: pending\ncreated_at: 2026-01-02T03:04:05.678Z\nreason: It was missing.\n---\n# Fox\n\nRed.\n',
    });
    const page = await open('/inbox');
    await expectText(page, 'It was missing.');
    await press(page, 'Apply');
    await eventually(() => assert.match(readFileSync(`${env.data}/knowledge/wiki/fox.md`, 'utf8'), /Red/));
    await expectText(page, 'Your inbox is empty');
  });

  test('formulas are drawn, and the timeline of an answer is shown', async () => {
    const { id } = await env.thread({});
    const page = await open(`/t/${id}`);
    await env.backend.reply({ text: 'It is $x^2$.' });
    await send(page, 'What is it?');
    await page.waitForSelector('math msup', { timeout });
    await (await page.waitForSelector('a[title="Timeline of this answer"]', { timeout })).click();
    await expectText(page, 'What this answer did');
    await expectText(page, 'Tokens read');
  });

  test('code that could not be loaded while the gateway was stopped offers to reload the page', async () => {
    const page = await open('/new');
    await findNamed(page, 'textarea', 'Message');
    env.proxy.down = true;
    env.proxy.cut();
    await (await page.waitForSelector('button.model')).click();
    await expectText(page, 'This part of the page could not be loaded.');
    env.proxy.down = false;
    await page.waitForFunction(() => !document.body.innerText.includes('cannot be reached'), { timeout });
    await press(page, 'Retry');
    await Promise.all([page.waitForNavigation({ timeout }), press(page, 'Reload the page')]);
    await (await page.waitForSelector('button.model')).click();
    await page.waitForSelector('dialog', { timeout });
  });

  test('a diagram is drawn as a picture', async () => {
    const page = await open(
      `/t/${await env.threadWith({ role: 'assistant', content: '```mermaid\nflowchart LR\n  A[One] --> B[Two]\n```' })}`,
    );
    await page.waitForSelector('.picture img', { timeout });
    const width = await page.$eval('.picture img', (image) => image.decode().then(() => image.naturalWidth));
    assert.ok(width > 100, `${width} px`);
  });
}
