import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import {
  answers,
  eventually,
  holdRequests,
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

  test('an agent’s stage is changed with a reason, and its permissions follow', async () => {
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'writer',
      description: 'Writes',
      enabled: true,
      definition: { systemPrompt: 'Write.' },
    });
    const page = await env.open('/agents/writer');
    const bash = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'Bash' }) });
    await bash.getByText('not allowed').first().waitFor();
    await choose(page.getByRole('combobox', { name: 'Change to' }), 'operator');
    await page.getByRole('textbox', { name: 'Reason' }).fill('It has earned it');
    await page.getByRole('button', { name: 'Change stage' }).click();
    await bash.getByText('✓ allowed').waitFor();
    await page.getByText('It has earned it').waitFor();
  });

  test('a soul is saved', async () => {
    const page = await env.open('/agents/assistant?tab=identity');
    await page.getByRole('textbox', { name: 'Own soul' }).fill('Be kind.');
    await page.getByRole('button', { name: 'Save own soul' }).click();
    await eventually(async () => assert.equal((await env.api('GET', '/agents/assistant/soul')).content, 'Be kind.'));
  });

  test('validation errors are shown at their fields', async () => {
    const page = await env.open('/extensions/+new?type=capability');
    await page.getByRole('textbox', { name: 'Name' }).fill('odd');
    await page.getByRole('textbox', { name: 'Description' }).fill('d');
    await page.getByRole('button', { name: 'Raw' }).click();
    await page.getByRole('textbox', { name: 'Definition as JSON' }).fill('{"tools": "Read"}');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('definition.tools must be an array').waitFor();
    await page.getByRole('button', { name: 'Form' }).click();
    await page.getByText('must be an array', { exact: true }).waitFor();
    assert.equal(await page.getByRole('combobox', { name: 'Tools' }).getAttribute('aria-invalid'), 'true');
    await page.getByRole('button', { name: 'Raw' }).click();
    await page.getByRole('textbox', { name: 'Definition as JSON' }).fill('{"tools": ["Read", 1]}');
    await page.getByRole('button', { name: 'Form' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('[1] must be a string').waitFor();
  });

  test('a name that is taken is reported at its field', async () => {
    const page = await env.open('/extensions/+new?type=command');
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('help');
    await page.getByRole('textbox', { name: 'Description' }).fill('d');
    await page.getByRole('textbox', { name: /^Prompt/ }).fill('Help.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('This name is taken.').waitFor();
    assert.equal(await name.getAttribute('aria-invalid'), 'true');
  });

  test('a change made elsewhere is never overwritten silently', async () => {
    const command = await env.api('POST', '/extensions', {
      type: 'command',
      name: 'shared-one',
      description: 'd',
      definition: { prompt: 'old', unknown: 1 },
    });
    const page = await env.open('/extensions/shared-one');
    await page.getByRole('textbox', { name: /Prompt/ }).fill('mine');
    await env.api('PATCH', `/extensions/${command.id}`, { definition: { prompt: 'theirs', unknown: 1 } });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('This was changed elsewhere').waitFor();
    await page.getByRole('button', { name: 'Overwrite with mine' }).click();
    await eventually(async () =>
      assert.deepEqual((await env.api('GET', `/extensions/${command.id}`)).definition, { prompt: 'mine', unknown: 1 }),
    );
  });

  test('the list of chats is grouped by project, and its filter is part of the address', async () => {
    const path = await env.backend.write({ path: 'orchard/readme.md', text: 'x' });
    const project = await env.api('POST', '/projects', { name: 'Orchard', path: path.replace('/readme.md', '') });
    await env.thread({ title: 'Pruning', project_id: project.id });
    await env.thread({ title: 'Elsewhere' });
    const page = await env.open('/chats');
    const list = page.locator('aside');
    await list.getByRole('heading', { name: 'Orchard' }).waitFor();
    await list.getByText('Filter').click();
    await choose(list.getByRole('combobox', { name: 'Project' }), 'Orchard');
    await eventually(async () => assert.equal(await list.getByRole('link').count(), 1));
    await page.reload();
    await list.getByRole('link', { name: /Pruning/ }).waitFor();
    assert.equal(await list.getByRole('link').count(), 1);
  });

  test('the next chat can be reached before the list was shown, and deleted ones are skipped', async () => {
    // Chats of the most recently used project are listed first.
    const path = await env.backend.write({ path: 'meadow/readme.md', text: 'x' });
    const project = await env.api('POST', '/projects', { name: 'Meadow', path: path.replace('/readme.md', '') });
    await env.thread({ title: 'Second of all', project_id: project.id });
    const { id } = await env.thread({ title: 'First of all', project_id: project.id });
    const page = await env.open('/costs');
    const read = page.waitForResponse(/\/threads\?/);
    await page.reload();
    await read;
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    await page.keyboard.press('Alt+ArrowDown');
    await page.getByRole('heading', { level: 1, name: 'First of all' }).waitFor();
    await page.evaluate(() => (location.hash = '#/costs'));
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await other.getByRole('button', { name: 'Delete chat' }).click();
    await other.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await other.getByRole('heading', { level: 1, name: 'New chat' }).waitFor();
    await eventually(async () => {
      await page.evaluate(() => (location.hash = '#/costs'));
      await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
      await page.keyboard.press('Alt+ArrowDown');
      await page.getByRole('heading', { level: 1, name: 'Second of all' }).waitFor({ timeout: 500 });
    });
  });

  test('a chat is renamed in the list', async () => {
    const { id } = await env.thread({ title: 'Old name' });
    const page = await env.open('/chats');
    await page.getByRole('link', { name: /Old name/ }).hover();
    await page.getByRole('button', { name: 'Rename Old name' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('New name');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: /New name/ }).waitFor();
    await eventually(async () => assert.equal((await env.api('GET', `/threads/${id}`)).title, 'New name'));
  });

  test('a new title is kept when its field is left, and dropped by Escape', async () => {
    const { id } = await env.thread({ title: 'First title' });
    const page = await env.open(`/t/${id}`);
    const field = page.getByRole('textbox', { name: 'Title' });
    const title = async () => (await env.api('GET', `/threads/${id}`)).title;
    for (const [name, leave, kept] of [
      ['Second title', () => page.getByRole('textbox', { name: 'Message' }).click(), 'Second title'],
      ['Third title', () => page.keyboard.press('Escape'), 'Second title'],
      ['Fourth title', () => page.getByRole('link', { name: 'Jobs', exact: true }).click(), 'Fourth title'],
    ]) {
      await page.getByRole('button', { name: 'Rename', exact: true }).click();
      await field.fill(name);
      await leave();
      await field.waitFor({ state: 'detached' });
      await eventually(async () => assert.equal(await title(), kept));
    }
  });

  test('search finds a message and opens its chat at it', async () => {
    const { id } = await env.thread({ title: 'Haystack' });
    await env.api('POST', `/threads/${id}/turns`, { role: 'user', content: 'the needle is a pomegranate' });
    for (let i = 0; i < 60; i++) await env.api('POST', `/threads/${id}/turns`, { role: 'user', content: `hay ${i}` });
    const page = await env.open('/chats');
    await page.getByRole('searchbox', { name: 'Search' }).fill('pomegranate');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Haystack' }).click();
    await page.locator('article.found').getByText('pomegranate').waitFor();
  });

  async function newChat(mode) {
    const page = await env.open('/new');
    await page.getByText(mode, { exact: true }).click();
    return page;
  }

  test('a plan is approved with one button and the chat switches to act', async () => {
    const page = await newChat('Plan');
    await env.backend.reply({ text: '1. Look\n2. Do\n3. Check' });
    await sendMessage(page, 'Plan it');
    await env.backend.reply({ text: 'It is done.' });
    await page.getByRole('button', { name: 'Approve and act' }).click();
    await answers(page).getByText('It is done.').waitFor();
    const id = page.url().split('/t/')[1];
    assert.equal((await env.api('GET', `/threads/${id}`)).mode, 'act');
  });

  test('a numbered list that is not a plan is not offered for approval in any mode', async () => {
    const page = await newChat('Plan');
    await env.backend.reply({ text: 'A B-tree is searched in steps:\n\n1. Compare\n2. Descend' });
    await sendMessage(page, 'How is a B-tree searched?');
    await page.getByText('stub/talker-1').first().waitFor();
    await answers(page).getByText('Descend').waitFor();
    assert.equal(await page.getByRole('region', { name: 'Plan' }).count(), 0);
    await page.getByText('Act', { exact: true }).click();
    await env.backend.reply({ text: '1. Look\n2. Do' });
    await sendMessage(page, '/plan the search');
    await page.getByRole('region', { name: 'Plan' }).waitFor();
  });

  test('an approved plan is carried out in its own chat, even if another view is open by then', async () => {
    const other = await env.thread({ title: 'Not this one' });
    const page = await newChat('Plan');
    await env.backend.reply({ text: '1. Look\n2. Do' });
    await sendMessage(page, 'Plan it here');
    await page.getByRole('button', { name: 'Approve and act' }).waitFor();
    const id = page.url().split('/t/')[1];
    const change = await holdRequests(page, `**/threads/${id}`);
    await page.getByRole('button', { name: 'Approve and act' }).click();
    await change.requested();
    await page.evaluate((hash) => (location.hash = hash), `#/t/${other.id}`);
    await page.getByRole('heading', { level: 1, name: 'Not this one' }).waitFor();
    const sent = page.waitForRequest('**/chat');
    await change.release();
    assert.equal((await sent).postDataJSON().threadId, id);
  });

  test('a plan that is approved again over a slow connection is carried out once', async () => {
    const page = await newChat('Act');
    await env.backend.reply({ text: '1. Look\n2. Do' });
    await sendMessage(page, '/plan this once');
    const approve = page.getByRole('button', { name: 'Approve and act' });
    await approve.waitFor();
    const sent = [];
    page.on('request', (request) => request.url().endsWith('/chat') && sent.push(request.postDataJSON().content));
    const change = await holdRequests(page, `**/threads/${page.url().split('/t/')[1]}`);
    const message = await holdRequests(page, '**/chat');
    await approve.click();
    await change.requested();
    await approve.click();
    await change.release();
    await message.requested();
    await approve.waitFor({ state: 'detached' });
    await env.backend.reply({ text: 'It is carried out.' });
    await message.release();
    await answers(page).getByText('It is carried out.').waitFor();
    assert.deepEqual(sent, ['/act']);
  });

  test('an answer is regenerated, and a signal raised, once by two clicks', async () => {
    const { id } = await env.thread();
    const page = await env.open(`/t/${id}`);
    await sendMessage(page, 'Hello');
    const again = page.getByRole('button', { name: 'Regenerate' });
    await again.dblclick();
    await page.getByText('2 of 2').waitFor();
    assert.equal(await page.getByText('turn is in use').count(), 0);
    await page.goto(`${env.proxy.url}/ui/#/system`);
    const signals = page.getByRole('region', { name: 'Signals' });
    await signals.getByText('Raise a signal').click();
    await signals.getByRole('textbox', { name: 'Kind' }).fill('rain-clouds');
    await signals.getByRole('textbox', { name: 'Message' }).fill('Take a coat');
    await signals.getByRole('button', { name: 'Raise' }).dblclick();
    await eventually(async () => assert.equal(await signals.getByRole('textbox', { name: 'Kind' }).inputValue(), ''));
    const raised = await env.api('GET', '/signals?limit=50');
    assert.equal(raised.filter(({ kind }) => kind === 'rain-clouds').length, 1);
  });

  test('a plan whose approval fails is not carried out', async () => {
    const page = await newChat('Plan');
    await env.backend.reply({ text: '1. Look\n2. Do' });
    await sendMessage(page, 'Plan this');
    await page.getByRole('button', { name: 'Approve and act' }).waitFor();
    await page.route('**/threads/*', (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 409, json: { error: 'not now' } })
        : route.continue(),
    );
    await page.getByRole('button', { name: 'Approve and act' }).click();
    await page.getByText('not now').waitFor();
    assert.equal((await env.turns(page.url().split('/t/')[1])).length, 2);
  });

  test('a tool call is a card with its state, input and result', async () => {
    const page = await newChat('Act');
    await env.backend.reply({
      text: 'Let me look.',
      tool_calls: [{ name: 'ListExtensions', arguments: { type: 'agent' } }],
    });
    await env.backend.reply({ text: 'There is one.' });
    await sendMessage(page, 'Which agents are there?');
    await answers(page).getByText('There is one.').waitFor();
    const card = answers(page).locator('details').filter({ hasText: 'ListExtensions' });
    await card.getByText('done').waitFor();
    await card.locator('summary').click();
    await card.getByText('The default assistant').first().waitFor();
    await page.reload();
    await answers(page).getByText('There is one.').waitFor();
    assert.deepEqual(await answers(page).locator('.prose').allInnerTexts(), ['Let me look.', 'There is one.']);
    assert.equal(await answers(page).locator('details').count(), 1);
  });

  test('a proposal made by an agent can be applied in the chat', async () => {
    const page = await newChat('Act');
    const input = {
      type: 'knowledge',
      title: 'Write the plan down',
      target: 'knowledge/wiki/plan.md',
      content: '# The plan\n',
      reason: 'so that it is not lost',
    };
    await env.backend.reply({ tool_calls: [{ name: 'Propose', arguments: input }] });
    await env.backend.reply({ text: 'I proposed it.' });
    await sendMessage(page, 'Write the plan down');
    await answers(page).getByText('I proposed it.').waitFor();
    await answers(page).getByRole('button', { name: 'Apply', exact: true }).click();
    await answers(page).getByText('Applied.').waitFor();
    assert.match(readFileSync(`${env.data}/knowledge/wiki/plan.md`, 'utf8'), /# The plan/);
  });

  test('a denied call shows what would allow it', async () => {
    const page = await newChat('Plan');
    await env.backend.reply({ tool_calls: [{ name: 'ListExtensions', arguments: {} }] });
    await env.backend.reply({ text: 'I may not.' });
    await sendMessage(page, 'Which extensions are there?');
    await answers(page).getByText('I may not.').waitFor();
    await answers(page)
      .locator('details')
      .getByText(/denied|failed/)
      .first()
      .waitFor();
    await answers(page).getByRole('link', { name: 'See what assistant is allowed to do' }).click();
    await page.getByRole('row').filter({ hasText: 'ListExtensions' }).waitFor();
  });

  test('deleting a turn can be undone', async () => {
    const { id } = await env.thread();
    await env.api('POST', `/threads/${id}/turns`, { role: 'user', content: 'Keep me' });
    const page = await env.open(`/t/${id}`);
    await page.locator('.said').getByText('Keep me').hover();
    await page.getByRole('button', { name: 'Delete message' }).click();
    await page.getByRole('article').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('.said').getByText('Keep me').waitFor();
    assert.equal((await env.turns(id)).length, 1);
  });

  test('System shows problems and the version', async () => {
    const page = await env.open('/system');
    const { info } = await env.api('GET', '/asyncapi.json');
    await page.getByText(`version ${info.version}`).waitFor();
    await page.getByRole('region', { name: 'Check-up' }).getByText('No price is known for').waitFor();
    await env.backend.write({ path: '.agent-gateway/knowledge/wiki/alone.md', text: '# Alone\n\n[[missing]]\n' });
    await env.backend.write({ path: '.agent-gateway/knowledge/raw/new.md', text: 'Something new.\n' });
    const countInNeed = async () => {
      const { shared, raw } = await env.api('GET', '/knowledge/health');
      const pages = new Set([...shared.broken_links.map(({ slug }) => slug), ...shared.stale]);
      assert.ok(pages.has('alone') && raw.uncompiled.some((source) => source.endsWith('new.md')));
      return pages.size + new Set([...raw.uncompiled, ...raw.stale, ...raw.orphans]).size;
    };
    let count = 0;
    await eventually(async () => (count = await countInNeed()));
    await page.reload();
    const finding = page
      .getByRole('region', { name: 'Check-up' })
      .getByRole('listitem')
      .filter({ hasText: `${count} knowledge pages or sources need attention.` });
    await finding.getByText('Warning:').waitFor();
    await finding.getByRole('link', { name: 'Knowledge' }).click();
    await page.getByText('broken link').first().waitFor();
    await page.getByText('has no page yet').first().waitFor();
  });

  test('widgets are shown at their placement, and a renderer shows matching artifacts', async () => {
    const make = (type, name, definition) =>
      env.api('POST', '/extensions', { type, name, description: 'd', enabled: true, definition });
    await make('widget', 'home-widget', { placement: 'home', html: '<p>At home</p>' });
    await make('widget', 'costs-widget', { placement: 'costs', html: '<p>Beside the costs</p>' });
    await make('renderer', 'dots', {
      match: { mime: 'text/x-dots' },
      html: '<p id="o"></p><script>addEventListener("gateway", ({ detail }) => (document.getElementById("o").textContent = `seen ${detail.content}`))</script>',
    });
    await make('artifact', 'three-dots', { mime: 'text/x-dots', content: '...' });
    const page = await env.open('/new');
    await page.frameLocator('iframe').getByText('At home').waitFor();
    await page.goto(`${env.proxy.url}/ui/#/costs`);
    await page.frameLocator('iframe').getByText('Beside the costs').waitFor();
    await page.goto(`${env.proxy.url}/ui/#/extensions/three-dots?tab=preview`);
    await page.frameLocator('iframe').getByText('seen ...').waitFor();
  });

  test('a static app is shown in a frame', async () => {
    const path = await env.backend.write({ path: 'hello/index.html', text: '<h1>Hello from the app</h1>' });
    await env.api('POST', '/extensions', {
      type: 'app',
      name: 'hello',
      description: 'd',
      enabled: true,
      definition: { type: 'static', path: path.replace('/index.html', '') },
    });
    const page = await env.open('/apps');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.frameLocator('iframe').getByText('Hello from the app').waitFor();
  });

  test('a pairing code is shown as a QR code', async () => {
    const page = await env.open('/system');
    await page.getByRole('button', { name: 'Show a code' }).click();
    await page.getByRole('img', { name: 'QR code that pairs a phone' }).waitFor();
    await page.getByText(/^\d{6}$/).waitFor();
  });

  test('notifications blocked by the browser are shown as off', async () => {
    const page = await env.open('/system');
    const box = page.getByRole('checkbox', { name: /Notify me when an answer is ready/ });
    await box.click();
    await page.getByText('The browser blocked notifications.').waitFor();
    assert.equal(await box.isChecked(), false);
  });
}
