import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, choose, eventually, message, missing, questions, sendMessage, withGateway } from './environment.mjs';

const glob = { name: 'Glob', arguments: { pattern: '*.md' }, id: 'look' };

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  /** Starts an answer whose model waits in a step that ends with a call. */
  async function startAnswer(options) {
    const page = await env.open(`/t/${(await env.thread()).id}`, options);
    const held = await env.backend.hold({ pieces: ['Let me look.'], tool_calls: [glob] });
    await sendMessage(page, 'Which animals swim?');
    await answers(page).getByText('Let me look.').waitFor();
    return { page, held };
  }

  test('Ctrl+Enter adds a message to the answer, which shows where it went in', async () => {
    const { page, held } = await startAnswer();
    await message(page).fill('Only the otters.');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Joins at the next step').waitFor();
    assert.equal(await message(page).inputValue(), '');
    const next = await env.backend.hold({ pieces: ['Otters'] });
    await env.backend.release({ held, pieces: [] });
    await answers(page).getByText('Otters', { exact: true }).waitFor();
    await answers(page).getByText('Joined here').waitFor();
    assert.equal(await page.getByText('Joins at the next step').count(), 0);
    await env.backend.release({ held: next, pieces: [' swim.'] });
    await answers(page).getByText('Otters swim.').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    for (const reloads of [false, true]) {
      if (reloads) await page.reload();
      await answers(page).getByText('Joined here').waitFor();
      const answer = (await answers(page).allInnerTexts()).join('\n');
      const places = ['Let me look.', '*.md', 'Only the otters.', 'Otters swim.'].map((text) => answer.indexOf(text));
      assert.deepEqual(
        places,
        [...places].sort((a, b) => a - b),
      );
      assert.ok(!places.includes(-1), answer);
    }
  });

  test('an active answer shows its added message after a reload', async () => {
    const { page, held } = await startAnswer();
    await message(page).fill('Only the otters.');
    await page.getByRole('button', { name: 'Steer' }).click();
    await page.getByText('Joins at the next step').waitFor();
    const next = await env.backend.hold({ pieces: ['Otters'] });
    await env.backend.release({ held, pieces: [] });
    await answers(page).getByText('Joined here').waitFor();
    await page.reload();
    await answers(page).getByText('Only the otters.').waitFor();
    assert.equal(await questions(page).filter({ hasText: 'Only the otters.' }).count(), 1);
    await env.backend.release({ held: next, pieces: [' swim.'] });
    await answers(page).getByText('Otters swim.').waitFor();
  });

  test('Ctrl+Shift+Enter and Interrupt stop the answer and send the message', async () => {
    for (const press of [
      (page) => page.keyboard.press('Control+Shift+Enter'),
      (page) => page.getByRole('button', { name: 'Interrupt' }).click(),
    ]) {
      const { page } = await startAnswer();
      await env.backend.reply({ text: 'Something else, then.' });
      await message(page).fill('Something else.');
      await press(page);
      await answers(page).getByText('Something else, then.').waitFor();
      await answers(page).getByText('Stopped.').waitFor();
    }
  });

  test('Enter still queues, and without an answer Ctrl+Enter just sends', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    assert.equal(await page.getByRole('button', { name: 'Steer' }).count(), 0);
    const requested = page.waitForRequest((request) => request.url().endsWith('/chat'));
    await env.backend.reply({ text: 'Hello.' });
    await message(page).fill('Hi');
    await page.keyboard.press('Control+Enter');
    assert.equal((await requested).postDataJSON().delivery, undefined);
    await answers(page).getByText('Hello.').waitFor();
  });

  test('a message that is removed from the queue can be sent again with its files', async () => {
    const { page, held } = await startAnswer();
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'otters.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    const attached = page.getByRole('list', { name: 'Attachments' }).getByText('otters.txt');
    await attached.waitFor();
    await sendMessage(page, 'Read this');
    await page.getByRole('button', { name: 'Remove from queue' }).click();
    await page.getByRole('button', { name: 'Edit and resend' }).click();
    await attached.waitFor();
    assert.equal(await message(page).inputValue(), 'Read this');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await questions(page).filter({ hasText: 'Read this' }).getByText('otters.txt').waitFor();
    await env.backend.release({ held, pieces: [] });
  });

  test('after Stop, queued messages are answered by the agents and models that were asked', async () => {
    const gardener = await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'gardener',
      description: 'd',
      enabled: true,
      definition: { systemPrompt: 'x' },
    });
    const { page } = await startAnswer();
    const id = page.url().split('/t/')[1];
    await page.getByRole('button', { name: /^Model: / }).click();
    await page.getByRole('combobox', { name: 'Search models' }).fill('stub/other-9');
    await page.keyboard.press('Enter');
    await sendMessage(page, 'By the model');
    await choose(page.locator('form').getByRole('combobox', { name: 'Agent' }), 'gardener');
    await sendMessage(page, 'By the gardener');
    await page.getByText('Queued').nth(1).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await eventually(async () => {
      const turns = await env.turns(id);
      const answerTo = (words) => {
        const { id: asked } = turns.find(({ content }) => content === words);
        return turns.find(({ metadata }) => metadata?.in_reply_to === asked).metadata;
      };
      assert.equal(answerTo('By the model').model, 'stub/other-9');
      assert.equal(answerTo('By the gardener').agent_id, gardener.id);
    });
  });

  test('the list of tasks is pinned above the message, and its items are shown as text', async () => {
    const { id } = await env.thread();
    await env.api('PATCH', `/threads/${id}`, { mode: 'act' });
    const items = [
      { text: 'Read the notes', status: 'done' },
      { text: '<img src=x onerror=alert(1)>\u202e', status: 'active' },
    ];
    await env.backend.reply({ text: '', tool_calls: [{ name: 'Tasks', arguments: { items }, id: 'list' }] });
    await env.backend.reply({ text: 'Done.' });
    const page = await env.open(`/t/${id}`);
    await sendMessage(page, 'Go on.');
    const list = page.getByRole('group', { name: 'Tasks' });
    await list.getByText('Tasks 1/2').waitFor();
    assert.equal(await list.locator('img').count(), 0);
    await list.getByText('<img src=x onerror=alert(1)>').last().waitFor();
    await page.reload();
    await list.getByText('Read the notes').waitFor();
    await eventually(async () => assert.equal(await list.getByRole('listitem').count(), 2));
  });
}
