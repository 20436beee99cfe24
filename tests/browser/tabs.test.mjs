import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, message, missing, sendMessage, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  /** Opens two tabs of one browser, each with a chat. */
  async function openTabs(first, second = first) {
    const one = await env.open(`/t/${first}`);
    const two = await one.context().newPage();
    await two.goto(`${env.proxy.url}/ui/#/t/${second}`);
    for (const page of [one, two]) await page.getByRole('heading', { level: 1, name: 'New thread' }).waitFor();
    return [one, two];
  }

  const attachments = (page) => page.getByRole('list', { name: 'Attachments' });

  async function attach(page) {
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    await attachments(page).getByText('notes.txt').waitFor();
  }

  const stored = (page, name) => page.evaluate((key) => JSON.parse(localStorage.getItem(key)), `agw.${name}`);

  test('unsent messages of two tabs are both kept', async () => {
    const [first, second] = [await env.thread(), await env.thread()];
    const [one, two] = await openTabs(first.id, second.id);
    env.proxy.down = true;
    env.proxy.cut();
    await sendMessage(one, 'From one');
    await sendMessage(two, 'From two');
    await eventually(async () =>
      assert.deepEqual(
        (await stored(one, 'outbox')).map(({ content }) => content),
        ['From one', 'From two'],
      ),
    );
    await one.close();
    await two.close({ runBeforeUnload: true });
    const { url } = env.proxy;
    env.proxy.down = false;
    const later = await two.context().newPage();
    await later.goto(`${url}/ui/#/t/${first.id}`);
    await answers(later).first().waitFor();
    await eventually(async () =>
      assert.deepEqual(
        [(await env.turns(first.id))[0].content, (await env.turns(second.id))[0].content],
        ['From one', 'From two'],
      ),
    );
  });

  test('an idle tab shows another tab’s draft and does not remove it', async () => {
    const { id } = await env.thread();
    const [one, two] = await openTabs(id);
    await message(one).fill('A long thought');
    await eventually(async () => assert.equal(await message(two).inputValue(), 'A long thought'));
    await message(two).focus();
    await two.getByRole('button', { name: 'Rename', exact: true }).focus();
    await two.close({ runBeforeUnload: true });
    assert.equal(await stored(one, `draft.${id}`), 'A long thought');
  });

  test('a draft sent in one tab does not come back in the other', async () => {
    const { id } = await env.thread();
    const [one, two] = await openTabs(id);
    await message(one).fill('To be sent');
    await eventually(async () => assert.equal(await message(two).inputValue(), 'To be sent'));
    await one.getByRole('button', { name: 'Send' }).click();
    await eventually(async () => assert.equal(await message(two).inputValue(), ''));
    await two.goto('about:blank');
    assert.equal(await stored(one, `draft.${id}`), null);
  });

  test('each of two tabs asks the model that it shows, also to continue', async () => {
    const { id } = await env.thread();
    const [one, two] = await openTabs(id);
    await two.getByRole('button', { name: /^Model: / }).click();
    await two.getByRole('combobox', { name: 'Search models' }).fill('stub/other-9');
    await two.keyboard.press('Enter');
    await two.getByRole('button', { name: 'Model: stub/other-9' }).waitFor();
    await one.getByRole('button', { name: 'Model: stub/talker-1' }).waitFor();
    await env.backend.reply({ text: 'Half an ans', stop: 'length' });
    await sendMessage(one, 'From one');
    await env.backend.reply({ text: 'wer.' });
    await one.getByRole('button', { name: 'Continue' }).click();
    await answers(one).getByText('wer.').waitFor();
    await env.backend.reply({ text: 'By the other.' });
    await sendMessage(two, 'From two');
    await answers(two).getByText('By the other.').waitFor();
    await eventually(async () => {
      const models = (await env.turns(id)).flatMap(({ role, metadata }) =>
        role === 'assistant' ? metadata.model : [],
      );
      assert.deepEqual(models, ['stub/talker-1', 'stub/talker-1', 'stub/other-9']);
    });
  });

  test('after Stop in one tab, a message queued in the other is answered by the model that was asked', async () => {
    const { id } = await env.thread();
    const [one, two] = await openTabs(id);
    const held = await env.backend.hold({ pieces: ['Begun'] });
    await sendMessage(two, 'First');
    await answers(two).getByText('Begun').waitFor();
    await one.getByRole('button', { name: /^Model: / }).click();
    await one.getByRole('combobox', { name: 'Search models' }).fill('stub/other-9');
    await one.keyboard.press('Enter');
    await sendMessage(one, 'Second');
    await two.getByText('Queued').waitFor();
    await one.close();
    await env.backend.reply({ text: 'By the other.' });
    await two.getByRole('button', { name: 'Stop' }).click();
    await answers(two).getByText('By the other.').waitFor();
    await env.backend.release({ held, pieces: [] });
    await eventually(async () => {
      const { metadata } = (await env.turns(id)).at(-1);
      assert.equal(metadata.model, 'stub/other-9');
    });
  });

  test('unsaved changes to souls and extensions appear in the other tab, and neither overwrites the other’s', async () => {
    const definition = { prompt: 'old' };
    await env.api('POST', '/extensions', { type: 'command', name: 'in-two-tabs', description: 'd', definition });
    await env.api('PUT', '/soul', { content: 'Be calm.' });
    for (const [route, name, what] of [
      ['/agents', 'Soul', 'Save soul'],
      ['/extensions/in-two-tabs', /^Prompt/, 'Save'],
    ]) {
      const one = await env.open(route);
      const two = await one.context().newPage();
      await two.goto(one.url());
      const field = (page) => page.getByRole('textbox', { name });
      const shown = (page, text) => eventually(async () => assert.equal(await field(page).inputValue(), text));
      await field(two).waitFor();
      await field(one).fill('Be first.');
      await shown(two, 'Be first.');
      await field(two).press('End');
      await field(two).pressSequentially(' Be second.');
      await shown(one, 'Be first. Be second.');
      await two.close({ runBeforeUnload: true });
      const three = await one.context().newPage();
      await three.goto(one.url());
      await shown(three, 'Be first. Be second.');
      await one.getByRole('button', { name: what, exact: true }).click();
      await three.getByText('You have unsaved changes').waitFor({ state: 'detached' });
      await shown(three, 'Be first. Be second.');
      await field(three).fill('Be nothing.');
      await shown(one, 'Be nothing.');
      await three.reload();
      await three.getByRole('button', { name: 'Discard changes' }).click();
      await shown(one, 'Be first. Be second.');
    }
    assert.equal((await env.api('GET', '/soul')).content, 'Be first. Be second.');
  });

  test('attachments of a draft are restored after a reload', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await attach(page);
    await page.reload();
    await attachments(page).getByText('notes.txt').waitFor();
    await sendMessage(page, 'Read it');
    await page.getByRole('article', { name: 'You' }).getByText('notes.txt').waitFor();
    await page.reload();
    await answers(page).first().waitFor();
    assert.equal(await attachments(page).count(), 0);
  });

  test('a file attached in one tab appears in the other until it is sent', async () => {
    const [one, two] = await openTabs((await env.thread()).id);
    await attach(one);
    await attachments(two).getByText('notes.txt').waitFor();
    await sendMessage(one, 'Read it');
    await attachments(two).waitFor({ state: 'hidden' });
  });

  test('a rejected message can be edited with its files', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await page.getByRole('heading', { level: 1, name: 'New thread' }).waitFor();
    await page.route('**/chat', (route) => route.fulfill({ status: 400, json: { error: 'no' } }));
    await attach(page);
    await sendMessage(page, 'Said badly');
    await page.getByRole('button', { name: 'Edit and resend' }).click();
    assert.equal(await message(page).inputValue(), 'Said badly');
    await attachments(page).getByText('notes.txt').waitFor();
    assert.equal(await page.getByRole('article').count(), 0);
  });

  test('a rejected message that is discarded in one tab does not come back from the other', async () => {
    const first = await env.open(`/t/${(await env.thread()).id}`);
    await first.getByRole('heading', { level: 1, name: 'New thread' }).waitFor();
    await first.route('**/chat', (route) => route.fulfill({ status: 400, json: { error: 'no' } }));
    await sendMessage(first, 'Said badly');
    await first.getByRole('button', { name: 'Discard' }).waitFor();
    const second = await first.context().newPage();
    await second.goto(first.url());
    await second.getByText('Said badly').waitFor();
    await first.getByRole('button', { name: 'Discard' }).click();
    await second.getByText('Said badly').waitFor({ state: 'detached' });
    // The other tab stores its own messages.
    await second.route('**/chat', (route) => route.fulfill({ status: 400, json: { error: 'no' } }));
    await sendMessage(second, 'Said well');
    await second.getByRole('button', { name: 'Discard' }).waitFor();
    assert.deepEqual(
      (await stored(second, 'outbox')).map(({ content }) => content),
      ['Said well'],
    );
  });

  test('a chat deleted elsewhere leaves the list, its view says so, and a message to it is kept', async () => {
    const { id } = await env.thread({ title: 'Deleted elsewhere' });
    const page = await env.open(`/t/${id}`);
    const row = page.getByRole('complementary').getByText('Deleted elsewhere');
    await row.waitFor();
    await env.api('DELETE', `/threads/${id}`);
    await page.getByRole('alert').getByText('This chat does not exist or was deleted.').waitFor();
    await row.waitFor({ state: 'detached' });
    await sendMessage(page, 'Too late');
    await page.getByRole('button', { name: 'Edit and resend' }).click();
    assert.equal(await message(page).inputValue(), 'Too late');
  });

  test('a message after a rejected one is still sent', async () => {
    const { id } = await env.thread();
    const page = await env.open(`/t/${id}`);
    await page.getByRole('heading', { level: 1, name: 'New thread' }).waitFor();
    let answer;
    const held = new Promise((resolve) => (answer = resolve));
    await page.route('**/chat', async (route) => {
      if (route.request().postDataJSON().content !== 'Refused') return route.continue();
      await held;
      return route.fulfill({ status: 400, json: { error: 'no' } });
    });
    await sendMessage(page, 'Refused');
    await sendMessage(page, 'Wanted');
    answer();
    await answers(page).first().waitFor();
    await page.getByRole('button', { name: 'Edit and resend' }).waitFor();
    assert.equal((await env.turns(id))[0].content, 'Wanted');
  });

  test('a message after one that was stored and discarded is sent', async () => {
    const { id } = await env.thread();
    const page = await env.open(`/t/${id}`);
    await page.getByRole('heading', { level: 1, name: 'New thread' }).waitFor();
    await page.route('**/chat', (route) =>
      route.request().postDataJSON().content === 'Given up'
        ? route.fulfill({ status: 408, json: { error: 'too slow' } })
        : route.continue(),
    );
    await sendMessage(page, 'Given up');
    await page.getByText('Saved in this browser').waitFor();
    await sendMessage(page, 'Wanted');
    await page.getByRole('button', { name: 'Discard' }).first().click();
    await answers(page).first().waitFor();
    assert.equal((await env.turns(id))[0].content, 'Wanted');
  });

  test('messages queued after an unsent one are kept and reported', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await page.getByRole('heading', { level: 1, name: 'New thread' }).waitFor();
    env.proxy.down = true;
    env.proxy.cut();
    await sendMessage(page, 'First');
    await sendMessage(page, 'Second');
    await eventually(async () => assert.equal(await page.getByText('Saved in this browser').count(), 2));
    env.proxy.down = false;
    await eventually(async () => assert.equal(await page.getByText(/Saved in this browser|Sending…/).count(), 0));
  });

  test('a page served over plain HTTP, without crypto.randomUUID, can send', async () => {
    const page = await env.open('/chats');
    await page.addInitScript(() => delete Crypto.prototype.randomUUID);
    await page.goto(`${env.proxy.url}/ui/?plain#/t/${(await env.thread()).id}`);
    await sendMessage(page, 'From a phone');
    await answers(page).first().waitFor();
  });

  /** Opens a page and sends a message whose file is still uploading; `finishUpload` lets the upload finish. */
  async function sendWithFile(id) {
    const page = await env.open(`/t/${id}`);
    let finishUpload;
    const uploadAllowed = new Promise((done) => (finishUpload = done));
    await page.route('**/files?*', async (route) => {
      await uploadAllowed;
      await route.continue();
    });
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    await sendMessage(page, 'Read it');
    await page.getByText('Uploading 1 file; the message will be sent afterwards').waitFor();
    return { page, finishUpload };
  }

  test('a message sent during an upload waits for it', async () => {
    const { id } = await env.thread();
    const { page, finishUpload } = await sendWithFile(id);
    finishUpload();
    await page.getByRole('article', { name: 'You' }).getByText('notes.txt').waitFor();
    // The page shows the message before the gateway has it.
    await eventually(async () => {
      const [turn] = await env.turns(id);
      assert.deepEqual(
        turn?.metadata.attachments.map(({ name }) => name),
        ['notes.txt'],
      );
    });
  });

  test('a message that waited for its file does not take the focus when it is sent', async () => {
    const { page, finishUpload } = await sendWithFile((await env.thread()).id);
    const search = page.getByRole('searchbox', { name: 'Search' });
    await search.focus();
    finishUpload();
    await page.getByRole('article', { name: 'You' }).getByText('notes.txt').waitFor();
    await page.keyboard.type('thread');
    assert.equal(await search.inputValue(), 'thread');
  });

  test('a message edited during an upload is not sent', async () => {
    const { id } = await env.thread();
    const { page, finishUpload } = await sendWithFile(id);
    await page.keyboard.type(' twice');
    await page.getByText('will be sent afterwards').waitFor({ state: 'hidden' });
    finishUpload();
    await attachments(page).getByText('notes.txt').waitFor();
    assert.equal(await message(page).inputValue(), 'Read it twice');
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: 'You' }).getByText('notes.txt').waitFor();
    await eventually(async () => assert.equal((await env.turns(id))[0]?.content, 'Read it twice'));
  });

  for (const when of ['before', 'after']) {
    test(`a message whose chat is left during an upload that ends ${when} the return is kept there with its file`, async () => {
      const other = await env.thread({ title: 'Elsewhere' });
      const { id } = await env.thread();
      const { page, finishUpload } = await sendWithFile(id);
      const go = (route) => page.evaluate((hash) => (location.hash = hash), `#/t/${route}`);
      await go(other.id);
      await page.getByText('The message was not sent because a file was still uploading').waitFor();
      if (when === 'before') {
        finishUpload();
        await eventually(async () => assert.equal((await stored(page, `draft.${id}.files`))?.length, 1));
      }
      await go(id);
      await eventually(async () => assert.equal(await message(page).inputValue(), 'Read it'));
      finishUpload();
      await attachments(page).getByText('notes.txt').waitFor();
      assert.deepEqual(await env.turns(id), []);
    });
  }

  test('a cancelled upload is not reported when it fails', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    let fail;
    const failing = new Promise((done) => (fail = done));
    await page.route('**/files?*', async (route) => {
      await failing;
      await route.abort();
    });
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    await page.getByRole('button', { name: 'Cancel upload' }).click();
    const failed = page.waitForEvent('requestfailed');
    fail();
    await failed;
    await page.evaluate(() => new Promise((settled) => setTimeout(settled)));
    assert.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0);
  });

  test('files are uploaded one at a time, in the order in which they were chosen', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    let under = 0;
    let most = 0;
    await page.route('**/files?*', async (route) => {
      most = Math.max(most, ++under);
      const response = await route.fetch();
      under--;
      await route.fulfill({ response });
    });
    const names = ['c.txt', 'a.txt', 'b.txt'];
    await page
      .locator('input[type=file]')
      .setInputFiles(names.map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) })));
    const rows = attachments(page).getByRole('listitem');
    await eventually(async () =>
      assert.deepEqual(
        (await rows.allInnerTexts()).map((text) => text.trim().slice(0, 5)),
        names,
      ),
    );
    assert.equal(most, 1);
  });

  test('a file name with quotes and line breaks can be attached', async () => {
    const page = await env.open('/new');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'say "a\nb".txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    await attachments(page).getByText('say "a b".txt').waitFor();
  });

  test('a failed upload is named and can be retried', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await page.route('**/files?*', (route) => route.abort(), { times: 1 });
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    await page.getByText('notes.txt: The gateway could not be reached.').waitFor();
    await page.getByRole('button', { name: 'Retry' }).click();
    await attachments(page).getByText('notes.txt').waitFor();
  });

  test('a removed file can be chosen again', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await attach(page);
    await page.getByRole('button', { name: 'Remove notes.txt' }).click();
    assert.equal(await page.locator('input[type=file]').evaluate(({ files }) => files.length), 0);
  });

  test('an answer read in one tab is not new in the other, nor counted after its chat is deleted', async () => {
    const { id } = await env.thread({ title: 'Read elsewhere' });
    const other = await env.thread({ title: 'Gone by then' });
    const one = await env.open('/chats');
    const two = await one.context().newPage();
    await two.goto(`${env.proxy.url}/ui/#/chats`);
    for (const page of [one, two]) await page.getByRole('link', { name: /Read elsewhere/ }).waitFor();
    for (const threadId of [id, other.id]) await env.api('POST', '/chat', { threadId, content: 'Hello' });
    for (const page of [one, two]) {
      for (const name of [/Read elsewhere.*new answer/, /Gone by then.*new answer/])
        await page.getByRole('link', { name }).waitFor();
    }
    await one.getByRole('link', { name: /Read elsewhere/ }).click();
    await eventually(async () =>
      assert.equal(await two.getByRole('link', { name: /Read elsewhere.*new answer/ }).count(), 0),
    );
    await two.getByRole('link', { name: /Gone by then.*new answer/ }).waitFor();
    assert.match(await two.title(), /^\(1\) /);
    await env.api('DELETE', `/threads/${other.id}`);
    await two.reload();
    await two.getByRole('link', { name: /Read elsewhere/ }).waitFor();
    assert.doesNotMatch(await two.title(), /^\(/);
  });

  test('a failed run counts although its chat is archived, and is dismissed in all tabs', async () => {
    for (const name of ['fails-first', 'fails-too']) {
      await env.api('POST', '/extensions', {
        type: 'job',
        name,
        description: 'Fails',
        enabled: true,
        definition: { agent_id: 'assistant', prompt: 'Try.' },
      });
      await env.backend.fail({ status: 401 });
      const { threadId } = await env.api('POST', `/run/${name}`);
      await eventually(async () => assert.equal((await env.api('GET', `/jobs/${name}/runs`))[0].status, 'failed'));
      await env.api('PATCH', `/threads/${threadId}`, { archived: true });
    }
    const one = await env.open('/chats');
    await eventually(async () => assert.match(await one.title(), /^\(2\) Chats/));
    const two = await one.context().newPage();
    for (const page of [one, two]) await page.goto(`${env.proxy.url}/ui/#/inbox`);
    const card = (page, name) => page.getByRole('region', { name: `${name} failed` });
    for (const page of [one, two]) await card(page, 'fails-too').waitFor();
    await card(one, 'fails-first').getByRole('button', { name: 'Dismiss' }).click();
    await card(two, 'fails-first').waitFor({ state: 'hidden' });
    await card(two, 'fails-too').getByRole('button', { name: 'Dismiss' }).click();
    await card(one, 'fails-too').waitFor({ state: 'hidden' });
    assert.equal((await stored(one, 'aside')).length, 2);
  });

  test('a theme chosen in one tab applies to the other', async () => {
    const one = await env.open('/system');
    const two = await one.context().newPage();
    await two.goto(`${env.proxy.url}/ui/#/system`);
    await two.getByRole('radio', { name: 'System theme', checked: true }).waitFor();
    await two.evaluate(() => {
      window.written = [];
      Storage.prototype.setItem = (name) => window.written.push(name);
    });
    await one.getByRole('radio', { name: 'Dark' }).check();
    await two.getByRole('radio', { name: 'Dark', checked: true }).waitFor();
    assert.equal(await two.evaluate(() => getComputedStyle(document.body).color), 'rgb(232, 234, 238)');
    assert.deepEqual(await two.evaluate(() => window.written.filter((name) => name === 'agw.theme')), []);
  });
}
