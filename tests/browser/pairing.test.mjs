import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, message, missing, withStage } from './stage.mjs';

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
}
