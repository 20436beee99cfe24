import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, message, missing, sendMessage, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const code = async () => (await env.api('GET', '/pair/refresh')).code;

  test('a code in the address pairs and is removed from it', async () => {
    const page = await env.newPage();
    await page.goto(`${env.url}/ui/#code=${await code()}`);
    await message(page).waitFor();
    assert.equal(new URL(page.url()).hash, '#/chats');
    await page.goBack().catch(() => {});
    assert.doesNotMatch(page.url(), /code/);
  });

  test('a typed code pairs, and a reload does not ask again', async () => {
    const page = await env.newPage();
    await page.goto(`${env.url}/ui/`);
    await page.getByRole('textbox', { name: 'Code' }).fill(await code());
    await page.getByRole('button', { name: 'Pair' }).click();
    await message(page).waitFor();
    await page.reload();
    await message(page).waitFor();
  });

  test('a browser that stores nothing pairs, sends, opens the palette, and forgets', async () => {
    const page = await env.newPage();
    await page.addInitScript(() => {
      for (const area of ['localStorage', 'sessionStorage'])
        Object.defineProperty(window, area, {
          get: () => {
            throw new DOMException('Access is denied for this document.', 'SecurityError');
          },
        });
      // Firefox refuses this, too, while it blocks cookies.
      window.BroadcastChannel = class {
        constructor() {
          throw new DOMException('The operation is insecure.', 'SecurityError');
        }
      };
    });
    await page.goto(`${env.url}/ui/`);
    await page.getByRole('textbox', { name: 'Code' }).fill(await code());
    await page.getByRole('button', { name: 'Pair' }).click();
    await sendMessage(page, 'Can you hear me?');
    await answers(page).first().waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('forget this browser');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Forget this browser?' }).getByRole('button', { name: 'Forget' }).click();
    await page.getByRole('textbox', { name: 'Code' }).waitFor();
  });

  test('a wrong code is reported in the gateway’s words', async () => {
    const page = await env.newPage();
    await page.goto(`${env.url}/ui/`);
    await page.getByRole('textbox', { name: 'Code' }).fill('000000');
    await page.getByRole('button', { name: 'Pair' }).click();
    await page.getByText('Invalid or expired code').waitFor();
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.tagName), 'INPUT'));
    await page.keyboard.type(await code());
    await page.keyboard.press('Enter');
    await message(page).waitFor();
  });

  test('a code that did not reach the gateway need not be typed again', async () => {
    const page = await env.newPage();
    await page.goto(`${env.proxy.url}/ui/`);
    await page.getByRole('textbox', { name: 'Code' }).fill(await code());
    env.proxy.down = true;
    env.proxy.cut();
    await page.getByRole('button', { name: 'Pair' }).click();
    await page.getByText('The gateway could not be reached.').waitFor();
    env.proxy.down = false;
    await page.getByRole('button', { name: 'Pair' }).click();
    await message(page).waitFor();
  });

  test('a rotated token requires pairing again and keeps the draft', async () => {
    const page = await env.open();
    await message(page).fill('half a thought');
    await message(page).blur();
    assert.equal(await env.backend.rotate(), 0);
    Object.assign(env, await env.backend.addresses());
    await page.getByRole('textbox', { name: 'Code' }).fill(await code());
    await page.getByRole('button', { name: 'Pair' }).click();
    await message(page).waitFor();
    assert.equal(await message(page).inputValue(), 'half a thought');
  });

  test('a code typed in one tab pairs the others, and forgetting the browser in one ends all', async () => {
    const one = await env.newPage();
    await one.goto(`${env.url}/ui/`);
    const two = await one.context().newPage();
    await two.goto(`${env.url}/ui/`);
    const field = (page) => page.getByRole('textbox', { name: 'Code' });
    await field(two).waitFor();
    await field(one).fill(await code());
    await one.getByRole('button', { name: 'Pair' }).click();
    for (const page of [one, two]) await message(page).waitFor();
    await one.keyboard.press('Control+k');
    await one.keyboard.type('forget this browser');
    await one.keyboard.press('Enter');
    await one.getByRole('dialog', { name: 'Forget this browser?' }).getByRole('button', { name: 'Forget' }).click();
    for (const page of [one, two]) await field(page).waitFor();
    assert.deepEqual(await two.evaluate(() => Object.keys(localStorage)), []);
  });

  test('forgetting a browser asks first and removes queued messages, also from the palette', async () => {
    const { id } = await env.thread();
    const page = await env.newPage();
    await page.goto(`${env.proxy.url}/ui/#code=${await code()}`);
    await message(page).waitFor();
    await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await page.getByRole('radio', { name: 'Plan', checked: true }).waitFor();
    env.proxy.down = true;
    env.proxy.cut();
    await sendMessage(page, 'Between us');
    await page.getByText('Saved in this browser').waitFor();
    await page.route('**/chat', (route) => route.abort());
    env.proxy.down = false;
    // The old page retries once before the next page has loaded.
    await page.route(/\/ui\/$/, async (route) => {
      await page.waitForEvent('requestfailed', (request) => request.url().endsWith('/chat'));
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('forget this browser');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Forget this browser?' }).getByRole('button', { name: 'Forget' }).click();
    await page.getByRole('textbox', { name: 'Code' }).fill(await code());
    await page.unroute('**/chat');
    await page.getByRole('button', { name: 'Pair' }).click();
    await page.getByRole('radio', { name: 'Plan', checked: true }).waitFor();
    assert.equal(await page.getByText('Between us').count(), 0);
    assert.deepEqual(await env.turns(id), []);
  });
}
