import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { eventually, holdResponses, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  const palette = (page) => page.getByRole('combobox', { name: 'Search or run a command' });
  const selected = (page) => page.getByRole('option', { selected: true });
  const command = (name) =>
    env.api('POST', '/extensions', {
      type: 'command',
      name,
      description: 'd',
      enabled: true,
      definition: { prompt: 'p' },
    });

  test('the selected palette entry stays selected when search results arrive before it', async () => {
    await env.threadWith({ role: 'user', content: 'a tangerine a day' });
    const page = await env.open('/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    const release = await holdResponses(page, 'GET', '**/turns/search?**');
    await page.keyboard.press('Control+k');
    const requested = page.waitForRequest(/\/turns\/search/);
    await palette(page).fill('tangerine');
    await requested;
    const options = page.getByRole('option');
    await options.filter({ hasText: 'chat' }).waitFor();
    await page.keyboard.press('ArrowUp');
    await selected(page).getByText('Search all messages').waitFor();
    release();
    await options.filter({ hasText: 'message a tangerine' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor();
  });

  test('the selected palette entry stays selected when a better match is created, and moves on when it is deleted', async () => {
    const { id } = await command('quux-of-old');
    const page = await env.open('/extensions');
    await page.getByRole('heading', { level: 1, name: 'Extensions' }).waitFor();
    await page.keyboard.press('Control+k');
    await palette(page).fill('quux');
    await page.keyboard.press('ArrowDown');
    const words = await selected(page).innerText();
    const better = await command('quux');
    await page
      .getByRole('option')
      .filter({ hasText: /^\s*command\s*quux\s/ })
      .waitFor();
    assert.equal(await selected(page).innerText(), words);
    assert.equal(await palette(page).getAttribute('aria-activedescendant'), await selected(page).getAttribute('id'));
    for (const gone of [id, better.id]) await env.api('DELETE', `/extensions/${gone}`);
    await eventually(async () => assert.match(await selected(page).innerText(), /Search all messages/));
  });

  test('the palette opens chats, views and extensions', async () => {
    await env.thread({ title: 'A very special thread' });
    const page = await env.open('/inbox');
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('very special');
    await page.getByRole('option').filter({ hasText: 'A very special thread' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'A very special thread' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('costs');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
  });

  test('the palette finds messages', async () => {
    const { id } = await env.thread({ title: 'Fruit' });
    await env.api('POST', `/threads/${id}/turns`, { role: 'user', content: 'nothing beats a clementine' });
    const page = await env.open('/inbox');
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('clementine');
    await page.getByRole('option').filter({ hasText: 'nothing beats' }).click();
    await page.locator('article.found').getByText('clementine').waitFor();
  });

  test('a chat is saved as a Markdown file, and actions are found by their subject', async () => {
    const { id } = await env.thread({ title: 'Notes: a/b' });
    await env.api('POST', `/threads/${id}/turns`, { role: 'user', content: 'Keep **this**.' });
    const page = await env.open(`/t/${id}`);
    await page.getByText('Keep this.').or(page.getByText('Keep **this**.')).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('download');
    const saved = page.waitForEvent('download');
    await page.getByRole('option').filter({ hasText: 'Export this chat as Markdown' }).click();
    const file = await saved;
    assert.equal(file.suggestedFilename(), 'Notes ab.md');
    assert.match(
      await text(await file.createReadStream()),
      /^# Notes: a\/b\n\n## You, [-\d]+ [:\d]+ UTC\n\nKeep \*\*this\*\*\.\n$/,
    );
    await page.keyboard.press('Control+k');
    for (const words of ['provider', 'api key']) {
      await page.getByRole('combobox', { name: 'Search or run a command' }).fill(words);
      await page.getByRole('option').filter({ hasText: 'Connect a model' }).waitFor();
    }
  });
}
