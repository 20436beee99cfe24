import assert from 'node:assert/strict';
import test from 'node:test';
import {
  answers,
  eventually,
  holdRequests,
  message,
  missing,
  questions,
  sendMessage,
  withGateway,
  choose,
} from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  test('a message starts a thread, and its answer is shown while it streams', async () => {
    const page = await env.open();
    const held = await env.backend.hold({ pieces: ['**Once**', ' upon'] });
    await sendMessage(page, 'Tell me a story');
    await answers(page).getByText('Once upon').waitFor();
    assert.equal(await answers(page).locator('strong').textContent(), 'Once');
    assert.match(page.url(), /#\/t\//);
    assert.equal(await page.getByRole('log').count(), 1);
    await env.backend.release({ held, pieces: [' a time.'] });
    await answers(page).getByText('Once upon a time.').waitFor();
    await page.getByText('stub/talker-1').first().waitFor();
    assert.equal(await page.getByRole('article').count(), 2);
  });

  test('Stop ends the answer and keeps the partial text', async () => {
    const page = await env.open();
    await env.backend.hold({ pieces: ['Half an ', 'answer'] });
    await sendMessage(page, 'Never mind');
    await answers(page).getByText('Half an answer').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await answers(page).getByText('Stopped.').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    const [, answer] = await env.turns(page.url().split('/t/')[1]);
    assert.equal(answer.content, 'Half an answer');
  });

  test('deleting a chat that is being answered stops the answer', async () => {
    const page = await env.open();
    await env.backend.hold({ pieces: ['Half an answer'] });
    await sendMessage(page, 'On second thoughts not');
    await answers(page).getByText('Half an answer').waitFor();
    const id = page.url().split('/t/')[1];
    await page.getByRole('button', { name: 'Delete chat' }).click();
    const question = page.getByRole('dialog', { name: 'Delete this chat?' });
    await question.getByText('The current answer will be stopped.').waitFor();
    await question.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/#\/chats$/);
    assert.ok((await env.api('GET', '/threads')).every((thread) => thread.id !== id));
  });

  test('“Show more” at the end of a chat keeps the reading position', async () => {
    const page = await env.open(
      `/t/${await env.threadWith({ role: 'assistant', content: 'A sentence of an answer.\n\n'.repeat(1700) })}`,
    );
    const box = page.getByRole('log', { name: 'Conversation' });
    const more = page.getByRole('button', { name: /^Show more/ });
    await more.waitFor();
    const scrolled = () => box.evaluate(({ scrollTop }) => scrollTop);
    await eventually(async () => assert.ok((await scrolled()) > 1000));
    const at = await scrolled();
    await more.click();
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    assert.equal(await scrolled(), at);
  });

  test('an answer without text says so', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await env.backend.reply({ text: '' });
    await sendMessage(page, 'Say nothing');
    await answers(page).getByText('The model ended without an answer.').waitFor();
  });

  test('Escape in the composer stops the answer and keeps the draft', async () => {
    const page = await env.open();
    await env.backend.hold({ pieces: ['Again'] });
    await sendMessage(page, 'Go on');
    await answers(page).getByText('Again').waitFor();
    await message(page).fill('next thought');
    await message(page).press('Escape');
    await answers(page).getByText('Stopped.').waitFor();
    assert.equal(await message(page).inputValue(), 'next thought');
  });

  test('right after Send, each message shows that its answer is pending, and can be stopped', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await env.backend.reply({ text: 'First.' });
    await sendMessage(page, 'One');
    await answers(page).getByText('First.').waitFor();
    const stop = page.getByRole('button', { name: 'Stop' });
    await stop.waitFor({ state: 'hidden' });
    const sent = await holdRequests(page, '**/chat');
    const held = await env.backend.hold({ pieces: [] });
    await sendMessage(page, 'Two');
    await page.getByText('Thinking…').waitFor();
    await stop.waitFor();
    await sent.requested();
    await sent.release();
    await answers(page).last().getByText('Thinking…').waitFor();
    assert.equal(await page.getByText('Thinking…').count(), 1);
    await message(page).press('Escape');
    await stop.waitFor({ state: 'hidden' });
    assert.equal(await page.getByText('Thinking…').count(), 0);
    await env.backend.release({ held, pieces: [] });
  });

  test('a message after one that was refused while it was being stopped is answered', async () => {
    const { id } = await env.thread();
    const page = await env.open(`/t/${id}`);
    let refuse;
    await page.route('**/chat', (route) => {
      refuse = () => route.fulfill({ status: 400, json: { error: 'agent is disabled' } });
    });
    await sendMessage(page, 'One');
    await eventually(() => assert.ok(refuse));
    await page.getByRole('button', { name: 'Stop' }).click();
    await refuse();
    await page.getByText('agent is disabled').waitFor();
    await page.unroute('**/chat');
    const stops = [];
    page.on('request', (request) => request.url().endsWith('/chat/stop') && stops.push(request));
    const held = await env.backend.hold({ pieces: ['Two'] });
    await message(page).fill('And?');
    await message(page).press('Enter');
    await answers(page).getByText('Two').waitFor();
    assert.equal(stops.length, 0);
    await env.backend.release({ held, pieces: [' it is.'] });
    await answers(page).getByText('Two it is.').waitFor();
  });

  test('a message that is answered after another shows that its answer is pending', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    const first = await env.backend.hold({ pieces: ['First'] });
    await sendMessage(page, 'One');
    await answers(page).getByText('First').waitFor();
    const second = await env.backend.hold({ pieces: [] });
    await sendMessage(page, 'Two');
    await page.getByText('Queued', { exact: true }).waitFor();
    await env.backend.release({ held: first, pieces: ['.'] });
    await page.getByText('Thinking…').waitFor();
    await env.backend.release({ held: second, pieces: ['Second.'] });
    await answers(page).getByText('Second.').waitFor();
  });

  test('events alone tell another tab that an answer is pending, also for a queued message', async () => {
    const { id } = await env.thread();
    const page = await env.open(`/t/${id}`);
    const other = await env.open(`/t/${id}`);
    await env.backend.reply({ text: 'First.' });
    await sendMessage(page, 'One');
    await answers(other).getByText('First.').waitFor();
    const stop = other.getByRole('button', { name: 'Stop' });
    await stop.waitFor({ state: 'hidden' });
    const asking = await holdRequests(other, `**/threads/${id}`);
    const second = await env.backend.hold({ pieces: [] });
    await sendMessage(page, 'Two');
    await other.getByText('Thinking…').waitFor();
    await stop.waitFor();
    const third = await env.backend.hold({ pieces: [] });
    await sendMessage(page, 'Three');
    await other.getByText('Queued', { exact: true }).waitFor();
    await env.backend.release({ held: second, pieces: ['Second.'] });
    await answers(other).getByText('Second.').waitFor();
    await answers(other).nth(2).getByText('Thinking…').waitFor();
    await stop.click();
    await stop.waitFor({ state: 'hidden' });
    await other.getByText('Thinking…').waitFor({ state: 'detached' });
    await asking.release();
    await env.backend.release({ held: third, pieces: [] });
  });

  test('a fork has its own name, and its last question can be answered', async () => {
    const page = await env.open(`/t/${(await env.thread({ title: 'Rivers' })).id}`);
    await env.backend.reply({ text: 'The Nile.' });
    await sendMessage(page, 'Which is the longest?');
    await answers(page).getByText('The Nile.').waitFor();
    await questions(page).getByRole('button', { name: 'Fork from here' }).click();
    await page.getByText('Not answered.').waitFor();
    await page.getByRole('link', { name: /^Rivers \(fork\)/ }).waitFor();
    await env.backend.reply({ text: 'The Amazon.' });
    await page.getByRole('button', { name: 'Answer it' }).click();
    await answers(page).getByText('The Amazon.').waitFor();
    assert.equal(await page.getByText('Not answered.').count(), 0);
    assert.equal(await questions(page).count(), 1);
  });

  test('a message sent during an answer is shown as queued', async () => {
    const page = await env.open();
    const held = await env.backend.hold({ pieces: ['First'] });
    await sendMessage(page, 'One');
    await answers(page).getByText('First').waitFor();
    await env.backend.reply({ text: 'Second' });
    await sendMessage(page, 'Two');
    await page.getByText('Queued', { exact: true }).waitFor();
    await env.backend.release({ held, pieces: [' done'] });
    await answers(page).getByText('Second').waitFor();
    await eventually(async () => assert.equal(await page.getByText('Queued', { exact: true }).count(), 0));
    assert.deepEqual(await questions(page).locator('.said').allTextContents(), ['One', 'Two']);
  });

  test('after Stop the queued messages are answered in order', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await env.backend.hold({ pieces: ['First'] });
    await sendMessage(page, 'One');
    await answers(page).getByText('First').waitFor();
    await env.backend.reply({ text: 'Second.' });
    await env.backend.reply({ text: 'Third.' });
    for (const [i, text] of ['Two', 'Three'].entries()) {
      await sendMessage(page, text);
      await eventually(async () => assert.equal(await page.getByText('Queued', { exact: true }).count(), i + 1));
    }
    await page.getByRole('button', { name: 'Stop' }).click();
    await answers(page).getByText('Second.').waitFor();
    await answers(page).getByText('Third.').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    await eventually(async () =>
      assert.deepEqual(await questions(page).locator('.said').allTextContents(), ['One', 'Two', 'Three']),
    );
    // Questions are ordered by the time they were sent, which may be before the answer to the previous one.
    const turns = await env.turns(page.url().split('/t/')[1]);
    const contentOf = (id) => turns.find((turn) => turn.id === id)?.content;
    const asked = turns.filter(({ role }) => role === 'user').map(({ content }) => content);
    assert.deepEqual(asked, ['One', 'Two', 'Three']);
    const replies = turns.filter(({ role }) => role === 'assistant');
    assert.deepEqual(
      replies.map(({ content, metadata }) => [contentOf(metadata.in_reply_to), content]),
      [
        ['One', 'First'],
        ['Two', 'Second.'],
        ['Three', 'Third.'],
      ],
    );
    const shown = await page.getByRole('log').getByRole('article').allInnerTexts();
    assert.deepEqual(
      shown.map((text) => /One|First|Two|Second|Three|Third/.exec(text)?.[0]),
      ['One', 'First', 'Two', 'Second', 'Three', 'Third'],
    );
  });

  test('a queued message can be removed', async () => {
    const page = await env.open();
    const held = await env.backend.hold({ pieces: ['First'] });
    await sendMessage(page, 'One');
    await answers(page).getByText('First').waitFor();
    await sendMessage(page, 'Two, on second thoughts not');
    await page.getByText('Queued', { exact: true }).hover();
    await page.getByRole('button', { name: 'Remove from queue' }).click();
    await eventually(async () => assert.equal(await questions(page).count(), 1));
    await page.getByRole('button', { name: 'Edit and resend' }).click();
    assert.equal(await message(page).inputValue(), 'Two, on second thoughts not');
    await env.backend.release({ held, pieces: [' done'] });
    await answers(page).getByText('First done').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    assert.deepEqual(
      (await env.turns(page.url().split('/t/')[1])).map(({ content }) => content),
      ['One', 'First done'],
    );
  });

  test('a single message can be sent to another agent', async () => {
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'poet',
      description: 'Rhymes',
      enabled: true,
      definition: { systemPrompt: 'Rhyme.', model: 'stub/talker-1' },
    });
    const { id } = await env.thread();
    const page = await env.open(`/t/${id}`);
    await choose(page.getByRole('combobox', { name: 'Agent' }), 'poet');
    await env.backend.reply({ text: 'A rhyme' });
    const requested = page.waitForRequest((request) => request.url().endsWith('/chat'));
    await sendMessage(page, 'Rhyme');
    const poet = await env.api('GET', '/extensions/poet');
    assert.equal((await requested).postDataJSON().agentId, poet.id);
    await answers(page).getByText('A rhyme').waitFor();
  });

  test('a draft survives a reload', async () => {
    const page = await env.open();
    await message(page).fill('not yet sent');
    await page.reload();
    await eventually(async () => assert.equal(await message(page).inputValue(), 'not yet sent'));
  });

  test('a second tab stays up to date', async () => {
    const { id } = await env.thread();
    const [one, two] = [await env.open(`/t/${id}`), await env.open(`/t/${id}`)];
    await env.backend.reply({ text: 'Heard by both' });
    await sendMessage(one, 'Hello');
    for (const page of [one, two]) await answers(page).getByText('Heard by both').waitFor();
    assert.equal(await questions(two).count(), 1);
  });

  for (const [problem, early] of [
    [
      'are older than the events',
      (route, turns) => route.fulfill({ json: [turns[1], { ...turns[1], id: 'gone', content: 'Deleted since' }] }),
    ],
    ['do not arrive', (route) => route.abort()],
  ]) {
    test(`preloaded turns are corrected if they ${problem}`, async () => {
      const { id } = await env.thread();
      for (const content of ['Asked', 'Asked since'])
        await env.api('POST', `/threads/${id}/turns`, { role: 'user', content });
      const turns = await env.turns(id);
      const page = await env.open();
      let requests = 0;
      await page.route(`**/threads/${id}/turns?limit=50`, (route) =>
        requests++ ? route.continue() : early(route, turns.toReversed()),
      );
      await page.goto(`${env.proxy.url}/ui/?again#/t/${id}`);
      await questions(page).getByText('Asked since').waitFor();
      await eventually(async () =>
        assert.deepEqual(await questions(page).locator('.said').allTextContents(), ['Asked', 'Asked since']),
      );
      assert.equal(requests, 2);
    });
  }

  test('regenerating replaces the answer', async () => {
    const page = await env.open();
    await env.backend.reply({ text: 'Bad answer' });
    await sendMessage(page, 'Well?');
    await answers(page).getByText('Bad answer').waitFor();
    await env.backend.reply({ text: 'Good answer' });
    await page.getByRole('button', { name: 'Regenerate' }).click();
    await answers(page).getByText('Good answer').waitFor();
    await eventually(async () => assert.equal(await answers(page).count(), 1));
  });

  test('an answer regenerated in one tab is replaced in the other', async () => {
    const { id } = await env.thread();
    const [one, two] = [await env.open(`/t/${id}`), await env.open(`/t/${id}`)];
    await env.backend.reply({ text: 'Bad answer' });
    await sendMessage(one, 'Well?');
    for (const page of [one, two]) await page.getByText('stub/talker-1').first().waitFor();
    await env.backend.reply({ text: 'Good answer' });
    await one.getByRole('button', { name: 'Regenerate' }).click();
    for (const page of [one, two]) {
      await answers(page).getByText('Good answer').waitFor();
      await eventually(async () => assert.equal(await answers(page).count(), 1));
    }
  });

  test('Enter does not send during IME composition', async () => {
    const page = await env.open();
    const session = await page.context().newCDPSession(page);
    await message(page).focus();
    await session.send('Input.imeSetComposition', { text: 'にほ', selectionStart: 2, selectionEnd: 2 });
    await message(page).dispatchEvent('keydown', { key: 'Enter', keyCode: 229, isComposing: true });
    await session.send('Input.insertText', { text: '日本' });
    assert.equal(await message(page).inputValue(), '日本');
    assert.equal(await page.getByRole('article').count(), 0);
  });

  const focused = (page) =>
    page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent);

  test('the message keeps the focus after an answer and when switching chats', async () => {
    for (const title of ['One', 'Two', 'Three']) await env.thread({ title });
    const page = await env.open('/new');
    await env.backend.reply({ text: 'Here.' });
    await sendMessage(page, 'Where am I?');
    await answers(page).getByText('Here.').waitFor();
    assert.equal(await focused(page), 'Message');
    for (const title of ['Three', 'Two']) {
      await page.keyboard.press('Alt+ArrowDown');
      await page.getByRole('heading', { level: 1, name: title }).waitFor();
      await eventually(async () => assert.equal(await focused(page), 'Message'));
    }
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await eventually(async () => assert.equal(await focused(page), 'New chat'));
  });

  test('the skip link skips the list of chats', async () => {
    const { id } = await env.thread();
    const page = await env.open(`/t/${id}`);
    await message(page).waitFor();
    await page.keyboard.press('Tab');
    assert.match(await focused(page), /Skip to content/);
    await page.keyboard.press('Enter');
    assert.equal(await focused(page), 'Message');
  });

  test('preloaded turns are shown when they arrive, even without events', async () => {
    const id = await env.threadWith({ role: 'user', content: 'Asked early' });
    const page = await env.open();
    await message(page).waitFor();
    let requests = 0;
    await page.route(`**/threads/${id}/turns?limit=50`, async (route) => {
      if (requests++) return;
      await message(page).waitFor();
      await route.continue();
    });
    await page.goto(`${env.proxy.url}/ui/?late#/t/${id}`);
    await questions(page).getByText('Asked early').waitFor();
    await page.unrouteAll();
  });

  test('the shortcuts for the previous and next chat follow the list', async () => {
    const path = await env.backend.write({ path: 'garden/readme.md', text: 'x' });
    const project = await env.api('POST', '/projects', { name: 'Garden', path: path.replace('/readme.md', '') });
    await env.thread({ title: 'In the garden', project_id: project.id });
    await env.thread({ title: 'Below it' });
    const { id } = await env.thread({ title: 'First of none' });
    const page = await env.open(`/t/${id}`);
    await page.getByRole('link', { name: /In the garden/ }).waitFor();
    await page.keyboard.press('Alt+ArrowUp');
    await page.getByRole('heading', { level: 1, name: 'In the garden' }).waitFor();
  });

  test('an archived chat can be switched to act and unarchived by keyboard', async () => {
    const { id } = await env.thread({ title: 'Put away' });
    await env.api('PATCH', `/threads/${id}`, { archived: true });
    const page = await env.open(`/t/${id}`);
    await page.getByRole('radio', { name: 'Plan', checked: true }).waitFor();
    await page.keyboard.press('Control+.');
    await page.getByRole('radio', { name: 'Act', checked: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('unarchive this chat');
    await page.getByRole('option', { name: /Unarchive this chat/ }).waitFor();
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal((await env.api('GET', `/threads/${id}`)).archived, false));
  });

  test('the mode of a new chat can be switched by keyboard', async () => {
    const page = await env.open('/new');
    await page.getByRole('radio', { name: 'Act', checked: true }).waitFor();
    await message(page).press('Control+.');
    await page.getByRole('radio', { name: 'Plan', checked: true }).waitFor();
  });

  test('an answer that arrives while another view is open is marked as new', async () => {
    const { id } = await env.thread({ title: 'Answered behind' });
    const page = await env.open(`/t/${id}`);
    const held = await env.backend.hold({ pieces: ['Not yet'] });
    await sendMessage(page, 'Take your time');
    await answers(page).getByText('Not yet').waitFor();
    await page.getByRole('link', { name: 'Inbox' }).click();
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    await env.backend.release({ held, pieces: [' but now.'] });
    await eventually(async () => assert.match(await page.title(), /^\(\d+\) Inbox/));
    await page.getByRole('link', { name: 'Chats' }).click();
    await page.getByRole('link', { name: /Answered behind.*new answer/ }).waitFor();
  });

  test('an answer that arrives while the page is hidden is counted in its title until the person returns', async () => {
    const { id } = await env.thread({ title: 'Looked away' });
    const page = await env.open(`/t/${id}`);
    const hide = (hidden) =>
      page.evaluate((isHidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden });
        document.dispatchEvent(new Event('visibilitychange'));
      }, hidden);
    const held = await env.backend.hold({ pieces: ['Not yet'] });
    await sendMessage(page, 'Take your time');
    await answers(page).getByText('Not yet').waitFor();
    await hide(true);
    await env.backend.release({ held, pieces: [' but now.'] });
    await eventually(async () => assert.match(await page.title(), /^\(1\) Looked away/));
    await hide(false);
    await eventually(async () => assert.match(await page.title(), /^Looked away/));
  });

  test('a chat that is not loaded shows no mode and offers no actions', async () => {
    const { id } = await env.thread();
    await env.api('PATCH', `/threads/${id}`, { mode: 'act' });
    const page = await env.open();
    let answer;
    const requested = new Promise((resolve) => (answer = resolve));
    await page.route(`**/threads/${id}`, async (route) => {
      await requested;
      await route.continue();
    });
    await page.goto(`${env.proxy.url}/ui/?unread#/t/${id}`);
    await page.getByRole('radio', { name: 'Plan', disabled: true }).waitFor();
    assert.equal(await page.getByRole('radio', { checked: true }).count(), 0);
    const offered = (name) => page.getByRole('button', { name, exact: true });
    const names = ['Rename', 'Add a note', 'Archive', 'Delete chat'];
    for (const name of names) assert.ok(await offered(name).isDisabled(), name);
    answer();
    await page.getByRole('radio', { name: 'Act', checked: true }).waitFor();
    for (const name of names) assert.ok(await offered(name).isEnabled(), name);
  });
}
