import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, message, missing, questions, say, withStage } from './stage.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const it = withStage();

  test('a message is answered as it streams, in a new thread', async () => {
    const page = await it.open();
    const held = await it.stage.hold({ pieces: ['**Once**', ' upon'] });
    await say(page, 'Tell me a story');
    await answers(page).getByText('Once upon').waitFor();
    assert.equal(await answers(page).locator('strong').textContent(), 'Once');
    assert.match(page.url(), /#\/t\//);
    assert.equal(await page.getByRole('log').count(), 1);
    await it.stage.release({ held, pieces: [' a time.'] });
    await answers(page).getByText('Once upon a time.').waitFor();
    await page.getByText('stub/talker-1').first().waitFor();
    assert.equal(await page.getByRole('article').count(), 2);
  });

  test('Stop ends the answer and keeps what came', async () => {
    const page = await it.open();
    await it.stage.hold({ pieces: ['Half an ', 'answer'] });
    await say(page, 'Never mind');
    await answers(page).getByText('Half an answer').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await answers(page).getByText('Stopped.').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    const [, answer] = await it.turns(page.url().split('/t/')[1]);
    assert.equal(answer.content, 'Half an answer');
  });

  test('a chat that is being answered can be deleted, which stops the answer', async () => {
    const page = await it.open();
    await it.stage.hold({ pieces: ['Half an answer'] });
    await say(page, 'On second thoughts not');
    await answers(page).getByText('Half an answer').waitFor();
    const id = page.url().split('/t/')[1];
    await page.getByRole('button', { name: 'Delete chat' }).click();
    const question = page.getByRole('dialog', { name: 'Delete this chat?' });
    await question.getByText('The answer under way is stopped.').waitFor();
    await question.getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL(/#\/chats$/);
    assert.ok((await it.api('GET', '/threads')).every((thread) => thread.id !== id));
  });

  test('who asks for more at the end of a chat reads on where it goes on', async () => {
    const page = await it.open(`/t/${await it.threadWith({ role: 'assistant', content: 'A sentence of an answer.\n\n'.repeat(1700) })}`);
    const box = page.getByRole('log', { name: 'Conversation' });
    const more = page.getByRole('button', { name: /^Show more/ });
    await more.waitFor();
    const scrolled = () => box.evaluate(({ scrollTop }) => scrollTop);
    await eventually(async () => assert.ok((await scrolled()) > 1000));
    const at = await scrolled();
    await more.click();
    await page.getByRole('button', { name: 'To the end' }).waitFor();
    assert.equal(await scrolled(), at);
  });

  test('Escape in the composer stops too, and keeps what is being written', async () => {
    const page = await it.open();
    await it.stage.hold({ pieces: ['Again'] });
    await say(page, 'Go on');
    await answers(page).getByText('Again').waitFor();
    await message(page).fill('next thought');
    await message(page).press('Escape');
    await answers(page).getByText('Stopped.').waitFor();
    assert.equal(await message(page).inputValue(), 'next thought');
  });

  test('a message sent while an answer is under way waits visibly for its turn', async () => {
    const page = await it.open();
    const held = await it.stage.hold({ pieces: ['First'] });
    await say(page, 'One');
    await answers(page).getByText('First').waitFor();
    await it.stage.reply({ text: 'Second' });
    await say(page, 'Two');
    await page.getByText('waits for its turn').waitFor();
    await it.stage.release({ held, pieces: [' done'] });
    await answers(page).getByText('Second').waitFor();
    await eventually(async () => assert.equal(await page.getByText('waits for its turn').count(), 0));
    assert.deepEqual(await questions(page).locator('.said').allTextContents(), ['One', 'Two']);
  });

  test('a message that waits for its turn can be taken back', async () => {
    const page = await it.open();
    const held = await it.stage.hold({ pieces: ['First'] });
    await say(page, 'One');
    await answers(page).getByText('First').waitFor();
    await say(page, 'Two, on second thoughts not');
    await page.getByText('waits for its turn').hover();
    await page.getByRole('button', { name: 'Take back this message' }).click();
    await eventually(async () => assert.equal(await questions(page).count(), 1));
    await page.getByRole('button', { name: 'Write it anew' }).click();
    assert.equal(await message(page).inputValue(), 'Two, on second thoughts not');
    await it.stage.release({ held, pieces: [' done'] });
    await answers(page).getByText('First done').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    assert.deepEqual((await it.turns(page.url().split('/t/')[1])).map(({ content }) => content), ['One', 'First done']);
  });

  test('one message can be for another agent', async () => {
    await it.api('POST', '/extensions', { type: 'agent', name: 'poet', description: 'Rhymes', enabled: true, definition: { systemPrompt: 'Rhyme.', model: 'stub/talker-1' } });
    const { id } = await it.thread();
    const page = await it.open(`/t/${id}`);
    await page.getByRole('combobox', { name: 'Agent' }).selectOption('poet');
    await it.stage.reply({ text: 'A rhyme' });
    const asked = page.waitForRequest((request) => request.url().endsWith('/chat'));
    await say(page, 'Rhyme');
    const poet = await it.api('GET', '/extensions/poet');
    assert.equal((await asked).postDataJSON().agentId, poet.id);
    await answers(page).getByText('A rhyme').waitFor();
  });

  test('a draft survives a reload', async () => {
    const page = await it.open();
    await message(page).fill('not yet sent');
    await page.reload();
    await eventually(async () => assert.equal(await message(page).inputValue(), 'not yet sent'));
  });

  test('a second tab stays true', async () => {
    const { id } = await it.thread();
    const [one, two] = [await it.open(`/t/${id}`), await it.open(`/t/${id}`)];
    await it.stage.reply({ text: 'Heard by both' });
    await say(one, 'Hello');
    for (const page of [one, two]) await answers(page).getByText('Heard by both').waitFor();
    assert.equal(await questions(two).count(), 1);
  });

  for (const [what, early] of [
    ['are older than the events', (route, turns) => route.fulfill({ json: [turns[1], { ...turns[1], id: 'gone', content: 'Deleted since' }] })],
    ['do not come', (route) => route.abort()],
  ]) {
    test(`turns that were read before the events came are mended where they ${what}`, async () => {
      const { id } = await it.thread();
      for (const content of ['Asked', 'Asked since']) await it.api('POST', `/threads/${id}/turns`, { role: 'user', content });
      const turns = await it.turns(id);
      const page = await it.open();
      let asked = 0;
      await page.route(`**/threads/${id}/turns?limit=50`, (route) => (asked++ ? route.continue() : early(route, turns.toReversed())));
      await page.goto(`${it.line.url}/ui/?again#/t/${id}`);
      await questions(page).getByText('Asked since').waitFor();
      await eventually(async () => assert.deepEqual(await questions(page).locator('.said').allTextContents(), ['Asked', 'Asked since']));
      assert.equal(asked, 2);
    });
  }

  test('answering again replaces the answer', async () => {
    const page = await it.open();
    await it.stage.reply({ text: 'Bad answer' });
    await say(page, 'Well?');
    await answers(page).getByText('Bad answer').waitFor();
    await it.stage.reply({ text: 'Good answer' });
    await page.getByRole('button', { name: 'Regenerate' }).click();
    await answers(page).getByText('Good answer').waitFor();
    await eventually(async () => assert.equal(await answers(page).count(), 1));
  });

  test('what is answered again in one tab is replaced in the other', async () => {
    const { id } = await it.thread();
    const [one, two] = [await it.open(`/t/${id}`), await it.open(`/t/${id}`)];
    await it.stage.reply({ text: 'Bad answer' });
    await say(one, 'Well?');
    for (const page of [one, two]) await page.getByText('stub/talker-1').first().waitFor();
    await it.stage.reply({ text: 'Good answer' });
    await one.getByRole('button', { name: 'Regenerate' }).click();
    for (const page of [one, two]) {
      await answers(page).getByText('Good answer').waitFor();
      await eventually(async () => assert.equal(await answers(page).count(), 1));
    }
  });

  test('Enter does not send while characters are being composed', async () => {
    const page = await it.open();
    const session = await page.context().newCDPSession(page);
    await message(page).focus();
    await session.send('Input.imeSetComposition', { text: 'にほ', selectionStart: 2, selectionEnd: 2 });
    await message(page).dispatchEvent('keydown', { key: 'Enter', keyCode: 229, isComposing: true });
    await session.send('Input.insertText', { text: '日本' });
    assert.equal(await message(page).inputValue(), '日本');
    assert.equal(await page.getByRole('article').count(), 0);
  });

  const picture = { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64') };

  test('a first message that is refused is shown, with the reason, where it was to go', async () => {
    const page = await it.open('/new');
    await page.locator('input[type=file]').setInputFiles(picture);
    await page.getByRole('list', { name: 'Attachments' }).getByText('dot.png').waitFor();
    await say(page, 'What is on it?');
    await page.getByText('model does not accept images').waitFor();
    await page.getByText('What is on it?').waitFor();
    assert.match(page.url(), /#\/t\//);
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('What is on it?').waitFor({ state: 'detached' });
  });

  test('a file that is too large is refused without an offer to try again', async () => {
    const page = await it.open('/new');
    await page.locator('input[type=file]').setInputFiles({ name: 'huge.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(21 * 1024 * 1024) });
    await page.getByText('huge.bin is larger than 20 MB.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0);
  });

  const focused = (page) => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent);

  test('the keyboard stays where it was used', async () => {
    for (const title of ['One', 'Two', 'Three']) await it.thread({ title });
    const page = await it.open('/new');
    await it.stage.reply({ text: 'Here.' });
    await say(page, 'Where am I?');
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

  test('the link to the content leads past the list of chats', async () => {
    const { id } = await it.thread();
    const page = await it.open(`/t/${id}`);
    await message(page).waitFor();
    await page.keyboard.press('Tab');
    assert.match(await focused(page), /Skip to the content/);
    await page.keyboard.press('Enter');
    assert.equal(await focused(page), 'Message');
  });

  test('turns that were asked for early are shown when they come, though the events do not', async () => {
    const id = await it.threadWith({ role: 'user', content: 'Asked early' });
    const page = await it.open();
    await message(page).waitFor();
    let asked = 0;
    await page.route(`**/threads/${id}/turns?limit=50`, async (route) => {
      if (asked++) return;
      await message(page).waitFor();
      await route.continue();
    });
    await page.goto(`${it.line.url}/ui/?late#/t/${id}`);
    await questions(page).getByText('Asked early').waitFor();
    await page.unrouteAll();
  });

  test('a new chat is for the agent that the address names, also where it changes', async () => {
    await it.api('POST', '/extensions', { type: 'agent', name: 'gardener', description: 'd', enabled: true, definition: { systemPrompt: 'x' } });
    const page = await it.open('/new?agent=nobody');
    const chosen = page.getByRole('combobox', { name: 'Agent' }).last();
    await eventually(async () => assert.equal(await chosen.inputValue(), 'assistant'));
    for (const name of ['gardener', 'assistant']) {
      await page.evaluate((hash) => (location.hash = hash), `#/new?agent=${name}`);
      await eventually(async () => assert.equal(await chosen.inputValue(), name));
    }
  });

  test('a new chat says where the agent that the address names is not there or is disabled', async () => {
    for (const [name, enabled] of [['sleeper', false], ['waker', true]]) {
      await it.api('POST', '/extensions', { type: 'agent', name, description: 'd', enabled, definition: { systemPrompt: 'x' } });
    }
    const page = await it.open('/new?agent=nobody');
    await page.getByText('There is no agent called «nobody».').waitFor();
    await page.evaluate(() => (location.hash = '#/new?agent=sleeper'));
    await page.getByText('The agent «sleeper» is disabled.').waitFor();
    await page.getByRole('combobox', { name: 'Agent' }).last().selectOption('waker');
    await page.getByText('The agent «sleeper» is disabled.').waitFor({ state: 'detached' });
  });

  test('a new chat says where the project that the address names is not there, and is one without', async () => {
    await it.api('POST', '/projects', { name: 'Meadow', path: (await it.stage.write({ path: 'meadow/readme.md', text: 'Grass.' })).replace('/readme.md', '') });
    const page = await it.open('/new?project=gone');
    await page.getByText('There is no project «gone».').waitFor();
    const chosen = page.getByRole('combobox', { name: 'Project' }).last();
    assert.equal(await chosen.inputValue(), '');
    assert.equal(await chosen.evaluate((list) => list.selectedOptions[0]?.textContent), 'None');
    await chosen.selectOption('Meadow');
    await page.getByText('There is no project «gone».').waitFor({ state: 'detached' });
  });

  test('the list of chats that is filtered leaves the agent of the message being written', async () => {
    await it.api('POST', '/extensions', { type: 'agent', name: 'baker', description: 'd', enabled: true, definition: { systemPrompt: 'x' } });
    const page = await it.open('/chats');
    const chosen = page.getByRole('combobox', { name: 'Agent' }).last();
    await eventually(async () => assert.equal(await chosen.inputValue(), 'assistant'));
    await page.evaluate(() => (location.hash = '#/chats?agent=baker'));
    await page.getByText('No chat fits.').waitFor();
    assert.equal(await chosen.inputValue(), 'assistant');
  });

  test('the chats above and below are those of the list', async () => {
    const path = await it.stage.write({ path: 'garden/readme.md', text: 'x' });
    const project = await it.api('POST', '/projects', { name: 'Garden', path: path.replace('/readme.md', '') });
    await it.thread({ title: 'In the garden', project_id: project.id });
    await it.thread({ title: 'Below it' });
    const { id } = await it.thread({ title: 'First of none' });
    const page = await it.open(`/t/${id}`);
    await page.getByRole('link', { name: /In the garden/ }).waitFor();
    await page.keyboard.press('Alt+ArrowUp');
    await page.getByRole('heading', { level: 1, name: 'In the garden' }).waitFor();
  });

  test('a chat that is archived can be switched to act, and taken out of the archive, by keys', async () => {
    const { id } = await it.thread({ title: 'Put away' });
    await it.api('PATCH', `/threads/${id}`, { archived: true });
    const page = await it.open(`/t/${id}`);
    await page.getByRole('radio', { name: 'Plan', checked: true }).waitFor();
    await page.keyboard.press('Control+.');
    await page.getByRole('radio', { name: 'Act', checked: true }).waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('take this chat out');
    await page.getByRole('option', { name: /Take this chat out of the archive/ }).waitFor();
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal((await it.api('GET', `/threads/${id}`)).archived, false));
  });

  test('an answer that came while another view was open is marked as new', async () => {
    const { id } = await it.thread({ title: 'Answered behind' });
    const page = await it.open(`/t/${id}`);
    const held = await it.stage.hold({ pieces: ['Not yet'] });
    await say(page, 'Take your time');
    await answers(page).getByText('Not yet').waitFor();
    await page.getByRole('link', { name: 'Inbox' }).click();
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    await it.stage.release({ held, pieces: [' but now.'] });
    await eventually(async () => assert.match(await page.title(), /^\(\d+\) Inbox/));
    await page.getByRole('link', { name: 'Chats' }).click();
    await page.getByRole('link', { name: /Answered behind.*new answer/ }).waitFor();
  });

  test('of a chat that is not read yet no mode is made up, and nothing is offered that would do nothing', async () => {
    const { id } = await it.thread();
    await it.api('PATCH', `/threads/${id}`, { mode: 'act' });
    const page = await it.open();
    let answer;
    const asked = new Promise((asks) => (answer = asks));
    await page.route(`**/threads/${id}`, async (route) => {
      await asked;
      await route.continue();
    });
    await page.goto(`${it.line.url}/ui/?unread#/t/${id}`);
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
