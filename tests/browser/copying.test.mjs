// Copying text of a chat.
import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, expectFocus, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  test('a page that another machine serves over plain HTTP, which has no clipboard, can copy', async () => {
    const id = await env.threadWith({ role: 'assistant', content: 'Run it:\n\n```sh\nagw  status\nagw chat\n```\n' });
    const page = await env.open('/chats');
    await page.addInitScript(() => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined });
      addEventListener('copy', ({ target }) => (window.copied = target.value));
    });
    await page.goto(`${env.proxy.url}/ui/?plain#/t/${id}`);
    await answers(page).getByRole('button', { name: 'Copy code' }).click();
    await page.getByText('Copied.').waitFor({ state: 'attached' });
    assert.equal(await page.evaluate(() => window.copied), 'agw  status\nagw chat');
    await expectFocus(page, 'Copy code');
    assert.equal(await page.locator('body > textarea').count(), 0);
  });
}
