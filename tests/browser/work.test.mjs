import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { answers, eventually, message, missing, say, withStage } from './stage.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const it = withStage();

  async function proposes(name, { title = name, target = `knowledge/wiki/${name}.md`, content = '# New\n\nText.\n' } = {}) {
    const head = `---\ntitle: ${title}\ntype: knowledge\nagent: assistant\ntarget: ${target}\nstatus: pending\ncreated_at: 2026-01-02T03:04:05.678Z\nreason: It was missing.\n---\n`;
    await it.stage.write({ path: `.agent-gateway/autoresearch/proposals/assistant/2026-01-02/${name}.md`, text: head + content });
  }

  test('a proposal is read as a diff and applied from the inbox', async () => {
    await proposes('first');
    const page = await it.open('/inbox');
    await page.getByText('It was missing.').waitFor();
    await page.getByText('+added# New').or(page.getByText('# New')).first().waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await eventually(() => assert.equal(readFileSync(`${it.data}/knowledge/wiki/first.md`, 'utf8').includes('# New'), true));
    await page.getByText('Nothing waits for you').waitFor();
  });

  test('a proposal is edited before it is applied', async () => {
    await proposes('second');
    const page = await it.open('/inbox');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('textbox', { name: 'New content' }).fill('# Better\n');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await eventually(() => assert.match(readFileSync(`${it.data}/knowledge/wiki/second.md`, 'utf8'), /# Better/));
  });

  test('a proposal is rejected with a reason, by keys alone', async () => {
    await proposes('third');
    await proposes('fourth');
    const page = await it.open('/inbox');
    const rows = page.getByRole('list', { name: /Proposals/ }).getByRole('button');
    await rows.first().focus();
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('r');
    await page.keyboard.type('not now');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await rows.count(), 1));
    const [experiment] = await it.api('GET', '/autoresearch/experiments?limit=1');
    assert.deepEqual([experiment.verdict, experiment.reason], ['discard', 'not now']);
    assert.equal(existsSync(`${it.data}/knowledge/wiki/third.md`) && existsSync(`${it.data}/knowledge/wiki/fourth.md`), false);
  });

  /** Holds answers back until they are let go. */
  async function holdBack(page, url) {
    const held = [];
    let free = false;
    await page.route(url, (route) => (free ? route.continue() : held.push(route)));
    return {
      asked: () => eventually(() => assert.ok(held.length)),
      letGo: () => {
        free = true;
        return Promise.all(held.map((route) => route.continue()));
      },
    };
  }

  test('what is typed after r is the reason, although the proposal is still being read', async () => {
    await proposes('slow');
    const page = await it.open();
    const reading = await holdBack(page, '**/proposals/assistant/2026-01-02/slow');
    await page.goto(`${it.line.url}/ui/#/inbox/assistant/2026-01-02/slow`);
    await page.getByRole('list', { name: /Proposals/ }).getByRole('button', { name: /slow/ }).focus();
    await page.keyboard.press('r');
    await page.keyboard.type('a jarring idea');
    await reading.asked();
    await reading.letGo();
    await page.getByText('It was missing.').waitFor();
    await page.keyboard.press('Enter');
    await eventually(async () => {
      const [experiment] = await it.api('GET', '/autoresearch/experiments?limit=1');
      assert.deepEqual([experiment.verdict, experiment.reason], ['discard', 'a jarring idea']);
    });
  });

  test('the proposal of the address is not shown twice while the list of all is still being read', async () => {
    await proposes('steady');
    const page = await it.open();
    let reads = 0;
    page.on('request', (request) => (reads += request.url().endsWith('/2026-01-02/steady')));
    const listing = await holdBack(page, /\/proposals(\?|$)/);
    await page.goto(`${it.line.url}/ui/#/inbox/assistant/2026-01-02/steady`);
    await listing.asked();
    assert.equal(await page.getByText('It was missing.').count(), 0);
    await listing.letGo();
    await page.getByText('It was missing.').waitFor();
    assert.equal(reads, 1);
    await it.api('POST', '/proposals/assistant/2026-01-02/steady/reject', {});
  });

  test('comments on lines of a proposal go into the reason', async () => {
    await proposes('commented');
    const page = await it.open('/inbox/assistant/2026-01-02/commented');
    await page.getByRole('button', { name: 'Comment on line 1' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Which text?');
    await page.keyboard.press('Enter');
    await page.getByRole('list', { name: 'Comments' }).getByText('line 3: Text. — Which text?').waitFor();
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    await page.getByRole('textbox', { name: /Why not/ }).fill('Too short');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Decided proposal' }).getByText('Rejected.').waitFor();
    const [experiment] = await it.api('GET', '/autoresearch/experiments?limit=1');
    assert.equal(experiment.reason, 'Too short\nline 3: Text. — Which text?');
  });

  test('one that was decided elsewhere meanwhile is a calm note', async () => {
    await it.api('GET', '/proposals').then((all) => Promise.all(all.map(({ agent, date, name }) => it.api('POST', `/proposals/${agent}/${date}/${name}/reject`, {}))));
    await proposes('fifth');
    const page = await it.open('/inbox');
    await page.getByRole('button', { name: 'Apply', exact: true }).waitFor();
    await page.route('**/apply', async (route) => {
      await it.api('POST', '/proposals/assistant/2026-01-02/fifth/reject', {});
      await route.continue();
    });
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText(/Nothing to do: proposal already rejected/).waitFor();
  });

  test('a job is made with its schedule in words, run, and run dry', async () => {
    const page = await it.open('/jobs/new');
    await page.getByRole('textbox', { name: 'Name' }).fill('tidy-up');
    await page.getByRole('textbox', { name: 'Description' }).fill('Tidies up');
    await page.getByRole('combobox', { name: 'When' }).selectOption('cron');
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 9 * * 1');
    await page.getByText(/At 09:00.*Monday/).waitFor();
    await page.getByRole('textbox', { name: 'Prompt', exact: true }).fill('Tidy up.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'tidy-up' }).waitFor();
    await it.stage.reply({ text: 'All tidy.' });
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'done' }).first().waitFor();
    await it.stage.reply({ text: 'Would tidy.' });
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('row').filter({ hasText: 'done (dry)' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'done (dry)' }).getByRole('link', { name: 'output' }).click();
    await answers(page).getByText('Would tidy.').waitFor();
  });

  test('a cron expression that cannot be says why while it is typed', async () => {
    const page = await it.open('/jobs/new');
    await page.getByRole('combobox', { name: 'When' }).selectOption('cron');
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 9');
    await page.getByText(/needs 5 fields/).waitFor();
  });

  test('the times of a schedule are those of what was typed last, whatever is answered first', async () => {
    const page = await it.open('/jobs/new');
    await page.getByRole('combobox', { name: 'When' }).selectOption('cron');
    let late;
    const last = new Promise((done) => (late = done));
    let answered;
    const first = new Promise((done) => (answered = done));
    await page.route('**/cron?expression=0+5*', async (route) => {
      await last;
      await route.continue();
      answered();
    });
    const asked = page.waitForRequest(/cron\?expression=0\+5/);
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 5 * * *');
    await asked;
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 23 * * *');
    await page.getByText(/23:00/).first().waitFor();
    const response = page.waitForResponse(/cron\?expression=0\+5/);
    late();
    await Promise.all([first, response]);
    await page.evaluate(() => new Promise((settled) => setTimeout(settled)));
    assert.equal(await page.getByText(/05:00/).count(), 0);
  });

  test('the words of a schedule are those of its times, also where it is typed on before they come', async () => {
    const page = await it.open('/jobs/new');
    await page.getByRole('combobox', { name: 'When' }).selectOption('cron');
    const words = await holdBack(page, '**/cron_words*');
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 5 * * *');
    await words.asked();
    await page.route('**/cron?expression=0+23*', () => {});
    const next = page.waitForRequest(/cron\?expression=0\+23/);
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 23 * * *');
    await words.letGo();
    await next;
    assert.equal(await page.getByText('At 23:00').count(), 0);
    await page.unrouteAll();
  });

  test('the times of a schedule are shown where their words cannot be fetched', async () => {
    const page = await it.open('/jobs/new');
    await page.route('**/cron_words*', (route) => route.abort());
    await page.getByRole('combobox', { name: 'When' }).selectOption('cron');
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 5 * * *');
    await page.locator('[aria-live=polite] time').first().waitFor();
  });

  test('an agent’s stage is changed with a reason, and its table of permissions follows', async () => {
    await it.api('POST', '/extensions', { type: 'agent', name: 'writer', description: 'Writes', enabled: true, definition: { systemPrompt: 'Write.' } });
    const page = await it.open('/agents/writer');
    const bash = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'Bash' }) });
    await bash.getByText('not allowed').first().waitFor();
    await page.getByRole('combobox', { name: 'Change to' }).selectOption('operator');
    await page.getByRole('textbox', { name: 'Because' }).fill('It has earned it');
    await page.getByRole('button', { name: 'Change stage' }).click();
    await bash.getByText('✓ allowed').waitFor();
    await page.getByText('It has earned it').waitFor();
  });

  test('a soul is written', async () => {
    const page = await it.open('/agents/assistant?tab=identity');
    await page.getByRole('textbox', { name: 'Own soul' }).fill('Be kind.');
    await page.getByRole('button', { name: 'Save own soul' }).click();
    await eventually(async () => assert.equal((await it.api('GET', '/agents/assistant/soul')).content, 'Be kind.'));
  });

  test('what the gateway refuses stands at its field', async () => {
    const page = await it.open('/extensions/new?type=capability');
    await page.getByRole('textbox', { name: 'Name' }).fill('odd');
    await page.getByRole('textbox', { name: 'Description' }).fill('d');
    await page.getByRole('button', { name: 'Raw' }).click();
    await page.getByRole('textbox', { name: 'Definition as JSON' }).fill('{"tools": "Read"}');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('definition.tools must be an array').waitFor();
    await page.getByRole('button', { name: 'Form' }).click();
    await page.getByText('must be an array', { exact: true }).waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Tools' }).getAttribute('aria-invalid'), 'true');
    await page.getByRole('button', { name: 'Raw' }).click();
    await page.getByRole('textbox', { name: 'Definition as JSON' }).fill('{"tools": ["Read", 1]}');
    await page.getByRole('button', { name: 'Form' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('[1] must be a string').waitFor();
  });

  test('a change made elsewhere meanwhile is never overwritten unseen', async () => {
    const command = await it.api('POST', '/extensions', { type: 'command', name: 'shared-one', description: 'd', definition: { prompt: 'old', unknown: 1 } });
    const page = await it.open('/extensions/shared-one');
    await page.getByRole('textbox', { name: /Prompt/ }).fill('mine');
    await it.api('PATCH', `/extensions/${command.id}`, { definition: { prompt: 'theirs', unknown: 1 } });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('It was changed elsewhere').waitFor();
    await page.getByRole('button', { name: 'Save mine over it' }).click();
    await eventually(async () => assert.deepEqual((await it.api('GET', `/extensions/${command.id}`)).definition, { prompt: 'mine', unknown: 1 }));
  });

  test('the palette goes to threads, pages and extensions', async () => {
    await it.thread({ title: 'A very special thread' });
    const page = await it.open('/inbox');
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to or do' }).fill('very special');
    await page.getByRole('option').filter({ hasText: 'A very special thread' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'A very special thread' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to or do' }).fill('costs');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
  });

  test('the palette finds what was said', async () => {
    const { id } = await it.thread({ title: 'Fruit' });
    await it.api('POST', `/threads/${id}/turns`, { role: 'user', content: 'nothing beats a clementine' });
    const page = await it.open('/inbox');
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Go to or do' }).fill('clementine');
    await page.getByRole('option').filter({ hasText: 'nothing beats' }).click();
    await page.locator('article.found').getByText('clementine').waitFor();
  });

  test('the list of chats is by project, and its filter is part of the address', async () => {
    const path = await it.stage.write({ path: 'orchard/readme.md', text: 'x' });
    const project = await it.api('POST', '/projects', { name: 'Orchard', path: path.replace('/readme.md', '') });
    await it.thread({ title: 'Pruning', project_id: project.id });
    await it.thread({ title: 'Elsewhere' });
    const page = await it.open('/chats');
    const list = page.locator('aside');
    await list.getByRole('heading', { name: 'Orchard' }).waitFor();
    await list.getByText('Filter').click();
    await list.getByRole('combobox', { name: 'Project' }).selectOption('Orchard');
    await eventually(async () => assert.equal(await list.getByRole('link').count(), 1));
    await page.reload();
    await list.getByRole('link', { name: /Pruning/ }).waitFor();
    assert.equal(await list.getByRole('link').count(), 1);
  });

  test('the chat below is reached before the list was shown, and one that was deleted is passed', async () => {
    // Chats of the project that was talked in last stand first.
    const path = await it.stage.write({ path: 'meadow/readme.md', text: 'x' });
    const project = await it.api('POST', '/projects', { name: 'Meadow', path: path.replace('/readme.md', '') });
    await it.thread({ title: 'Second of all', project_id: project.id });
    const { id } = await it.thread({ title: 'First of all', project_id: project.id });
    const page = await it.open('/costs');
    const read = page.waitForResponse(/\/threads\?/);
    await page.reload();
    await read;
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    await page.keyboard.press('Alt+ArrowDown');
    await page.getByRole('heading', { level: 1, name: 'First of all' }).waitFor();
    await page.evaluate(() => (location.hash = '#/costs'));
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${it.line.url}/ui/#/t/${id}`);
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
    const { id } = await it.thread({ title: 'Old name' });
    const page = await it.open('/chats');
    await page.getByRole('link', { name: /Old name/ }).hover();
    await page.getByRole('button', { name: 'Rename Old name' }).click();
    await page.getByRole('textbox', { name: 'Title' }).fill('New name');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: /New name/ }).waitFor();
    await eventually(async () => assert.equal((await it.api('GET', `/threads/${id}`)).title, 'New name'));
  });

  test('search finds a turn and opens its thread at it', async () => {
    const { id } = await it.thread({ title: 'Haystack' });
    await it.api('POST', `/threads/${id}/turns`, { role: 'user', content: 'the needle is a pomegranate' });
    for (let i = 0; i < 60; i++) await it.api('POST', `/threads/${id}/turns`, { role: 'user', content: `hay ${i}` });
    const page = await it.open('/chats');
    await page.getByRole('searchbox', { name: 'Search' }).fill('pomegranate');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Haystack' }).click();
    await page.locator('article.found').getByText('pomegranate').waitFor();
  });

  test('commands are offered behind a slash, files behind an at sign', async () => {
    const path = await it.stage.write({ path: 'notes/quince.txt', text: 'x' });
    const page = await it.open('/new');
    await message(page).fill('/pl');
    await page.getByRole('option', { name: /\/plan/ }).waitFor();
    await message(page).press('Enter');
    assert.equal(await message(page).inputValue(), '/plan ');
    await message(page).fill('Read @quin');
    await page.getByRole('option', { name: /quince.txt/ }).click();
    assert.equal(await message(page).inputValue(), `Read ${path} `);
  });

  test('a plan is approved with one button: the thread acts', async () => {
    const page = await it.open('/new');
    await it.stage.reply({ text: '1. Look\n2. Do\n3. Check' });
    await say(page, 'Plan it');
    await it.stage.reply({ text: 'It is done.' });
    await page.getByRole('button', { name: 'Approve and act' }).click();
    await answers(page).getByText('It is done.').waitFor();
    const id = page.url().split('/t/')[1];
    assert.equal((await it.api('GET', `/threads/${id}`)).mode, 'act');
  });

  test('a plan that is approved is carried out in its own chat, whatever is shown by then', async () => {
    const other = await it.thread({ title: 'Not this one' });
    const page = await it.open('/new');
    await it.stage.reply({ text: '1. Look\n2. Do' });
    await say(page, 'Plan it here');
    await page.getByRole('button', { name: 'Approve and act' }).waitFor();
    const id = page.url().split('/t/')[1];
    const change = await holdBack(page, `**/threads/${id}`);
    await page.getByRole('button', { name: 'Approve and act' }).click();
    await change.asked();
    await page.evaluate((hash) => (location.hash = hash), `#/t/${other.id}`);
    await page.getByRole('heading', { level: 1, name: 'Not this one' }).waitFor();
    const sent = page.waitForRequest('**/chat');
    await change.letGo();
    assert.equal((await sent).postDataJSON().threadId, id);
  });

  test('a plan whose approval is refused is not carried out', async () => {
    const page = await it.open('/new');
    await it.stage.reply({ text: '1. Look\n2. Do' });
    await say(page, 'Plan this');
    await page.getByRole('button', { name: 'Approve and act' }).waitFor();
    await page.route('**/threads/*', (route) => (route.request().method() === 'PATCH' ? route.fulfill({ status: 409, json: { error: 'not now' } }) : route.continue()));
    await page.getByRole('button', { name: 'Approve and act' }).click();
    await page.getByText('not now').waitFor();
    assert.equal((await it.turns(page.url().split('/t/')[1])).length, 2);
  });

  async function newChatThatActs() {
    const page = await it.open('/new');
    await page.getByText('Act', { exact: true }).click();
    return page;
  }

  test('a tool’s call is a card with its state, input and result', async () => {
    const page = await newChatThatActs();
    await it.stage.reply({ text: 'Let me look.', tool_calls: [{ name: 'ListExtensions', arguments: { type: 'agent' } }] });
    await it.stage.reply({ text: 'There is one.' });
    await say(page, 'Which agents are there?');
    await answers(page).getByText('There is one.').waitFor();
    const card = answers(page).locator('details').filter({ hasText: 'ListExtensions' });
    await card.getByText('done').waitFor();
    await card.locator('summary').click();
    await card.getByText('answers where nobody else is named').first().waitFor();
    await page.reload();
    await answers(page).getByText('There is one.').waitFor();
    assert.deepEqual(await answers(page).locator('.prose').allInnerTexts(), ['Let me look.', 'There is one.']);
    assert.equal(await answers(page).locator('details').count(), 1);
  });

  test('what an agent stages is a proposal that can be applied in the chat', async () => {
    const page = await newChatThatActs();
    const input = { type: 'knowledge', title: 'Write the plan down', target: 'knowledge/wiki/plan.md', content: '# The plan\n', reason: 'so that it is not lost' };
    await it.stage.reply({ tool_calls: [{ name: 'Propose', arguments: input }] });
    await it.stage.reply({ text: 'I proposed it.' });
    await say(page, 'Write the plan down');
    await answers(page).getByText('I proposed it.').waitFor();
    await answers(page).getByRole('button', { name: 'Apply', exact: true }).click();
    await answers(page).getByText('Applied.').waitFor();
    assert.match(readFileSync(`${it.data}/knowledge/wiki/plan.md`, 'utf8'), /# The plan/);
  });

  test('a call that is denied says what would allow it', async () => {
    const page = await it.open('/new');
    await it.stage.reply({ tool_calls: [{ name: 'ListExtensions', arguments: {} }] });
    await it.stage.reply({ text: 'I may not.' });
    await say(page, 'Which extensions are there?');
    await answers(page).getByText('I may not.').waitFor();
    await answers(page).locator('details').getByText(/denied|failed/).first().waitFor();
    await answers(page).getByRole('link', { name: 'See what assistant may do' }).click();
    await page.getByRole('row').filter({ hasText: 'ListExtensions' }).waitFor();
  });

  test('deleting a turn can be undone', async () => {
    const { id } = await it.thread();
    await it.api('POST', `/threads/${id}/turns`, { role: 'user', content: 'Keep me' });
    const page = await it.open(`/t/${id}`);
    await page.locator('.said').getByText('Keep me').hover();
    await page.getByRole('button', { name: 'Delete message' }).click();
    await page.getByRole('article').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.locator('.said').getByText('Keep me').waitFor();
    assert.equal((await it.turns(id)).length, 1);
  });

  test('System says what there is to look at, and which version it is', async () => {
    const page = await it.open('/system');
    const { info } = await it.api('GET', '/asyncapi.json');
    await page.getByText(`version ${info.version}`).waitFor();
    await page.getByRole('region', { name: 'Check-up' }).getByText('No price is known for').waitFor();
  });

  test('widgets stand where they are placed, and a renderer shows the artifacts of its kind', async () => {
    const make = (type, name, definition) => it.api('POST', '/extensions', { type, name, description: 'd', enabled: true, definition });
    await make('widget', 'home-widget', { placement: 'home', html: '<p>At home</p>' });
    await make('widget', 'costs-widget', { placement: 'costs', html: '<p>Beside the costs</p>' });
    await make('renderer', 'dots', { match: { mime: 'text/x-dots' }, html: '<p id="o"></p><script>addEventListener("gateway", ({ detail }) => (document.getElementById("o").textContent = `seen ${detail.content}`))</script>' });
    await make('artifact', 'three-dots', { mime: 'text/x-dots', content: '...' });
    const page = await it.open('/new');
    await page.frameLocator('iframe').getByText('At home').waitFor();
    await page.goto(`${it.line.url}/ui/#/costs`);
    await page.frameLocator('iframe').getByText('Beside the costs').waitFor();
    await page.goto(`${it.line.url}/ui/#/extensions/three-dots?tab=preview`);
    await page.frameLocator('iframe').getByText('seen ...').waitFor();
  });

  test('a static app is shown in a frame', async () => {
    const path = await it.stage.write({ path: 'hello/index.html', text: '<h1>Hello from the app</h1>' });
    await it.api('POST', '/extensions', { type: 'app', name: 'hello', description: 'd', enabled: true, definition: { type: 'static', path: path.replace('/index.html', '') } });
    const page = await it.open('/apps');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.frameLocator('iframe').getByText('Hello from the app').waitFor();
  });

  test('a pairing code is shown as a QR code', async () => {
    const page = await it.open('/system');
    await page.getByRole('button', { name: 'Show a code' }).click();
    await page.getByRole('img', { name: 'QR code that pairs a phone' }).waitFor();
    await page.getByText(/^\d{6}$/).waitFor();
  });

  test('notifications that the browser does not allow are not shown as wanted', async () => {
    const page = await it.open('/system');
    const box = page.getByRole('checkbox', { name: /Tell me, while this page is hidden/ });
    await box.click();
    await page.getByText('This browser does not let the page show notifications.').waitFor();
    assert.equal(await box.isChecked(), false);
  });
}
