import assert from 'node:assert/strict';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { eventually, missing, repository, withGateway, choose } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const field = (page, name) => page.getByRole('textbox', { name, exact: true });

  test('an integration is created by choosing its kind first, and shows what it offers', async () => {
    const page = await env.open('/extensions/+new?type=integration');
    await page.getByRole('radio', { name: /MCP server, started here/ }).waitFor();
    assert.equal(await field(page, 'Command').count(), 0);
    await page.getByRole('radio', { name: /MCP server, started here/ }).check();
    assert.equal(await field(page, 'URL').count(), 0);
    await page.getByRole('textbox', { name: /^Name/ }).fill('stub-server');
    await field(page, 'Description').fill('A server of the tests');
    await field(page, 'Command').fill('/usr/bin/python3');
    await field(page, 'Arguments').fill(`${repository}/tests/api/stubs/mcp_server.py`);
    await page.getByRole('button', { name: 'Save' }).click();
    const connection = page.getByRole('region', { name: 'Connection' });
    await connection.getByText(/Connected, \d+ tools/).waitFor();
    await connection.getByText('What agents can call').click();
    await connection.getByText('echo', { exact: true }).waitFor();
    await connection.getByRole('button', { name: 'Test' }).click();
    await connection.getByText(/Connected, \d+ tools/).waitFor();
    await page.goto(`${env.proxy.url}/ui/#/extensions?type=integration`);
    await page
      .getByRole('row', { name: /stub-server/ })
      .getByText(/Connected, \d+ tools/)
      .waitFor();
  });

  test('the choice that decides the fields of a form comes first', async () => {
    /** The labels of a form's fields, in order. */
    const labels = (page) =>
      page
        .locator('form')
        .filter({ has: page.getByRole('button', { name: 'Save' }) })
        .locator('legend, label:not(fieldset.kinds label), summary')
        .allInnerTexts();
    const page = await env.open('/jobs/+new');
    await page.getByRole('combobox', { name: 'When' }).waitFor();
    assert.match((await labels(page))[0], /^Schedule/);
    for (const type of ['integration', 'action', 'app']) {
      await page.evaluate((hash) => (location.hash = hash), `#/extensions/+new?type=${type}`);
      await page.getByRole('radio', { name: /MCP server at an address|HTTP request|Static files/ }).waitFor();
      const [kind, name] = await labels(page);
      assert.deepEqual([kind, name.split('\n')[0].trim()], ['Kind', 'Name'], type);
    }
    await page.getByRole('radio', { name: /Static files/ }).check();
    await field(page, 'Path').waitFor();
    assert.equal(await field(page, 'Command').count(), 0);
    await page.getByRole('radio', { name: /Python/ }).check();
    await field(page, 'Command').waitFor();
    assert.ok(await page.getByRole('spinbutton', { name: 'Port' }).isHidden());
  });

  test('the text of a file on disk is kept while another view is shown, in all tabs, until it is saved or discarded', async () => {
    const definition = { systemPrompt: 'old' };
    await env.api('POST', '/extensions', { type: 'agent', name: 'kept-on-disk', description: 'd', definition });
    const one = await env.open('/extensions/kept-on-disk?tab=files');
    const two = await one.context().newPage();
    await two.goto(one.url());
    const config = (page) => page.getByRole('textbox', { name: 'Configuration on disk' });
    const shown = (page, text) => eventually(async () => assert.equal(await config(page).inputValue(), text));
    await config(two).waitFor();
    const text = await config(one).inputValue();
    await config(one).fill('{"half');
    await shown(two, '{"half');
    await one.evaluate(() => (location.hash = '#/costs'));
    await one.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    await one.goBack();
    await one.getByText('You have unsaved changes').waitFor();
    await shown(one, '{"half');
    await one.getByRole('button', { name: 'Discard changes' }).click();
    for (const page of [one, two]) await shown(page, text);
    await config(two).fill(text.replace('old', 'new'));
    await shown(one, text.replace('old', 'new'));
    await two.getByRole('button', { name: 'Replace the file' }).click();
    await two.getByText('Saved to disk').waitFor();
    await one.reload();
    await eventually(async () => assert.match(await config(one).inputValue(), /"new"/));
    assert.equal(await one.getByText('You have unsaved changes').count(), 0);
  });

  test('an integration that does not work shows the reason', async () => {
    await env.api('POST', '/extensions', {
      type: 'integration',
      name: 'nowhere',
      description: 'd',
      enabled: true,
      definition: { kind: 'mcp-stdio', command: '/nowhere/at-all' },
    });
    const page = await env.open('/extensions/nowhere');
    const connection = page.getByRole('region', { name: 'Connection' });
    await connection.getByRole('button', { name: 'Test' }).click();
    const status = await eventually(async () => {
      const text = await connection.getByRole('status').textContent();
      assert.match(text, /nowhere/);
      return text;
    });
    assert.doesNotMatch(status, /Connected/);
  });

  test('views of integrations send no requests while nothing changes', async () => {
    const name = 'quiet';
    const definition = { kind: 'mcp-stdio', command: '/nowhere/quiet' };
    await env.api('POST', '/extensions', { type: 'integration', name, description: 'd', enabled: true, definition });
    for (const route of [`/extensions/${name}`, '/extensions?type=integration']) {
      const page = await env.open(route);
      await page.getByText('/nowhere/quiet').first().waitFor();
      await page.waitForLoadState('networkidle');
    }
  });

  test('tools, skills and agents are chosen by name', async () => {
    await env.backend.write({
      path: '.agent-gateway/skills/pdf/SKILL.md',
      text: '---\nname: pdf\ndescription: Fills forms\n---\nDo it.\n',
    });
    const page = await env.open('/extensions/+new?type=agent');
    const tools = page.getByRole('combobox', { name: 'Tools' });
    await tools.fill('Read');
    await tools.press('Enter');
    await tools.fill('Glob, Grep');
    await tools.press('Enter');
    await page.getByRole('button', { name: 'Remove Glob' }).click();
    assert.deepEqual(await page.locator('.names').first().locator('.badge').allInnerTexts(), ['Read', 'Grep']);
    await page.getByText('Advanced').click();
    const skills = page.getByRole('combobox', { name: 'Skills' });
    await skills.click();
    const offered = page.getByRole('listbox', { name: 'Suggestions' });
    await offered.getByRole('option', { name: /^pdf/ }).click();
    await page.getByRole('button', { name: 'Remove pdf' }).waitFor();
    await offered.waitFor({ state: 'detached' });
    await tools.fill('web');
    await offered.getByRole('option', { name: /^WebSearch/ }).waitFor();
    assert.equal(await offered.getByRole('option', { name: /^Glob/ }).count(), 0);
    await tools.press('ArrowUp');
    await tools.press('Enter');
    await page.getByRole('button', { name: 'Remove WebSearch' }).waitFor();
    assert.equal(await tools.inputValue(), '');
    await tools.press('ArrowDown');
    await offered.waitFor();
    await tools.press('Escape');
    await offered.waitFor({ state: 'detached' });
    await page.goto(`${env.proxy.url}/ui/#/jobs/+new`);
    await choose(page.getByRole('combobox', { name: 'Agent (required)' }), 'assistant');
  });

  test('the event of a job is suggested or typed, and its time zone chosen', async () => {
    const page = await env.open('/jobs/+new');
    const event = page.getByRole('combobox', { name: 'Event', exact: true });
    await choose(page.getByRole('combobox', { name: 'When' }), 'After an event');
    assert.equal(await event.inputValue(), 'job.failed');
    await event.click();
    // All events are suggested, not only those that match the current value.
    const offered = page.getByRole('listbox', { name: 'Suggestions' });
    await offered.getByRole('option', { name: 'proposal.applied' }).waitFor();
    const [field, list] = [await event.boundingBox(), await offered.boundingBox()];
    assert.ok(list.y >= field.y + field.height || list.y + list.height <= field.y, 'the list covers its field');
    await event.fill('created');
    await offered.getByRole('option', { name: 'thread.created' }).click();
    assert.equal(await event.inputValue(), 'thread.created');
    await event.fill('mine.alone');
    await offered.waitFor({ state: 'detached' });
    await choose(page.getByRole('combobox', { name: 'When' }), 'At set times');
    await page.getByRole('combobox', { name: 'Time zone' }).click();
    await page.getByRole('combobox', { name: 'Search the list' }).fill('berl');
    await page.keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Time zone' }).getByText('Europe/Berlin').waitFor();
    assert.equal(await page.locator('datalist').count(), 0);
  });

  test('a job begins with an example', async () => {
    const page = await env.open('/jobs/+new');
    await page.getByRole('button', { name: 'Morning summary' }).click();
    assert.equal(await page.getByRole('textbox', { name: /^Name/ }).inputValue(), 'morning-summary');
    await page.getByText(/At 08:00.*Monday through Friday/).waitFor();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'morning-summary' }).waitFor();
    const [job] = (await env.api('GET', '/jobs')).filter(({ name }) => name === 'morning-summary');
    assert.equal(job.schedule, '0 8 * * 1-5');
  });

  test('an error in a field under Advanced opens it', async () => {
    const page = await env.open('/jobs/+new');
    await page.getByRole('button', { name: 'Weekly review' }).click();
    await page.getByText('Advanced').click();
    await page.getByRole('spinbutton', { name: 'Timeout (s)' }).fill('-5');
    await page.getByText('Advanced').click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('must be more than 0').waitFor();
    assert.ok(await page.getByRole('spinbutton', { name: 'Timeout (s)' }).isVisible());
  });

  test('the values of another kind stay in the definition', async () => {
    await env.api('POST', '/extensions', {
      type: 'action',
      name: 'both',
      description: 'd',
      definition: { kind: 'shell', command: 'true', note: 'mine' },
    });
    const page = await env.open('/extensions/both');
    await page.getByRole('radio', { name: /HTTP request/ }).check();
    await field(page, 'URL').fill('https://example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    const { definition } = await env.api('GET', '/extensions/both');
    assert.deepEqual(definition, { kind: 'http', command: 'true', note: 'mine', url: 'https://example.com' });
  });

  for (const width of [1280, 390])
    test(`forms are accessible and fit (${width} px)`, async () => {
      const page = await env.open('/extensions/+new?type=integration', { viewport: { width, height: 800 } });
      await page.getByRole('radio', { name: /Messenger/ }).check();
      await page.getByText('Advanced').click();
      await expectAccessible(page);
    });

  test('a definition that names something twice can be edited', async () => {
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'doubled',
      description: 'Made by hand',
      enabled: true,
      definition: { tools: ['Read', 'Read', 'Glob'], fallback_models: ['stub/talker-1', 'stub/talker-1'] },
    });
    const page = await env.open('/agents/doubled?tab=definition');
    await page.getByRole('button', { name: 'Remove Glob' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Remove Read' }).count(), 1);
    await page.getByText(/^Advanced/).click();
    assert.equal(await page.getByRole('button', { name: 'Remove stub/talker-1' }).count(), 1);
  });
}
