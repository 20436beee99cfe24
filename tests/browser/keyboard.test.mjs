import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, holds, missing, say, withStage } from './stage.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const it = withStage();

  /** What has the keyboard, in a word. */
  const held = (page) => page.evaluate(() => {
    const { activeElement: at } = document;
    return at === document.body ? 'nothing' : (at.ariaLabel ?? at.labels?.[0]?.textContent.trim() ?? at.textContent.trim());
  });
  const heldBecomes = (page, what) => eventually(async () => assert.equal(await held(page), what));

  const reads = (page) => page.getByRole('button', { name: 'Read from disk' });
  const dismiss = (page) => page.getByRole('button', { name: 'Dismiss' });

  /** A page with two notes at its foot, the keyboard at what brought them. */
  async function noted() {
    const page = await it.open('/system');
    let asked = 0;
    await page.route('**/reseed', (route) => route.fulfill({ status: 400, json: { error: `no ${++asked}` } }));
    for (const count of [1, 2]) {
      await reads(page).press('Enter');
      await eventually(async () => assert.equal(await dismiss(page).count(), count));
    }
    return page;
  }

  test('who dismisses a note by keys goes on at the next one, and behind the last where they were', async () => {
    const page = await noted();
    await dismiss(page).first().press('Enter');
    await eventually(async () => assert.equal(await dismiss(page).count(), 1));
    await heldBecomes(page, 'Dismiss');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await dismiss(page).count(), 0));
    await heldBecomes(page, 'Read from disk');
  });

  test('who takes up what a note offers goes on where they were', async () => {
    const page = await noted();
    await dismiss(page).first().press('Enter');
    await eventually(async () => assert.equal(await dismiss(page).count(), 1));
    await page.getByRole('button', { name: 'Retry' }).press('Enter');
    await heldBecomes(page, 'Read from disk');
  });

  test('a note that says the same again stands for both, and what it offers is done once', async () => {
    const page = await it.open('/system');
    let asked = 0;
    await page.route('**/reseed', (route) => (asked++, route.fulfill({ status: 400, json: { error: 'no' } })));
    for (const count of [1, 2, 3]) {
      const answered = page.waitForResponse('**/reseed');
      await reads(page).press('Enter');
      await answered;
      await eventually(async () => assert.equal(asked, count));
    }
    await page.evaluate(() => new Promise((settled) => setTimeout(settled)));
    assert.equal(await dismiss(page).count(), 1);
    await page.getByRole('button', { name: 'Retry' }).press('Enter');
    await eventually(async () => assert.equal(asked, 4));
    await eventually(async () => assert.equal(await dismiss(page).count(), 1));
  });

  test('files of one name that fail are each offered again', async () => {
    const page = await it.open('/new');
    await page.route('**/files?*', (route) => route.abort(), { times: 2 });
    const pasted = { name: 'image.png', mimeType: 'image/png', buffer: Buffer.from('x') };
    await page.locator('input[type=file]').setInputFiles([pasted, { ...pasted, buffer: Buffer.from('xy') }]);
    const again = page.getByRole('button', { name: 'Retry' });
    await eventually(async () => assert.equal(await again.count(), 2));
    await again.first().click();
    await again.click();
    await eventually(async () => assert.equal(await page.getByRole('button', { name: 'Remove image.png' }).count(), 2));
  });

  test('a note goes by itself, but not while somebody is at it', async () => {
    const page = await it.open('/system');
    await page.clock.install();
    await page.route('**/reseed', (route) => route.fulfill({ status: 400, json: { error: 'no' } }));
    await reads(page).press('Enter');
    await dismiss(page).focus();
    await page.clock.runFor(20_000);
    assert.equal(await dismiss(page).count(), 1);
    await reads(page).focus();
    await page.clock.runFor(8_000);
    await eventually(async () => assert.equal(await dismiss(page).count(), 0));
  });

  test('a turn that was deleted can be brought back as long as its note is there, and is gone with it', async () => {
    const id = await it.threadWith({ role: 'user', content: 'Asked' }, { role: 'assistant', content: 'Answered' });
    const page = await it.open(`/t/${id}`);
    await page.getByRole('button', { name: 'Delete answer' }).waitFor();
    await page.clock.install();
    await page.getByRole('button', { name: 'Delete answer' }).press('Enter');
    await page.getByRole('button', { name: 'Undo' }).focus();
    await page.clock.runFor(20_000);
    assert.equal((await it.turns(id)).length, 2);
    await dismiss(page).press('Enter');
    await eventually(async () => assert.equal((await it.turns(id)).length, 1));
  });

  /** From now on no note goes by itself. */
  async function stopClock(page) {
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
  }

  test('what a note offers can be seen, reached, heard and taken up while a dialog is open', async () => {
    const id = await it.threadWith({ role: 'user', content: 'Asked' }, { role: 'assistant', content: 'Answered' });
    const page = await it.open(`/t/${id}`);
    await page.getByRole('button', { name: 'Delete answer' }).waitFor();
    await stopClock(page);
    await page.getByRole('button', { name: 'Delete answer' }).press('Enter');
    await page.keyboard.press('Control+k');
    await palette(page).waitFor();
    const undo = page.getByRole('dialog').getByRole('status').getByRole('button', { name: 'Undo' });
    await undo.click({ trial: true });
    await undo.press('Enter');
    await heldBecomes(page, 'Go to or do');
    await page.keyboard.press('Escape');
    await page.getByRole('article', { name: 'Assistant' }).waitFor();
    assert.equal((await it.turns(id)).length, 2);
  });

  test('a note that comes while a dialog is open can be reached in it, and behind it', async () => {
    const page = await it.open('/system');
    await reads(page).waitFor();
    await stopClock(page);
    let fail;
    await page.route('**/reseed', (route) => (fail = () => route.fulfill({ status: 400, json: { error: 'no' } })));
    await reads(page).press('Enter');
    await eventually(() => assert.ok(fail));
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keys' });
    await dialog.waitFor();
    await fail();
    await dialog.getByRole('status').getByRole('button', { name: 'Dismiss' }).focus();
    await page.keyboard.press('Escape');
    await heldBecomes(page, 'Read from disk');
    await dismiss(page).press('Enter');
    await eventually(async () => assert.equal(await dismiss(page).count(), 0));
  });

  const button = (page, name) => page.getByRole('button', { name, exact: true });
  const command = (name) => it.api('POST', '/extensions', { type: 'command', name, description: 'd', enabled: true, definition: { prompt: 'p' } });

  test('what is saved or switched by keys keeps the keyboard while that is done', async () => {
    await command('kept');
    const page = await it.open('/extensions/kept');
    await page.getByRole('switch').press('Space');
    await page.getByText('disabled', { exact: true }).waitFor();
    assert.match(await held(page), /^Enabled: kept/);
    await page.getByRole('textbox', { name: /Prompt/ }).fill('new');
    await button(page, 'Save').press('Enter');
    await page.getByText('Saved.').waitFor();
    assert.equal(await held(page), 'Save');
    await page.evaluate(() => (location.hash = '#/agents'));
    await page.getByRole('textbox', { name: 'Soul' }).fill('Be calm.');
    await button(page, 'Save soul').press('Enter');
    await page.getByText('Saved. It counts').waitFor();
    await eventually(async () => assert.ok(await button(page, 'Save soul').isDisabled()));
    assert.equal(await held(page), 'Save soul');
    await page.evaluate(() => (location.hash = '#/agents/assistant'));
    await page.getByRole('combobox', { name: 'Change to' }).selectOption('trusted');
    await page.getByRole('textbox', { name: 'Because' }).fill('it is good');
    await button(page, 'Change stage').press('Enter');
    await page.getByText('It is trusted').waitFor();
    assert.equal(await held(page), 'Change stage');
  });

  test('a soul is not saved where nothing is written, nor one that is too long', async () => {
    const page = await it.open('/agents');
    const asked = [];
    page.on('request', (request) => request.url().endsWith('/soul') && asked.push(request.method()));
    const soul = page.getByRole('textbox', { name: 'Soul' });
    await soul.waitFor();
    await button(page, 'Save soul').press('Enter');
    await soul.fill('x'.repeat(102_401));
    await button(page, 'Save soul').press('Enter');
    await soul.fill('Short.');
    await button(page, 'Save soul').press('Enter');
    await page.getByText('Saved. It counts').waitFor();
    assert.equal(asked.filter((method) => method === 'PUT').length, 1);
    assert.equal((await it.api('GET', '/soul')).content, 'Short.');
  });

  test('who discards what was written before goes on in its field', async () => {
    const { page, soul } = await it.openSoul('');
    await soul.fill('half a thought');
    await page.reload();
    await button(page, 'Discard it').press('Enter');
    await heldBecomes(page, 'Soul');
    assert.equal(await soul.inputValue(), '');
  });

  test('who takes a chat out of the archive by keys goes on at it', async () => {
    const { id } = await it.thread({ title: 'Put away' });
    await it.api('PATCH', `/threads/${id}`, { archived: true });
    const page = await it.open('/chats?archived=true');
    await button(page, 'Take Put away out of the archive').press('Enter');
    await eventually(async () => assert.match(await held(page), /^Put away/));
  });

  test('who edits a project by keys begins at its name, and goes on at where they began', async () => {
    await it.stage.write({ path: 'by-keys/inner/readme', text: '' });
    const { id } = await it.api('POST', '/projects', { name: 'By keys', path: `${it.home}/by-keys` });
    const page = await it.open('/projects');
    await button(page, 'Edit').press('Enter');
    await page.keyboard.type('One');
    await eventually(async () => assert.equal(await page.getByRole('textbox', { name: 'Name' }).first().inputValue(), 'By keysOne'));
    await button(page, 'Cancel').press('Enter');
    await heldBecomes(page, 'Edit');
    await page.keyboard.press('Enter');
    await page.keyboard.type(' still');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'By keys still' }).waitFor();
    await heldBecomes(page, 'Edit');
    await button(page, 'Choose among my directories').press('Enter');
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.closest('ul')?.tagName), 'UL'));
    await button(page, 'by-keys').press('Enter');
    await heldBecomes(page, '..');
    await it.api('DELETE', `/projects/${id}`);
  });

  test('who puts a failed run aside by keys, or tries again what could not be read, goes on at the heading', async () => {
    await it.api('POST', '/extensions', { type: 'job', name: 'fails', description: 'Fails', enabled: true, definition: { agent_id: 'assistant', prompt: 'Try.' } });
    await it.stage.fail({ status: 401 });
    await it.api('POST', '/run/fails');
    await eventually(async () => assert.equal((await it.api('GET', '/jobs/fails/runs'))[0].status, 'failed'));
    const page = await it.open('/inbox');
    await button(page, 'Put aside').press('Enter');
    await heldBecomes(page, 'Inbox');
    await page.route('**/costs?**', (route) => route.fulfill({ status: 400, json: { error: 'no' } }));
    await page.evaluate(() => (location.hash = '#/costs'));
    await button(page, 'Retry').waitFor();
    await page.unroute('**/costs?**');
    await button(page, 'Retry').press('Enter');
    await heldBecomes(page, 'Costs');
  });

  const files = (...names) => names.map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) }));

  test('who leaves out a file by keys goes on at the next one, and behind the last where more are attached', async () => {
    const page = await it.open('/new');
    const picker = page.locator('input[type=file]');
    await picker.setInputFiles(files('a.txt', 'b.txt', 'c.txt'));
    await button(page, 'Remove c.txt').waitFor();
    await button(page, 'Remove b.txt').press('Enter');
    await heldBecomes(page, 'Remove c.txt');
    await page.keyboard.press('Enter');
    await heldBecomes(page, 'Attach files');
    const release = await holds(page, 'POST', '**/files?**');
    await picker.setInputFiles(files('late.txt'));
    await button(page, 'Leave out what is on the way').press('Enter');
    await heldBecomes(page, 'Attach files');
    release();
  });

  test('who comments on a line by keys goes on at it, and who takes the comments back at the next one, then at Edit', async () => {
    const head = '---\ntitle: T\ntype: knowledge\nagent: assistant\ntarget: knowledge/wiki/t.md\nstatus: pending\ncreated_at: 2026-01-02T03:04:05.678Z\nreason: r\n---\n';
    await it.stage.write({ path: '.agent-gateway/autoresearch/proposals/assistant/2026-01-02/by-keys.md', text: `${head}# One\n\nThree\n` });
    const page = await it.open('/inbox/assistant/2026-01-02/by-keys');
    for (const line of [1, 3]) {
      await button(page, `Comment on line ${line}`).press('Enter');
      await page.keyboard.type('Why?');
      await page.keyboard.press('Enter');
      await heldBecomes(page, `Comment on line ${line}`);
    }
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await heldBecomes(page, 'Comment on line 3');
    await page.keyboard.press('Enter');
    await button(page, 'Cancel').press('Enter');
    await heldBecomes(page, 'Comment on line 3');
    await button(page, 'Remove comment 2').press('Enter');
    await heldBecomes(page, 'Remove comment 1');
    await page.keyboard.press('Enter');
    await heldBecomes(page, 'Edit');
    await it.api('POST', '/proposals/assistant/2026-01-02/by-keys/reject', {});
  });

  test('who has the gateway tried again by keys goes on at the heading, on a phone too', async () => {
    const { id } = await it.thread({ title: 'Cut off' });
    for (const viewport of [{ width: 1280, height: 800 }, { width: 360, height: 740 }]) {
      const page = await it.open(`/t/${id}`, { viewport });
      await page.getByRole('heading', { level: 1, name: 'Cut off' }).waitFor();
      it.line.down = true;
      it.line.cut();
      await button(page, 'Retry now').focus();
      it.line.down = false;
      // It may be back by itself by now.
      await page.keyboard.press('Enter');
      await heldBecomes(page, 'Cut off');
      await page.close();
    }
  });

  test('who stops a run by keys goes on at its output, who stops an answer at the message', async () => {
    await it.api('POST', '/extensions', { type: 'job', name: 'stands', description: 'Stands', enabled: true, definition: { agent_id: 'assistant', prompt: 'Stand.' } });
    for (const [place, start] of [['/jobs/stands', () => it.api('POST', '/run/stands')], ['/new', (page) => say(page, 'Stand.')]]) {
      const held = await it.stage.hold({ pieces: ['So far'] });
      const page = await it.open(place);
      await start(page);
      await button(page, 'Stop').press('Enter');
      await heldBecomes(page, place === '/new' ? 'Message' : 'output');
      await it.stage.release({ held, pieces: [] });
    }
  });

  test('who starts and stops an app by keys stays at it', async () => {
    const path = (await it.stage.write({ path: 'an-app/run.py', text: 'import time\ntime.sleep(600)\n' })).replace('/run.py', '');
    await it.api('POST', '/extensions', { type: 'app', name: 'an-app', description: 'd', enabled: true, definition: { type: 'command', path, command: 'python3 run.py' } });
    const page = await it.open('/apps');
    await button(page, 'Start').press('Enter');
    await heldBecomes(page, 'Stop');
    await page.keyboard.press('Enter');
    await heldBecomes(page, 'Start');
  });

  test('who is in an answer that is replaced or in a message that goes, by keys, goes on in the conversation', async () => {
    await it.stage.reply({ text: '1. One\n2. Two' });
    const { id } = await it.thread();
    const page = await it.open(`/t/${id}`);
    await page.getByRole('radio', { name: 'Plan' }).check({ force: true });
    await say(page, 'Plan it.');
    await button(page, 'Keep planning').press('Enter');
    await heldBecomes(page, 'Conversation');
    await it.stage.reply({ text: 'Another' });
    await button(page, 'Regenerate').press('Enter');
    await answers(page).getByText('Another').waitFor();
    await heldBecomes(page, 'Conversation');
    await page.route('**/chat', (route) => route.fulfill({ status: 400, json: { error: 'no' } }));
    await say(page, 'Refused');
    await button(page, 'Discard').press('Enter');
    await heldBecomes(page, 'Conversation');
  });

  test('who looks at more of a list or a text by keys goes on there', async () => {
    await Promise.all([...Array(105).keys()].map((i) => it.thread({ title: `Chat ${i}` })));
    const page = await it.open('/extensions/stands?tab=files');
    await it.stage.write({ path: '.agent-gateway/jobs/stands/notes.md', text: 'line\n'.repeat(300) });
    await page.reload();
    await button(page, 'notes.md').press('Enter');
    await page.getByRole('button', { name: /^Show more/ }).press('Enter');
    await heldBecomes(page, 'notes.md');
    const more = page.getByRole('button', { name: /^Show more \(/ });
    await page.goto(`${it.line.url}/ui/#/t/${await it.threadWith({ role: 'assistant', content: 'A sentence of an answer.\n\n'.repeat(1700) })}`);
    await more.press('Enter');
    await more.waitFor({ state: 'detached' });
    await eventually(async () => assert.match(await held(page), /^A sentence of an answer/));
    await page.evaluate(() => (location.hash = '#/chats'));
    const chats = page.getByRole('complementary').getByRole('listitem');
    await eventually(async () => assert.equal(await chats.count(), 100));
    await button(page, 'Show more').press('Enter');
    await eventually(async () => assert.equal(await page.evaluate(() => [...document.querySelectorAll('aside li')].findIndex((row) => row.contains(document.activeElement))), 100));
  });

  test('who looks at all lines of a change by keys goes on there, and saves nothing by it', async () => {
    const { page, soul } = await it.openSoul('Before.');
    await soul.fill('Mine.\n'.repeat(500));
    await it.api('PUT', '/soul', { content: 'Theirs.' });
    await button(page, 'Save soul').click();
    const all = page.getByRole('button', { name: 'Show all 501 lines' });
    await all.waitFor();
    const asked = [];
    page.on('request', (request) => request.url().endsWith('/soul') && asked.push(request.method()));
    await all.press('Enter');
    await heldBecomes(page, 'Changes');
    assert.deepEqual(asked, []);
  });

  test('whoever goes back leaves a question unanswered, and the keys and commands closed', async () => {
    const { id } = await it.thread({ title: 'Asked about' });
    const page = await it.open('/costs');
    const dialog = page.getByRole('dialog');
    const opens = [() => button(page, 'Delete chat').click(), () => page.keyboard.press('Control+k'), () => page.keyboard.press('?')];
    for (const open of opens) {
      await page.evaluate((hash) => (location.hash = hash), `#/t/${id}`);
      await page.getByRole('heading', { level: 1, name: 'Asked about' }).waitFor();
      await open();
      await dialog.waitFor();
      await page.goBack();
      await dialog.waitFor({ state: 'detached' });
      await heldBecomes(page, 'Costs');
    }
    await it.api('GET', `/threads/${id}`);
  });

  test('who does nothing by keys has the keyboard taken nowhere when a button goes', async () => {
    const answer = await it.stage.hold({ pieces: ['So far'] });
    const page = await it.open('/new');
    await say(page, 'Stand.');
    await button(page, 'Stop').focus();
    await button(page, 'Stop').blur();
    await it.stage.release({ held: answer, pieces: [' and on'] });
    await eventually(async () => assert.equal(await button(page, 'Stop').count(), 0));
    assert.equal(await held(page), 'nothing');
  });

  test('the suggestion that is marked is in sight, however many there are', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) {
      await it.api('POST', '/extensions', { type: 'command', name: `many-${name}`, description: 'so long that it is broken '.repeat(4), enabled: true, definition: { prompt: 'p' } });
    }
    const page = await it.open('/new', { viewport: { width: 360, height: 740 } });
    await page.getByRole('textbox', { name: 'Message' }).pressSequentially('/many');
    const options = page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option');
    await eventually(async () => assert.equal(await options.count(), 8));
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowDown']) {
      await page.keyboard.press(key);
      await eventually(async () => assert.ok(await page.evaluate(() => {
        const mine = document.querySelector('[role=option][aria-selected=true]').getBoundingClientRect();
        const all = document.querySelector('[role=listbox]').getBoundingClientRect();
        return mine.top >= all.top && mine.bottom <= all.bottom;
      })));
    }
  });

  test('a file that is taken while more are looked for replaces all that was typed of its name', async () => {
    await it.stage.write({ path: 'garden/tomatoes.txt', text: 'x' });
    const page = await it.open('/new');
    const message = page.getByRole('textbox', { name: 'Message' });
    await message.pressSequentially('Read @tomat');
    await page.getByRole('option').filter({ hasText: 'tomatoes.txt' }).waitFor();
    const release = await holds(page, 'GET', '**/filesystem/search?**');
    await message.pressSequentially('oes');
    await page.keyboard.press('Tab');
    release();
    await eventually(async () => assert.equal(await message.inputValue(), `Read ${it.home}/garden/tomatoes.txt `));
  });

  const palette = (page) => page.getByRole('combobox', { name: 'Go to or do' });
  const marked = (page) => page.getByRole('option', { selected: true });

  test('the entry of the palette that is marked stays so when what was asked for comes before it', async () => {
    await it.threadWith({ role: 'user', content: 'a tangerine a day' });
    const page = await it.open('/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    const release = await holds(page, 'GET', '**/turns/search?**');
    await page.keyboard.press('Control+k');
    const asked = page.waitForRequest(/\/turns\/search/);
    await palette(page).fill('tangerine');
    await asked;
    const options = page.getByRole('option');
    await options.filter({ hasText: 'chat' }).waitFor();
    await page.keyboard.press('ArrowUp');
    await marked(page).getByText('Search all turns').waitFor();
    release();
    await options.filter({ hasText: 'turn a tangerine' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor();
  });

  test('the entry of the palette that is marked stays so when one that fits better is made, and gives way where it is deleted', async () => {
    const { id } = await command('quux-of-old');
    const page = await it.open('/extensions');
    await page.getByRole('heading', { level: 1, name: 'Extensions' }).waitFor();
    await page.keyboard.press('Control+k');
    await palette(page).fill('quux');
    await page.keyboard.press('ArrowDown');
    const words = await marked(page).innerText();
    const better = await command('quux');
    await page.getByRole('option').filter({ hasText: /^\s*command\s*quux\s/ }).waitFor();
    assert.equal(await marked(page).innerText(), words);
    assert.equal(await palette(page).getAttribute('aria-activedescendant'), await marked(page).getAttribute('id'));
    for (const gone of [id, better.id]) await it.api('DELETE', `/extensions/${gone}`);
    await eventually(async () => assert.match(await marked(page).innerText(), /Search all turns/));
  });
}
