import assert from 'node:assert/strict';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { answers, eventually, message, missing, sendMessage, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const beside = (page) => page.getByRole('region', { name: 'Chat beside' });
  const title = (within, name) => within.getByRole('heading', { name, exact: true });

  /** Creates two chats, and opens the page with the first. */
  async function openTwoChats() {
    const [one, other] = await Promise.all(['Roses', 'Tulips'].map((name) => env.thread({ title: name })));
    const page = await env.open(`/t/${one.id}`);
    await title(page.getByRole('main'), 'Roses').waitFor();
    return { page, one, other };
  }
  async function openBeside(page) {
    await page
      .getByRole('link', { name: /^Tulips/ })
      .first()
      .hover();
    await page.getByRole('button', { name: 'Open Tulips beside' }).first().click();
    await title(beside(page), 'Tulips').waitFor();
  }

  test('the mode of the chat that has the focus is switched by keyboard', async () => {
    const { page, one } = await openTwoChats();
    await openBeside(page);
    const { mode } = await env.api('GET', `/threads/${one.id}`);
    await beside(page).getByRole('radio', { name: 'Plan', checked: true }).waitFor();
    await message(beside(page)).press('Control+.');
    await beside(page).getByRole('radio', { name: 'Act', checked: true }).waitFor();
    assert.equal((await env.api('GET', `/threads/${one.id}`)).mode, mode);
  });

  test('two chats are shown side by side, both get answers, and both remain after a reload', async () => {
    const { page, one, other } = await openTwoChats();
    await openBeside(page);
    await env.backend.reply({ text: 'Tulips answer.' });
    await sendMessage(beside(page), 'On tulips');
    await answers(beside(page)).getByText('Tulips answer.').waitFor();
    await env.backend.reply({ text: 'Roses answer.' });
    await message(page).first().fill('On roses');
    await message(page).first().press('Enter');
    await answers(page).getByText('Roses answer.').waitFor();
    assert.equal(await answers(beside(page)).count(), 1);
    await eventually(async () => assert.equal((await env.turns(one.id)).length, 2));
    await eventually(async () => assert.equal((await env.turns(other.id)).length, 2));
    await page.reload();
    await answers(beside(page)).getByText('Tulips answer.').waitFor();
    await answers(page).getByText('Roses answer.').waitFor();
    assert.equal(page.url().split('/').at(-1), one.id);
  });

  test('Escape closes the second chat, which stays closed after a reload', async () => {
    const { page } = await openTwoChats();
    await openBeside(page);
    await message(beside(page)).fill('kept');
    await message(beside(page)).press('Escape');
    await beside(page).waitFor({ state: 'detached' });
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.tagName), 'TEXTAREA'));
    await page.reload();
    await title(page.getByRole('main'), 'Roses').waitFor();
    assert.equal(await beside(page).count(), 0);
    await openBeside(page);
    await eventually(async () => assert.equal(await message(beside(page)).inputValue(), 'kept'));
  });

  test('the two chats are swapped, and answers still arrive in both', async () => {
    const { page, other } = await openTwoChats();
    await openBeside(page);
    await beside(page).getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Swap the two chats' }).click();
    await title(beside(page), 'Roses').waitFor();
    await page.waitForURL(`**/#/t/${other.id}`);
    for (const [within, words] of [
      [beside(page), 'Beside again.'],
      [page, 'Open again.'],
    ]) {
      await env.backend.reply({ text: words });
      await message(within).first().fill('Go on');
      await message(within).first().press('Enter');
      await answers(page).getByText(words).waitFor();
    }
  });

  test('an artifact is shown next to its own chat', async () => {
    const content = '```html\n<title>Bed</title><p>Soil</p>\n```';
    const id = await env.threadWith({ role: 'assistant', content });
    const { page } = await openTwoChats();
    await page.evaluate((chat) => localStorage.setItem('agw.beside', JSON.stringify(chat)), id);
    await page.reload();
    await beside(page).getByRole('button', { name: 'Open', exact: true }).click();
    await beside(page).getByRole('region', { name: 'Artifact' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('region', { name: 'Artifact' }).waitFor({ state: 'detached' });
    assert.equal(await beside(page).count(), 1);
  });

  test('each of two chats shows its own artifact', async () => {
    const content = '```html\n<title>Bed</title><p>Soil</p>\n```';
    const [one, other] = [
      await env.threadWith({ role: 'assistant', content }),
      await env.threadWith({ role: 'assistant', content }),
    ];
    const page = await env.open(`/t/${one}`);
    await page.evaluate((chat) => localStorage.setItem('agw.beside', JSON.stringify(chat)), other);
    await page.reload();
    await beside(page).getByRole('button', { name: 'Open', exact: true }).click();
    await beside(page).getByRole('region', { name: 'Artifact' }).waitFor();
    await page.getByRole('button', { name: 'Open', exact: true }).first().click();
    await eventually(async () => assert.equal(await page.getByRole('region', { name: 'Artifact' }).count(), 2));
    await page.keyboard.press('Escape');
    await eventually(async () => assert.equal(await page.getByRole('region', { name: 'Artifact' }).count(), 1));
    await beside(page).getByRole('region', { name: 'Artifact' }).waitFor();
  });

  test('narrow pages show one chat', async () => {
    const { page } = await openTwoChats();
    await openBeside(page);
    await page.setViewportSize({ width: 1100, height: 800 });
    await beside(page).waitFor({ state: 'detached' });
    await page.setViewportSize({ width: 1280, height: 800 });
    await beside(page).waitFor();
  });

  test('two chats are accessible and fit', async () => {
    const { page } = await openTwoChats();
    await openBeside(page);
    await expectAccessible(page);
    const [width, height] = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.scrollHeight,
    ]);
    assert.deepEqual([width, height], [1280, 800]);
  });
}
