import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, message, missing, say, withStage } from './stage.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const it = withStage();
  const code = async () => (await it.api('GET', '/pair/refresh')).code;

  test('a code in the address pairs by itself and is forgotten', async () => {
    const page = await it.fresh();
    await page.goto(`${it.url}/ui/#code=${await code()}`);
    await message(page).waitFor();
    assert.equal(new URL(page.url()).hash, '#/chats');
    await page.goBack().catch(() => {});
    assert.doesNotMatch(page.url(), /code/);
  });

  test('a code that is typed pairs, and a reload asks for none', async () => {
    const page = await it.fresh();
    await page.goto(`${it.url}/ui/`);
    await page.getByRole('textbox', { name: 'Code' }).fill(await code());
    await page.getByRole('button', { name: 'Pair' }).click();
    await message(page).waitFor();
    await page.reload();
    await message(page).waitFor();
  });

  test('a wrong code says so in the gateway’s words', async () => {
    const page = await it.fresh();
    await page.goto(`${it.url}/ui/`);
    await page.getByRole('textbox', { name: 'Code' }).fill('000000');
    await page.getByRole('button', { name: 'Pair' }).click();
    await page.getByText('Invalid or expired code').waitFor();
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.tagName), 'INPUT'));
    await page.keyboard.type(await code());
    await page.keyboard.press('Enter');
    await message(page).waitFor();
  });

  test('a code that did not get to the gateway need not be typed again', async () => {
    const page = await it.fresh();
    await page.goto(`${it.line.url}/ui/`);
    await page.getByRole('textbox', { name: 'Code' }).fill(await code());
    it.line.down = true;
    it.line.cut();
    await page.getByRole('button', { name: 'Pair' }).click();
    await page.getByText('The gateway could not be reached.').waitFor();
    it.line.down = false;
    await page.getByRole('button', { name: 'Pair' }).click();
    await message(page).waitFor();
  });

  test('a token that was rotated leads back to pairing, with the draft kept', async () => {
    const page = await it.open();
    await message(page).fill('half a thought');
    await message(page).blur();
    assert.equal(await it.stage.rotate(), 0);
    Object.assign(it, await it.stage.where());
    await page.getByRole('textbox', { name: 'Code' }).fill(await code());
    await page.getByRole('button', { name: 'Pair' }).click();
    await message(page).waitFor();
    assert.equal(await message(page).inputValue(), 'half a thought');
  });

  test('a browser that is forgotten keeps no message that waits, and asks before, also from the palette', async () => {
    const { id } = await it.thread();
    const page = await it.fresh();
    await page.goto(`${it.line.url}/ui/#code=${await code()}`);
    await message(page).waitFor();
    await page.goto(`${it.line.url}/ui/#/t/${id}`);
    await page.getByRole('radio', { name: 'Plan', checked: true }).waitFor();
    it.line.down = true;
    it.line.cut();
    await say(page, 'Between us');
    await page.getByText('Kept here').waitFor();
    await page.route('**/chat', (route) => route.abort());
    it.line.down = false;
    // The page that is left tries once more before the next one is there.
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
    assert.deepEqual(await it.turns(id), []);
  });
}
