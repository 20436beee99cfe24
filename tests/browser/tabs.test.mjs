import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, message, missing, say, withStage } from './stage.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const it = withStage();

  /** Two tabs of one browser, each at a chat. */
  async function tabs(first, second = first) {
    const one = await it.open(`/t/${first}`);
    const two = await one.context().newPage();
    await two.goto(`${it.line.url}/ui/#/t/${second}`);
    for (const page of [one, two]) await page.getByRole('heading', { level: 1, name: 'New thread' }).waitFor();
    return [one, two];
  }

  const attachments = (page) => page.getByRole('list', { name: 'Attachments' });

  async function attach(page) {
    await page.locator('input[type=file]').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    await attachments(page).getByText('notes.txt').waitFor();
  }

  const kept = (page, name) => page.evaluate((key) => JSON.parse(localStorage.getItem(key)), `agw.${name}`);

  test('what two tabs have to send is kept beside each other', async () => {
    const [first, second] = [await it.thread(), await it.thread()];
    const [one, two] = await tabs(first.id, second.id);
    it.line.down = true;
    it.line.cut();
    await say(one, 'From one');
    await say(two, 'From two');
    await eventually(async () => assert.deepEqual((await kept(one, 'outbox')).map(({ content }) => content), ['From one', 'From two']));
    await one.close();
    await two.close({ runBeforeUnload: true });
    const { url } = it.line;
    it.line.down = false;
    const later = await two.context().newPage();
    await later.goto(`${url}/ui/#/t/${first.id}`);
    await answers(later).first().waitFor();
    await eventually(async () => assert.deepEqual([(await it.turns(first.id))[0].content, (await it.turns(second.id))[0].content], ['From one', 'From two']));
  });

  test('a tab that only looks does not take another tab’s draft away, and shows it', async () => {
    const { id } = await it.thread();
    const [one, two] = await tabs(id);
    await message(one).fill('A long thought');
    await eventually(async () => assert.equal(await message(two).inputValue(), 'A long thought'));
    await message(two).focus();
    await two.getByRole('button', { name: 'Rename', exact: true }).focus();
    await two.close({ runBeforeUnload: true });
    assert.equal(await kept(one, `draft.${id}`), 'A long thought');
  });

  test('a draft that one tab has sent does not come back from the other', async () => {
    const { id } = await it.thread();
    const [one, two] = await tabs(id);
    await message(one).fill('To be sent');
    await eventually(async () => assert.equal(await message(two).inputValue(), 'To be sent'));
    await one.getByRole('button', { name: 'Send' }).click();
    await eventually(async () => assert.equal(await message(two).inputValue(), ''));
    await two.goto('about:blank');
    assert.equal(await kept(one, `draft.${id}`), null);
  });

  test('attachments of a draft are there again after a reload', async () => {
    const page = await it.open(`/t/${(await it.thread()).id}`);
    await attach(page);
    await page.reload();
    await attachments(page).getByText('notes.txt').waitFor();
    await say(page, 'Read it');
    await page.getByRole('article', { name: 'You' }).getByText('notes.txt').waitFor();
    await page.reload();
    await answers(page).first().waitFor();
    assert.equal(await attachments(page).count(), 0);
  });

  test('a file that one tab has attached is the other’s too, until it is sent', async () => {
    const [one, two] = await tabs((await it.thread()).id);
    await attach(one);
    await attachments(two).getByText('notes.txt').waitFor();
    await say(one, 'Read it');
    await attachments(two).waitFor({ state: 'hidden' });
  });

  test('a message that is refused can be written anew, with its files', async () => {
    const page = await it.open(`/t/${(await it.thread()).id}`);
    await page.getByRole('heading', { level: 1, name: 'New thread' }).waitFor();
    await page.route('**/chat', (route) => route.fulfill({ status: 400, json: { error: 'no' } }));
    await attach(page);
    await say(page, 'Said badly');
    await page.getByRole('button', { name: 'Write it anew' }).click();
    assert.equal(await message(page).inputValue(), 'Said badly');
    await attachments(page).getByText('notes.txt').waitFor();
    assert.equal(await page.getByRole('article').count(), 0);
  });

  test('a message to a chat that was deleted elsewhere says so, and its words are kept', async () => {
    const { id } = await it.thread({ title: 'Deleted elsewhere' });
    const page = await it.open(`/t/${id}`);
    const row = page.getByRole('complementary').getByText('Deleted elsewhere');
    await row.waitFor();
    await it.api('DELETE', `/threads/${id}`);
    await say(page, 'Too late');
    await page.getByRole('alert').getByText('This chat does not exist, or was deleted.').waitFor();
    await row.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Write it anew' }).click();
    assert.equal(await message(page).inputValue(), 'Too late');
  });

  test('a message behind one that is refused is sent all the same', async () => {
    const { id } = await it.thread();
    const page = await it.open(`/t/${id}`);
    await page.getByRole('heading', { level: 1, name: 'New thread' }).waitFor();
    let answer;
    const held = new Promise((resolve) => (answer = resolve));
    await page.route('**/chat', async (route) => {
      if (route.request().postDataJSON().content !== 'Refused') return route.continue();
      await held;
      return route.fulfill({ status: 400, json: { error: 'no' } });
    });
    await say(page, 'Refused');
    await say(page, 'Wanted');
    answer();
    await answers(page).first().waitFor();
    await page.getByRole('button', { name: 'Write it anew' }).waitFor();
    assert.equal((await it.turns(id))[0].content, 'Wanted');
  });

  test('a message behind one that was kept and is given up is sent', async () => {
    const { id } = await it.thread();
    const page = await it.open(`/t/${id}`);
    await page.getByRole('heading', { level: 1, name: 'New thread' }).waitFor();
    await page.route('**/chat', (route) =>
      route.request().postDataJSON().content === 'Given up' ? route.fulfill({ status: 408, json: { error: 'too slow' } }) : route.continue());
    await say(page, 'Given up');
    await page.getByText('Kept here; it is sent as soon as').waitFor();
    await say(page, 'Wanted');
    await page.getByRole('button', { name: 'Discard' }).first().click();
    await answers(page).first().waitFor();
    assert.equal((await it.turns(id))[0].content, 'Wanted');
  });

  test('what waits behind a message that is kept is kept too, and says so', async () => {
    const page = await it.open(`/t/${(await it.thread()).id}`);
    await page.getByRole('heading', { level: 1, name: 'New thread' }).waitFor();
    it.line.down = true;
    it.line.cut();
    await say(page, 'First');
    await say(page, 'Second');
    await eventually(async () => assert.equal(await page.getByText('Kept here; it is sent as soon as').count(), 2));
    it.line.down = false;
    await eventually(async () => assert.equal(await page.getByText(/Kept here|Sending…/).count(), 0));
  });

  test('a page that came over plain HTTP, where browsers make no identifiers, can send', async () => {
    const page = await it.open('/chats');
    await page.addInitScript(() => delete Crypto.prototype.randomUUID);
    await page.goto(`${it.line.url}/ui/?plain#/t/${(await it.thread()).id}`);
    await say(page, 'From a phone');
    await answers(page).first().waitFor();
  });

  /** A page where a message was sent while its file was on the way, and what lets the file arrive. */
  async function sendsWithFile(id) {
    const page = await it.open(`/t/${id}`);
    let arrive;
    const arrived = new Promise((done) => (arrive = done));
    await page.route('**/files?*', async (route) => {
      await arrived;
      await route.continue();
    });
    await page.locator('input[type=file]').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    await say(page, 'Read it');
    await page.getByText('1 file on the way; then it is sent').waitFor();
    return { page, arrive };
  }

  test('a message that is sent while its file is on the way waits for it', async () => {
    const { id } = await it.thread();
    const { page, arrive } = await sendsWithFile(id);
    arrive();
    await page.getByRole('article', { name: 'You' }).getByText('notes.txt').waitFor();
    assert.deepEqual((await it.turns(id))[0].metadata.attachments.map(({ name }) => name), ['notes.txt']);
  });

  test('a message that waits for its file does not take the keyboard when it is sent', async () => {
    const { page, arrive } = await sendsWithFile((await it.thread()).id);
    const search = page.getByRole('searchbox', { name: 'Search' });
    await search.focus();
    arrive();
    await page.getByRole('article', { name: 'You' }).getByText('notes.txt').waitFor();
    await page.keyboard.type('thread');
    assert.equal(await search.inputValue(), 'thread');
  });

  test('a message that is written on while its file is on the way is not sent', async () => {
    const { id } = await it.thread();
    const { page, arrive } = await sendsWithFile(id);
    await page.keyboard.type(' twice');
    await page.getByText('then it is sent').waitFor({ state: 'hidden' });
    arrive();
    await attachments(page).getByText('notes.txt').waitFor();
    assert.equal(await message(page).inputValue(), 'Read it twice');
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: 'You' }).getByText('notes.txt').waitFor();
    assert.equal((await it.turns(id))[0].content, 'Read it twice');
  });

  for (const when of ['before', 'after']) {
    test(`a message whose chat is left while its file is on the way, which arrives ${when} the return, waits there with it`, async () => {
      const other = await it.thread({ title: 'Elsewhere' });
      const { id } = await it.thread();
      const { page, arrive } = await sendsWithFile(id);
      const go = (place) => page.evaluate((hash) => (location.hash = hash), `#/t/${place}`);
      await go(other.id);
      await page.getByText('The message was not sent: a file was still on the way').waitFor();
      if (when === 'before') {
        arrive();
        await eventually(async () => assert.equal((await kept(page, `draft.${id}.files`))?.length, 1));
      }
      await go(id);
      await eventually(async () => assert.equal(await message(page).inputValue(), 'Read it'));
      arrive();
      await attachments(page).getByText('notes.txt').waitFor();
      assert.deepEqual(await it.turns(id), []);
    });
  }

  test('a file that is left out while it is on the way is not spoken of when it fails', async () => {
    const page = await it.open(`/t/${(await it.thread()).id}`);
    let fail;
    const failing = new Promise((done) => (fail = done));
    await page.route('**/files?*', async (route) => {
      await failing;
      await route.abort();
    });
    await page.locator('input[type=file]').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    await page.getByRole('button', { name: 'Leave out what is on the way' }).click();
    const failed = page.waitForEvent('requestfailed');
    fail();
    await failed;
    await page.evaluate(() => new Promise((settled) => setTimeout(settled)));
    assert.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0);
  });

  test('files are brought one after the other, in the order in which they were chosen', async () => {
    const page = await it.open(`/t/${(await it.thread()).id}`);
    let under = 0;
    let most = 0;
    await page.route('**/files?*', async (route) => {
      most = Math.max(most, ++under);
      const response = await route.fetch();
      under--;
      await route.fulfill({ response });
    });
    const names = ['c.txt', 'a.txt', 'b.txt'];
    await page.locator('input[type=file]').setInputFiles(names.map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) })));
    const rows = attachments(page).getByRole('listitem');
    await eventually(async () => assert.deepEqual((await rows.allInnerTexts()).map((text) => text.trim().slice(0, 5)), names));
    assert.equal(most, 1);
  });

  test('a file whose name has quotes and line ends can be attached', async () => {
    const page = await it.open('/new');
    await page.locator('input[type=file]').setInputFiles({ name: 'say "a\nb".txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    await attachments(page).getByText('say "a b".txt').waitFor();
  });

  test('a file that failed is named, and brought by Retry', async () => {
    const page = await it.open(`/t/${(await it.thread()).id}`);
    await page.route('**/files?*', (route) => route.abort(), { times: 1 });
    await page.locator('input[type=file]').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('x') });
    await page.getByText('notes.txt: The gateway could not be reached.').waitFor();
    await page.getByRole('button', { name: 'Retry' }).click();
    await attachments(page).getByText('notes.txt').waitFor();
  });

  test('a file that was taken off a message can be chosen again', async () => {
    const page = await it.open(`/t/${(await it.thread()).id}`);
    await attach(page);
    await page.getByRole('button', { name: 'Remove notes.txt' }).click();
    assert.equal(await page.locator('input[type=file]').evaluate(({ files }) => files.length), 0);
  });

  test('an answer that was read in one tab is not new in the other, nor counted once its chat is gone', async () => {
    const { id } = await it.thread({ title: 'Read elsewhere' });
    const other = await it.thread({ title: 'Gone by then' });
    const one = await it.open('/chats');
    const two = await one.context().newPage();
    await two.goto(`${it.line.url}/ui/#/chats`);
    for (const page of [one, two]) await page.getByRole('link', { name: /Read elsewhere/ }).waitFor();
    for (const threadId of [id, other.id]) await it.api('POST', '/chat', { threadId, content: 'Hello' });
    for (const page of [one, two]) {
      for (const name of [/Read elsewhere.*new answer/, /Gone by then.*new answer/]) await page.getByRole('link', { name }).waitFor();
    }
    await one.getByRole('link', { name: /Read elsewhere/ }).click();
    await eventually(async () => assert.equal(await two.getByRole('link', { name: /Read elsewhere.*new answer/ }).count(), 0));
    await two.getByRole('link', { name: /Gone by then.*new answer/ }).waitFor();
    assert.match(await two.title(), /^\(1\) /);
    await it.api('DELETE', `/threads/${other.id}`);
    await two.reload();
    await two.getByRole('link', { name: /Read elsewhere/ }).waitFor();
    assert.doesNotMatch(await two.title(), /^\(/);
  });

  test('a failed run counts although its chat is archived, and is put aside for all tabs', async () => {
    for (const name of ['fails-first', 'fails-too']) {
      await it.api('POST', '/extensions', { type: 'job', name, description: 'Fails', enabled: true, definition: { agent_id: 'assistant', prompt: 'Try.' } });
      await it.stage.fail({ status: 401 });
      const { threadId } = await it.api('POST', `/run/${name}`);
      await eventually(async () => assert.equal((await it.api('GET', `/jobs/${name}/runs`))[0].status, 'failed'));
      await it.api('PATCH', `/threads/${threadId}`, { archived: true });
    }
    const one = await it.open('/chats');
    await eventually(async () => assert.match(await one.title(), /^\(2\) Chats/));
    const two = await one.context().newPage();
    for (const page of [one, two]) await page.goto(`${it.line.url}/ui/#/inbox`);
    const card = (page, name) => page.getByRole('region', { name: `${name} failed` });
    for (const page of [one, two]) await card(page, 'fails-too').waitFor();
    await card(one, 'fails-first').getByRole('button', { name: 'Put aside' }).click();
    await card(two, 'fails-first').waitFor({ state: 'hidden' });
    await card(two, 'fails-too').getByRole('button', { name: 'Put aside' }).click();
    await card(one, 'fails-too').waitFor({ state: 'hidden' });
    assert.equal((await kept(one, 'aside')).length, 2);
  });

  test('the look that one tab chooses is the other’s too', async () => {
    const one = await it.open('/system');
    const two = await one.context().newPage();
    await two.goto(`${it.line.url}/ui/#/system`);
    await two.getByRole('radio', { name: 'As the system', checked: true }).waitFor();
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
