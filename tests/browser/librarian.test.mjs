// The built-in librarian, which answers if no model is connected.
import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, missing, questions, sendMessage, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway({ model: 'offline' });

  test('each example of the first page is answered', async () => {
    const page = await env.open('/new');
    const examples = page.getByRole('list', { name: 'Examples' }).getByRole('button');
    await examples.first().waitFor();
    for (const example of await examples.allTextContents()) {
      await page.goto(`${env.proxy.url}/ui/?${encodeURIComponent(example)}#/new`);
      await examples.getByText(example, { exact: true }).click();
      await questions(page).getByText(example, { exact: true }).waitFor();
      await answers(page).getByText('offline/librarian').waitFor();
      assert.doesNotMatch(await answers(page).textContent(), /found nothing|did not work/);
    }
  });

  test('the first example is answered with three messages, each a button that sends it', async () => {
    const page = await env.open('/new');
    const offers = page.getByRole('list', { name: 'Try one of these' }).getByRole('button');
    await page.getByRole('list', { name: 'Examples' }).getByRole('button').first().click();
    for (const number of [0, 1, 2]) {
      if (number > 0) await sendMessage(page, 'hello');
      await offers.nth(2).waitFor();
      const offered = await offers.allTextContents();
      assert.equal(offered.length, 3);
      await offers.nth(number).click();
      await questions(page).last().getByText(offered[number], { exact: true }).waitFor();
      const answer = answers(page).nth(2 * number + 1);
      await answer.getByText('offline/librarian').waitFor();
      assert.doesNotMatch(await answer.textContent(), /found nothing|did not work/);
      assert.equal(await offers.count(), 0, 'only the latest answer offers anything');
    }
  });
}
