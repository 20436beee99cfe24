import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, message, missing, sendMessage, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const option = (page, group, name) =>
    page.getByRole('group', { name: group }).getByRole('radio', { name, exact: true });

  test('the font and the size of messages are chosen, and kept from the first paint on', async () => {
    const id = await env.threadWith({ role: 'assistant', content: 'Hello' });
    const page = await env.open('/system');
    await option(page, 'Font', 'Of equal widths').check();
    await option(page, 'Size of messages', 'Very large').check();
    await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await page.reload();
    const answer = answers(page).getByText('Hello');
    await answer.waitFor();
    const style = await answer.evaluate((one) => {
      const { fontSize, lineHeight, fontFamily } = getComputedStyle(one);
      return { fontSize, lineHeight, mono: fontFamily.includes('monospace') };
    });
    assert.deepEqual(style, { fontSize: '22px', lineHeight: '35.2px', mono: true });
    assert.equal(await message(page).evaluate((box) => getComputedStyle(box).fontSize), '22px');
    await page.goto(`${env.proxy.url}/ui/#/system`);
    await option(page, 'Size of messages', 'Normal').check();
    await option(page, 'Font', 'The page’s own').check();
    assert.equal(await page.evaluate(() => localStorage.getItem('agw.looks')), null);
    await page.evaluate((chat) => (location.hash = `#/t/${chat}`), id);
    await answer.waitFor();
    assert.equal(await answer.evaluate((one) => getComputedStyle(one).fontSize), '15px');
  });

  test('the shortcuts are listed in the settings', async () => {
    const page = await env.open('/system');
    const list = page.getByRole('region', { name: 'Keyboard shortcuts' });
    const words = list.getByText('Dictate while the keys are held');
    await words.waitFor();
    const widths = [words, list].map(async (one) => (await one.boundingBox()).width);
    const [textWidth, listWidth] = await Promise.all(widths);
    assert.ok(textWidth > listWidth / 2, `the text has ${textWidth} of ${listWidth} px`);
  });

  test('a sound marks the end of a long answer, if it is turned on', async () => {
    const page = await env.newPage();
    await page.addInitScript((token) => {
      localStorage.setItem('agw.token', JSON.stringify(token));
      window.tones = 0;
      const { start } = OscillatorNode.prototype;
      OscillatorNode.prototype.start = function () {
        window.tones++;
        start.call(this);
      };
      // Answers in tests do not take the twenty seconds that count as long.
      const { parse } = JSON;
      JSON.parse = (text) => {
        const event = parse(text);
        if (event?.type === 'finish') event.durationMs = 30_000;
        return event;
      };
    }, env.token);
    const { id } = await env.thread();
    await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await env.backend.reply({ text: 'One.' });
    await sendMessage(page, 'Go');
    await answers(page).getByText('One.').waitFor();
    await eventually(async () => assert.ok((await env.turns(id)).length === 2));
    assert.equal(await page.evaluate(() => window.tones), 0);

    await page.evaluate(() => (location.hash = '#/system'));
    await page.getByRole('checkbox', { name: /^Play a sound/ }).check();
    await eventually(async () => assert.equal(await page.evaluate(() => window.tones), 1));
    await page.evaluate((chat) => (location.hash = `#/t/${chat}`), id);
    await env.backend.reply({ text: 'Two.' });
    await sendMessage(page, 'Go');
    await answers(page).getByText('Two.').waitFor();
    await eventually(async () => assert.equal(await page.evaluate(() => window.tones), 2));
  });
}
