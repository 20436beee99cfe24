import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { eventually, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  test('the palette searches only the open chat, and then all chats', async () => {
    const chat = (title, ...texts) =>
      env.thread({ title }).then(async ({ id }) => {
        for (const content of texts) await env.api('POST', `/threads/${id}/turns`, { role: 'user', content });
        return id;
      });
    await chat('Orchard', 'The plum tree blooms.');
    const id = await chat('Kitchen', 'Plum jam takes an hour.', 'Pears do not.');
    const page = await env.open(`/t/${id}`);
    await page.getByText('Pears do not.').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('find in this chat');
    await page.getByRole('option', { name: /Find in this chat/ }).click();
    await page.getByText('in Kitchen').waitFor();
    const results = page.getByRole('main').locator('li').filter({ hasText: /plum/i });
    await page.getByRole('main').getByRole('searchbox', { name: 'Search' }).fill('plum');
    await eventually(async () => assert.equal(await results.count(), 1));
    await page.getByRole('button', { name: 'Search all chats' }).click();
    await eventually(async () => assert.equal(await results.count(), 2));
    await results.getByRole('link', { name: 'Kitchen' }).click();
    await page.locator('article.found').getByText('Plum jam takes an hour.').waitFor();
  });

  test('an archived chat is found by its title', async () => {
    const { id } = await env.thread({ title: 'Cellar\u202E' });
    await env.api('POST', `/threads/${id}/turns`, { role: 'user', content: 'Quinces keep until spring.' });
    await env.api('PATCH', `/threads/${id}`, { archived: true });
    const page = await env.open('/search?q=quinces');
    await page.getByRole('main').getByRole('link', { name: 'Cellar⟨U+202E⟩', exact: true }).waitFor();
    await page.goto(`${env.proxy.url}/ui/#/search?q=quinces&thread=${id}`);
    await page.getByText('in Cellar⟨U+202E⟩').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('quinces');
    await page.getByRole('option', { name: /Quinces keep until spring.*Cellar⟨U\+202E⟩/ }).waitFor();
  });

  test('the costs of the shown period are saved as a table', async () => {
    const page = await env.open('/costs?period=week');
    await page.route('**/costs?*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({
        json: { ...(await response.json()), by_client: [{ client: 'codex', cost: 1.5 }], cached: 0.426 },
      });
    });
    await page.reload();
    await page.getByRole('heading', { name: 'By program' }).waitFor();
    await page.getByText('codex', { exact: true }).waitFor();
    await page.getByText('43% of the tokens that models read in 7 days came from a cache.').waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as CSV' }).click();
    const file = await saved;
    assert.equal(file.suggestedFilename(), 'costs-week.csv');
    const lines = (await text(await file.createReadStream())).split('\r\n');
    assert.equal(lines[0], 'by,name,period,usd');
    assert.equal(lines.filter((line) => line.startsWith('day,')).length, 30);
    assert.ok(lines.includes('program,codex,week,1.5'));
  });
}
