// Selecting and copying text of a chat.
import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, expectFocus, missing, sendMessage, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const selected = (page) => page.evaluate(() => getSelection().toString());

  /** Drags the mouse over `words` of the answer, in its element `within`. */
  async function drag(page, within, words) {
    const element = answers(page).locator(within).filter({ hasText: words }).last();
    await page.evaluate(() => getSelection().empty());
    const { left, right, middle } = await element.evaluate((node, words) => {
      const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
      while (texts.nextNode() && !texts.currentNode.data.includes(words));
      const range = document.createRange();
      const begin = texts.currentNode.data.indexOf(words);
      range.setStart(texts.currentNode, begin);
      range.setEnd(texts.currentNode, begin + words.length);
      const { left, right, top, bottom } = range.getBoundingClientRect();
      return { left, right, middle: (top + bottom) / 2 };
    }, words);
    await page.mouse.move(left, middle);
    await page.mouse.down();
    await page.mouse.move((left + right) / 2, middle);
    await page.mouse.move(right, middle);
    await page.mouse.up();
    assert.equal(await selected(page), words);
  }

  /** Selects `words` with the mouse. The text may move meanwhile. */
  const select = (page, within, words) => eventually(() => drag(page, within, words));

  for (const [what, within, begin, words, ...more] of [
    ['a paragraph', 'p', 'The first part, which goes', 'first part', ' on', ' and **on**.'],
    ['a list', 'li', '- one\n- the second item', 'second', ' of', ' three\n- last'],
    ['a table', 'td', '| a | b |\n| - | - |\n| x | the second cell', 'second', ' of', ' it |\n\nEnd.'],
    ['code', 'code', '```\nname = "first"\nprint(name', 'print', ')\n', 'print(name)\n```\n\nEnd.'],
  ])
    test(`text selected in ${what} stays selected while the answer continues, and after its end`, async () => {
      const page = await env.open('/new');
      const held = await env.backend.hold({ pieces: [begin] });
      await sendMessage(page, `Write ${what}`);
      await select(page, within, words);
      await env.backend.release({ held, pieces: more });
      await answers(page).getByRole('button', { name: 'Regenerate' }).waitFor();
      assert.equal(await selected(page), words);
    });

  test('code that is highlighted stays selected, and is highlighted again once it is not selected', async () => {
    const page = await env.open('/new');
    const held = await env.backend.hold({ pieces: ['```python\nname = "first"\nprint(name'] });
    await sendMessage(page, 'Write code');
    const code = answers(page).locator('code');
    await code.locator('.hljs-string').waitFor();
    await select(page, 'code', 'print');
    await env.backend.release({ held, pieces: [')\nname = "second"\n```\n\nEnd.'] });
    await answers(page).getByRole('button', { name: 'Regenerate' }).waitFor();
    assert.equal(await selected(page), 'print');
    assert.equal(await code.textContent(), 'name = "first"\nprint(name)\nname = "second"');
    await page.evaluate(() => getSelection().empty());
    await eventually(async () => assert.equal(await code.locator('.hljs-string').count(), 2));
  });

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
