import assert from 'node:assert/strict';
import test from 'node:test';
import {
  answers,
  eventually,
  expectFocus,
  message,
  missing,
  questions,
  sendMessage,
  withGateway,
} from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  const button = (page, name) => page.getByRole('button', { name, exact: true });
  const sentMessages = (page) => questions(page).locator('.said');

  /** Sends a message and waits for its answer. */
  async function ask(page, text, answer) {
    await env.backend.reply({ text: answer });
    await sendMessage(page, text);
    await answers(page).getByText(answer, { exact: true }).waitFor();
    await button(page, 'Stop').waitFor({ state: 'hidden' });
  }

  async function edit(page, question, text, answer) {
    await env.backend.reply({ text: answer });
    await button(question, 'Edit message').click();
    const box = page.getByRole('textbox', { name: 'Edited message' });
    await box.fill(text);
    await box.press('Enter');
    await answers(page).getByText(answer, { exact: true }).waitFor();
    await button(page, 'Stop').waitFor({ state: 'hidden' });
  }

  test('arrows switch between the versions of an answer and the turns after each, also by keyboard', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await ask(page, 'Fruit?', 'A plum.');
    await ask(page, 'Why?', 'It is blue.');
    await env.backend.reply({ text: 'A pear.' });
    await button(answers(page).first(), 'Regenerate').click();
    await answers(page).getByText('A pear.').waitFor();
    await eventually(async () => assert.equal(await page.getByText('Why?').count(), 0));
    await page.getByText('2 of 2').waitFor();
    assert.equal(await button(page, 'Next version').getAttribute('aria-disabled'), 'true');
    await button(page, 'Previous version').press('Enter');
    await page.getByText('1 of 2').waitFor();
    await expectFocus(page, 'Previous version');
    await page.getByText('It is blue.').waitFor();
    assert.equal(await answers(page).getByText('A pear.').count(), 0);
    assert.equal(await button(page, 'Regenerate').count(), 0);
    await page.getByText('the agent continues the latest one').waitFor();
    await button(page, 'Show the latest').click();
    await answers(page).getByText('A pear.').waitFor();
    assert.equal(await answers(page).getByText('It is blue.').count(), 0);
  });

  test('a sent message is edited in place and answered again; its versions stay', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await ask(page, 'Hello', 'Hi.');
    await ask(page, 'A plum?', 'No.');
    await edit(page, questions(page).last(), 'A pear?', 'Yes.');
    assert.deepEqual(await sentMessages(page).allTextContents(), ['Hello', 'A pear?']);
    await page.getByText('2 of 2').waitFor();
    await edit(page, questions(page).last(), 'A fig?', 'Perhaps.');
    await page.getByText('3 of 3').waitFor();
    await button(page, 'Previous version').click();
    await answers(page).getByText('Yes.').waitFor();
    await button(page, 'Previous version').click();
    await answers(page).getByText('No.').waitFor();
    assert.deepEqual(await sentMessages(page).allTextContents(), ['Hello', 'A plum?']);
    // A new message continues the latest version.
    await ask(page, 'And now?', 'Now figs.');
    assert.deepEqual(await sentMessages(page).allTextContents(), ['Hello', 'A fig?', 'And now?']);
    await page.reload();
    await page.getByText('3 of 3').waitFor();
  });

  test('another tab shows an edited message too', async () => {
    const { id } = await env.thread();
    const [one, two] = [await env.open(`/t/${id}`), await env.open(`/t/${id}`)];
    await ask(one, 'A plum?', 'No.');
    await answers(two).getByText('No.').waitFor();
    await edit(one, questions(one), 'A pear?', 'Yes.');
    await answers(two).getByText('Yes.').waitFor();
    await eventually(async () => assert.deepEqual(await sentMessages(two).allTextContents(), ['A pear?']));
  });

  test('an edit can be cancelled, survives a reload, and is kept if it cannot be sent', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await ask(page, 'A plum?', 'No.');
    const box = page.getByRole('textbox', { name: 'Edited message' });
    await button(page, 'Edit message').click();
    await expectFocus(page, 'Edited message');
    assert.equal(await box.inputValue(), 'A plum?');
    await box.press('Escape');
    await sentMessages(page).getByText('A plum?').waitFor();
    await expectFocus(page, 'Edit message');
    await button(page, 'Edit message').click();
    await box.fill('Two plums?');
    await page.reload();
    await eventually(async () => assert.equal(await box.inputValue(), 'Two plums?'));
    await page.route('**/regenerate', (route) => route.fulfill({ status: 409, json: { error: 'turn is in use' } }), {
      times: 1,
    });
    await button(page, 'Send again').click();
    await page.getByText('turn is in use').waitFor();
    assert.equal(await box.inputValue(), 'Two plums?');
    await env.backend.reply({ text: 'Two.' });
    await button(page, 'Send again').click();
    await answers(page).getByText('Two.').waitFor();
    assert.deepEqual(await sentMessages(page).allTextContents(), ['Two plums?']);
  });

  test('Escape keeps an edit for later, Cancel drops it', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await ask(page, 'A plum?', 'No.');
    const box = page.getByRole('textbox', { name: 'Edited message' });
    await button(page, 'Edit message').click();
    await box.fill('Two plums?');
    await box.press('Escape');
    await sentMessages(page).getByText('A plum?').waitFor();
    await expectFocus(page, 'Edit message');
    await button(page, 'Edit message').click();
    assert.equal(await box.inputValue(), 'Two plums?');
    await button(page, 'Cancel').click();
    await button(page, 'Edit message').click();
    assert.equal(await box.inputValue(), 'A plum?');
  });

  for (const [what, change] of Object.entries({
    edited: async (turn) => {
      await env.backend.reply({ text: 'Perhaps.' });
      await env.api('POST', `/turns/${turn.id}/regenerate`, { content: 'A fig?' });
    },
    deleted: (turn) => env.api('DELETE', `/turns/${turn.id}`),
  }))
    test(`the text of an edit is kept if the message is ${what} elsewhere`, async () => {
      const { id } = await env.thread();
      const page = await env.open(`/t/${id}`);
      await ask(page, 'A plum?', 'No.');
      await message(page).fill('Something else.');
      await button(page, 'Edit message').click();
      await page.getByRole('textbox', { name: 'Edited message' }).fill('A ripe plum?');
      await change((await env.turns(id))[0]);
      await page.getByText('The message that you edited was changed or deleted meanwhile.').waitFor();
      assert.equal(await message(page).inputValue(), 'Something else.\n\nA ripe plum?');
      await page.reload();
      await eventually(async () => assert.equal(await message(page).inputValue(), 'Something else.\n\nA ripe plum?'));
    });

  test('an edit that another tab has sent is not kept', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await ask(page, 'A plum?', 'No.');
    const second = await page.context().newPage();
    await second.goto(page.url());
    await button(page, 'Edit message').click();
    await page.getByRole('textbox', { name: 'Edited message' }).fill('A ripe plum?');
    await eventually(async () =>
      assert.match(await page.evaluate(() => JSON.stringify(localStorage)), /draft\.edit.*A ripe plum/),
    );
    await second.reload();
    const box = second.getByRole('textbox', { name: 'Edited message' });
    await eventually(async () => assert.equal(await box.inputValue(), 'A ripe plum?'));
    await env.backend.reply({ text: 'Perhaps.' });
    await box.press('Enter');
    for (const tab of [second, page]) {
      await answers(tab).getByText('Perhaps.').waitFor();
      assert.equal(await message(tab).inputValue(), '');
      assert.equal(await tab.getByText('was changed or deleted meanwhile').count(), 0);
    }
  });

  test('an answer is regenerated with another model', async () => {
    const ids = ['talker-1', 'thinker-2'];
    await env.backend.list_models({ models: ids.map((id) => ({ id })) });
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await ask(page, 'Fruit?', 'A plum.');
    await env.backend.reply({ text: 'A pear.' });
    await button(page, 'Answer again with another model: stub/talker-1').click();
    await page.getByRole('combobox', { name: 'Search models' }).fill('stub/thinker-2');
    await page.getByRole('option', { name: 'stub/thinker-2' }).click();
    await answers(page).getByText('A pear.').waitFor();
    await answers(page).getByText('stub/thinker-2').waitFor();
    await page.getByText('2 of 2').waitFor();
  });

  test('a stopped answer can be continued or retried', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await env.backend.hold({ pieces: ['Half an'] });
    await sendMessage(page, 'Tell me');
    await answers(page).getByText('Half an').waitFor();
    await button(page, 'Stop').click();
    await env.backend.reply({ text: ' answer.' });
    await button(page, 'Continue').click();
    await sentMessages(page).getByText('Continue where you stopped.').waitFor();
    await answers(page).getByText('answer.', { exact: true }).waitFor();
    assert.equal(await button(page, 'Continue').count(), 0);
  });

  test('the reasoning of a model stays, folded, after its answer, also after a reload', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await env.backend.reply({ text: 'A plum.', reasoning: 'Plums are ripe now.' });
    await sendMessage(page, 'Fruit?');
    await answers(page).getByText('A plum.').waitFor();
    await page.getByText('stub/talker-1').first().waitFor();
    for (const after of ['the answer', 'a reload']) {
      if (after === 'a reload') await page.reload();
      const thought = answers(page).getByText(/^(Thought for|Reasoning)/);
      await thought.waitFor();
      const text = answers(page).locator('details .text');
      assert.equal(await text.isVisible(), false, after);
      await thought.click();
      await text.getByText('Plums are ripe now.').waitFor();
    }
  });
}
