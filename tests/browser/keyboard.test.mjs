import assert from 'node:assert/strict';
import test from 'node:test';
import {
  answers,
  eventually,
  focusedName,
  expectFocus,
  holdResponses,
  message,
  missing,
  sendMessage,
  withGateway,
  choose,
} from './environment.mjs';

const phone = { width: 390, height: 844 };

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  const button = (page, name) => page.getByRole('button', { name, exact: true });
  const command = (name) =>
    env.api('POST', '/extensions', {
      type: 'command',
      name,
      description: 'd',
      enabled: true,
      definition: { prompt: 'p' },
    });

  test('saving and switching by keyboard keep the focus', async () => {
    await command('kept');
    const page = await env.open('/extensions/kept');
    await page.getByRole('switch').press('Space');
    await page.getByText('disabled', { exact: true }).waitFor();
    assert.match(await focusedName(page), /^Enabled: kept/);
    await page.getByRole('textbox', { name: /Prompt/ }).fill('new');
    await button(page, 'Save').press('Enter');
    await page.getByText('Saved.').waitFor();
    assert.equal(await focusedName(page), 'Save');
    await page.evaluate(() => (location.hash = '#/agents'));
    await page.getByRole('textbox', { name: 'Soul' }).fill('Be calm.');
    await button(page, 'Save soul').press('Enter');
    await page.getByText('Saved. Used').waitFor();
    await eventually(async () => assert.ok(await button(page, 'Save soul').isDisabled()));
    assert.equal(await focusedName(page), 'Save soul');
    await page.evaluate(() => (location.hash = '#/agents/assistant'));
    await choose(page.getByRole('combobox', { name: 'Change to' }), 'trusted');
    await page.getByRole('textbox', { name: 'Reason' }).fill('it is good');
    await button(page, 'Change stage').press('Enter');
    await page.getByText('Stage: trusted').waitFor();
    assert.equal(await focusedName(page), 'Change stage');
  });

  test('a soul is saved neither without changes nor if it is too long', async () => {
    const page = await env.open('/agents');
    const requested = [];
    page.on('request', (request) => request.url().endsWith('/soul') && requested.push(request.method()));
    const soul = page.getByRole('textbox', { name: 'Soul' });
    await soul.waitFor();
    await button(page, 'Save soul').press('Enter');
    await soul.fill('x '.repeat(51_201));
    await button(page, 'Save soul').press('Enter');
    await soul.fill('Short.');
    await button(page, 'Save soul').press('Enter');
    await page.getByText('Saved. Used').waitFor();
    assert.equal(requested.filter((method) => method === 'PUT').length, 1);
    assert.equal((await env.api('GET', '/soul')).content, 'Short.');
  });

  test('discarding unsaved changes focuses their field', async () => {
    const { page, soul } = await env.openSoul('');
    await soul.fill('half a thought');
    await page.reload();
    await button(page, 'Discard changes').press('Enter');
    await expectFocus(page, 'Soul');
    assert.equal(await soul.inputValue(), '');
  });

  test('unarchiving a chat by keyboard focuses it', async () => {
    const { id } = await env.thread({ title: 'Put away' });
    await env.api('PATCH', `/threads/${id}`, { archived: true });
    const page = await env.open('/chats?archived=true');
    await button(page, 'Unarchive Put away').press('Enter');
    await eventually(async () => assert.match(await focusedName(page), /^Put away/));
  });

  test('editing a project by keyboard starts at its name and returns to where it began', async () => {
    await env.backend.write({ path: 'by-keys/inner/readme', text: '' });
    const { id } = await env.api('POST', '/projects', { name: 'By keys', path: `${env.home}/by-keys` });
    const page = await env.open('/projects');
    await button(page, 'Edit').press('Enter');
    await page.keyboard.type('One');
    await eventually(async () =>
      assert.equal(await page.getByRole('textbox', { name: 'Name' }).first().inputValue(), 'By keysOne'),
    );
    await button(page, 'Cancel').press('Enter');
    await expectFocus(page, 'Edit');
    await page.keyboard.press('Enter');
    await page.keyboard.type(' still');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'By keys still' }).waitFor();
    await expectFocus(page, 'Edit');
    await button(page, 'Browse directories…').press('Enter');
    await eventually(async () =>
      assert.equal(await page.evaluate(() => document.activeElement.closest('ul')?.tagName), 'UL'),
    );
    await button(page, 'by-keys').press('Enter');
    await expectFocus(page, '..');
    await env.api('DELETE', `/projects/${id}`);
  });

  test('dismissing a failed run or retrying by keyboard focuses the heading', async () => {
    await env.api('POST', '/extensions', {
      type: 'job',
      name: 'fails',
      description: 'Fails',
      enabled: true,
      definition: { agent_id: 'assistant', prompt: 'Try.' },
    });
    await env.backend.fail({ status: 401 });
    await env.api('POST', '/run/fails');
    await eventually(async () => assert.equal((await env.api('GET', '/jobs/fails/runs'))[0].status, 'failed'));
    const page = await env.open('/inbox');
    await button(page, 'Dismiss').press('Enter');
    await expectFocus(page, 'Inbox');
    await page.route('**/costs?**', (route) => route.fulfill({ status: 400, json: { error: 'no' } }));
    await page.evaluate(() => (location.hash = '#/costs'));
    await button(page, 'Retry').waitFor();
    await page.unroute('**/costs?**');
    await button(page, 'Retry').press('Enter');
    await expectFocus(page, 'Costs');
  });

  const files = (...names) => names.map((name) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(name) }));

  test('removing a file by keyboard focuses the next one, and after the last the attach button', async () => {
    const page = await env.open('/new');
    const picker = page.locator('input[type=file]');
    await picker.setInputFiles(files('a.txt', 'b.txt', 'c.txt'));
    await button(page, 'Remove c.txt').waitFor();
    await button(page, 'Remove b.txt').press('Enter');
    await expectFocus(page, 'Remove c.txt');
    await page.keyboard.press('Enter');
    await expectFocus(page, 'Attach files');
    const release = await holdResponses(page, 'POST', '**/files?**');
    await picker.setInputFiles(files('late.txt'));
    await button(page, 'Cancel upload').press('Enter');
    await expectFocus(page, 'Attach files');
    release();
  });

  test('commenting on a line by keyboard returns the focus to it, and removing comments to the next one, then to Edit', async () => {
    const head =
      '---\ntitle: T\ntype: knowledge\nagent: assistant\ntarget: knowledge/wiki/t.md\nstatus: pending\ncreated_at: 2026-01-02T03:04:05.678Z\nreason: r\n---\n';
    await env.backend.write({
      path: '.agent-gateway/autoresearch/proposals/assistant/2026-01-02/by-keys.md',
      text: `${head}# One\n\nThree\n`,
    });
    const page = await env.open('/inbox/assistant/2026-01-02/by-keys');
    for (const line of [1, 3]) {
      await button(page, `Comment on line ${line}`).press('Enter');
      await page.keyboard.type('Why?');
      await page.keyboard.press('Enter');
      await expectFocus(page, `Comment on line ${line}`);
    }
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await expectFocus(page, 'Comment on line 3');
    await page.keyboard.press('Enter');
    await button(page, 'Cancel').press('Enter');
    await expectFocus(page, 'Comment on line 3');
    await button(page, 'Remove comment 2').press('Enter');
    await expectFocus(page, 'Remove comment 1');
    await page.keyboard.press('Enter');
    await expectFocus(page, 'Edit');
    await env.api('POST', '/proposals/assistant/2026-01-02/by-keys/reject', {});
  });

  test('retrying the connection by keyboard focuses the heading, on a phone too', async () => {
    const { id } = await env.thread({ title: 'Cut off' });
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 360, height: 740 },
    ]) {
      const page = await env.open(`/t/${id}`, { viewport });
      await page.getByRole('heading', { level: 1, name: 'Cut off' }).waitFor();
      env.proxy.down = true;
      env.proxy.cut();
      await button(page, 'Retry now').focus();
      env.proxy.down = false;
      // The page may have reconnected already.
      await page.keyboard.press('Enter');
      await expectFocus(page, 'Cut off');
      await page.close();
    }
  });

  test('stopping a run by keyboard focuses its output, stopping an answer the composer', async () => {
    await env.api('POST', '/extensions', {
      type: 'job',
      name: 'stands',
      description: 'Stands',
      enabled: true,
      definition: { agent_id: 'assistant', prompt: 'Stand.' },
    });
    for (const [route, start] of [
      ['/jobs/stands', () => env.api('POST', '/run/stands')],
      ['/new', (page) => sendMessage(page, 'Stand.')],
    ]) {
      const held = await env.backend.hold({ pieces: ['So far'] });
      const page = await env.open(route);
      await start(page);
      await button(page, 'Stop').press('Enter');
      await expectFocus(page, route === '/new' ? 'Message' : 'output');
      await env.backend.release({ held, pieces: [] });
    }
  });

  test('starting and stopping an app by keyboard keeps the focus on it', async () => {
    const path = (await env.backend.write({ path: 'an-app/run.py', text: 'import time\ntime.sleep(600)\n' })).replace(
      '/run.py',
      '',
    );
    await env.api('POST', '/extensions', {
      type: 'app',
      name: 'an-app',
      description: 'd',
      enabled: true,
      definition: { type: 'command', path, command: 'python3 run.py' },
    });
    const page = await env.open('/apps');
    await button(page, 'Start').press('Enter');
    await expectFocus(page, 'Stop');
    await page.keyboard.press('Enter');
    await expectFocus(page, 'Start');
  });

  test('replacing an answer or discarding a message by keyboard focuses the conversation', async () => {
    await env.backend.reply({ text: '1. One\n2. Two' });
    const { id } = await env.thread();
    const page = await env.open(`/t/${id}`);
    // The button is disabled until the thread has been loaded.
    await page.locator('input[value=plan]:enabled').check({ force: true });
    await sendMessage(page, 'Plan it.');
    await button(page, 'Keep planning').press('Enter');
    await expectFocus(page, 'Conversation');
    await env.backend.reply({ text: 'Another' });
    await button(page, 'Regenerate').press('Enter');
    await answers(page).getByText('Another').waitFor();
    await expectFocus(page, 'Conversation');
    await page.route('**/chat', (route) => route.fulfill({ status: 400, json: { error: 'no' } }));
    await sendMessage(page, 'Refused');
    await button(page, 'Discard').press('Enter');
    await expectFocus(page, 'Conversation');
  });

  test('showing more of a list or a text by keyboard keeps the focus there', async () => {
    const page = await env.open('/extensions/stands?tab=files');
    await env.backend.write({ path: '.agent-gateway/jobs/stands/notes.md', text: 'line\n'.repeat(300) });
    await page.reload();
    await button(page, 'notes.md').press('Enter');
    await page.getByRole('button', { name: /^Show more/ }).press('Enter');
    await expectFocus(page, 'notes.md');
    const more = page.getByRole('button', { name: /^Show more \(/ });
    await page.goto(
      `${env.proxy.url}/ui/#/t/${await env.threadWith({ role: 'assistant', content: 'A sentence of an answer.\n\n'.repeat(1700) })}`,
    );
    await more.press('Enter');
    await more.waitFor({ state: 'detached' });
    await eventually(async () => assert.match(await focusedName(page), /^A sentence of an answer/));
  });

  test('scrolling a long diff to its end by keyboard saves nothing', async () => {
    const { page, soul } = await env.openSoul('Before.');
    await soul.fill('Mine.\n'.repeat(500));
    await env.api('PUT', '/soul', { content: 'Theirs.' });
    await button(page, 'Save soul').click();
    const diff = page.getByRole('region', { name: 'Changes' });
    await diff.waitFor();
    assert.ok((await diff.getByRole('row').count()) < 300);
    const requested = [];
    page.on('request', (request) => request.url().endsWith('/soul') && requested.push(request.method()));
    await diff.focus();
    await diff.press('End');
    await diff.getByText('500', { exact: true }).waitFor();
    await expectFocus(page, 'Changes');
    assert.deepEqual(requested, []);
  });

  test('going back closes confirmations, shortcuts and palette', async () => {
    const { id } = await env.thread({ title: 'Asked about' });
    const page = await env.open('/costs');
    const dialog = page.getByRole('dialog');
    const opens = [
      () => button(page, 'Delete chat').click(),
      () => page.keyboard.press('Control+k'),
      () => page.keyboard.press('?'),
    ];
    for (const open of opens) {
      await page.evaluate((hash) => (location.hash = hash), `#/t/${id}`);
      await page.getByRole('heading', { level: 1, name: 'Asked about' }).waitFor();
      await open();
      await dialog.waitFor();
      await page.goBack();
      await dialog.waitFor({ state: 'detached' });
      await expectFocus(page, 'Costs');
    }
    await env.api('GET', `/threads/${id}`);
  });

  test('a button keeps the focus while it works, and the last of a group leaves it to the next', async () => {
    await env.api('POST', '/extensions', {
      type: 'integration',
      name: 'slow-test',
      description: 'd',
      enabled: true,
      definition: { kind: 'mcp-stdio', command: 'no-such-program' },
    });
    for (const title of ['Chosen', 'Left']) await env.thread({ title });
    const page = await env.open('/extensions/slow-test');
    const tested = await holdResponses(page, 'POST', '**/test');
    await button(page, 'Test').press('Enter');
    await page.getByText('Testing…').waitFor();
    await expectFocus(page, 'Test');
    tested();
    await page.getByText('Testing…').waitFor({ state: 'detached' });
    await expectFocus(page, 'Test');

    await page.evaluate(() => (location.hash = '#/jobs?tab=week'));
    await button(page, 'Earlier week').press('Enter');
    await button(page, 'This week').press('Enter');
    await expectFocus(page, 'This week');

    await page.evaluate(() => (location.hash = '#/chats'));
    await button(page, 'Select').press('Enter');
    await page.getByRole('link', { name: /^Chosen/ }).press('Space');
    const pinned = await holdResponses(page, 'PATCH', '**/threads/*');
    await button(page, 'Pin selected').press('Enter');
    await page.getByRole('button', { name: 'Archive selected', disabled: true }).waitFor();
    await eventually(async () => assert.match(await focusedName(page), /^(Pin|Unpin) selected$/));
    pinned();
    await button(page, 'Unpin selected').press('Enter');
    await button(page, 'Archive selected').press('Enter');
    await page.getByText('1 chat archived.').waitFor();
    await expectFocus(page, 'Select');
  });

  test('without keyboard use, a disappearing button does not move the focus', async () => {
    const answer = await env.backend.hold({ pieces: ['So far'] });
    const page = await env.open('/new');
    await sendMessage(page, 'Stand.');
    await button(page, 'Stop').focus();
    await button(page, 'Stop').blur();
    await env.backend.release({ held: answer, pieces: [' and on'] });
    await eventually(async () => assert.equal(await button(page, 'Stop').count(), 0));
    assert.equal(await focusedName(page), 'nothing');
  });
}
