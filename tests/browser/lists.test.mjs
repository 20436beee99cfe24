import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, message, missing, withGateway } from './environment.mjs';

const phone = { width: 390, height: 844 };

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  test('a chat deleted in one tab disappears from the other', async () => {
    const { id } = await env.thread({ title: 'Short-lived' });
    const one = await env.open(`/t/${id}`);
    const two = await one.context().newPage();
    await two.goto(`${env.proxy.url}/ui/#/t/${id}`);
    for (const page of [one, two]) await page.getByRole('heading', { level: 1, name: 'Short-lived' }).waitFor();
    await two
      .locator('aside')
      .getByRole('link', { name: /Short-lived/ })
      .waitFor();
    await message(two).fill('half written');
    await one.getByRole('button', { name: 'Delete chat' }).click();
    await one.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await two.getByText('This chat does not exist or was deleted.').waitFor();
    await eventually(async () =>
      assert.equal(
        await two
          .locator('aside')
          .getByRole('link', { name: /Short-lived/ })
          .count(),
        0,
      ),
    );
    assert.equal(await message(two).inputValue(), 'half written');
  });

  test('the time of a chat stays on one line next to a long name and a mark', async () => {
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'a-name-that-is-longer-than-the-list-of-chats-is-wide',
      description: 'd',
      enabled: true,
      definition: {},
    });
    const { id } = await env.thread({
      agent_id: 'a-name-that-is-longer-than-the-list-of-chats-is-wide',
      title: 'Narrow',
    });
    const page = await env.open('/chats');
    const row = page.getByRole('link', { name: /^Narrow/ });
    await row.waitFor();
    await env.backend.reply({ text: 'Yes.' });
    await env.api('POST', '/chat', { threadId: id, content: 'Well?' });
    await row.getByText('new answer').waitFor();
    const lines = await row.locator('time').evaluate((time) => time.getClientRects().length);
    const { height } = await row.locator('time').boundingBox();
    assert.deepEqual([lines, height < 24], [1, true]);
    const { width } = await row.boundingBox();
    const inside = await row.evaluate((link) => link.scrollWidth <= link.clientWidth);
    assert.ok(inside, `the row is ${width} px wide`);
  });

  test('long knowledge categories do not make the page scroll sideways', async () => {
    const head = `---\ntitle: Long\ncategory: ${'w'.repeat(200)}\nsummary: s\n---\n# Long\n`;
    await env.backend.write({ path: '.agent-gateway/knowledge/wiki/long.md', text: head });
    const page = await env.open('/knowledge', { viewport: phone });
    await page.getByText('w'.repeat(200)).waitFor();
    assert.equal(await page.locator('main .view').evaluate((view) => view.scrollWidth - view.clientWidth), 0);
  });

  test('pages of two agents that have the same name are both listed', async () => {
    for (const agent of ['assistant', 'other'])
      await env.backend.write({
        path: `.agent-gateway/agents/${agent}/knowledge/same-name.md`,
        text: `---\ntitle: Of ${agent}\n---\nText.\n`,
      });
    const page = await env.open('/knowledge');
    for (const title of ['Of assistant', 'Of other']) await page.getByRole('link', { name: title }).waitFor();
  });

  test('opening a view or an item by keyboard focuses its heading', async () => {
    const page = await env.open('/chats');
    const held = () =>
      page.evaluate(() => `${document.activeElement.tagName} ${document.activeElement.textContent.trim()}`);
    await page.getByRole('link', { name: 'Jobs', exact: true }).press('Enter');
    await eventually(async () => assert.equal(await held(), 'H1 Jobs'));
    await page.getByRole('link', { name: 'compile-knowledge' }).press('Enter');
    await eventually(async () => assert.equal(await held(), 'H1 compile-knowledge'));
    await page.getByRole('link', { name: 'All jobs' }).press('Enter');
    await eventually(async () => assert.equal(await held(), 'H1 Jobs'));
  });

  test('every list shows why it cannot be loaded', async () => {
    const page = await env.open('/system');
    await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
    env.allowedErrors.push(/status of 500/);
    await page.route(
      (url) => !url.pathname.startsWith('/ui'),
      (route) => route.fulfill({ status: 500, json: { error: 'the disk is on fire' } }),
    );
    for (const route of [
      '/chats',
      '/inbox',
      '/jobs',
      '/agents',
      '/extensions',
      '/knowledge',
      '/experiments',
      '/costs',
      '/apps',
      '/system',
      '/search?q=hello',
    ]) {
      await page.goto(`${env.proxy.url}/ui/?${encodeURIComponent(route)}#${route}`);
      await page
        .locator('main')
        .getByText('the disk is on fire')
        .first()
        .waitFor()
        .catch(() => assert.fail(route));
      await page.locator('main').getByRole('button', { name: 'Retry' }).first().waitFor();
    }
  });

  test('an extension deleted elsewhere is reported, and the typed text kept', async () => {
    await env.api('POST', '/extensions', {
      type: 'command',
      name: 'short-lived',
      description: 'x',
      definition: { prompt: 'x' },
    });
    const page = await env.open('/extensions/short-lived');
    await page.getByLabel('Description').fill('written here');
    await env.api('DELETE', '/extensions/short-lived');
    await page.getByText('extension not found').waitFor();
    assert.equal(await page.getByLabel('Description').inputValue(), 'written here');
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await save.click();
    await page.getByText('This was deleted elsewhere. Saving creates it again.').waitFor();
    await save.click();
    await page.getByRole('status').getByText('Saved.').waitFor();
    assert.equal((await env.api('GET', '/extensions/short-lived')).description, 'written here');
  });

  test('more than a thousand chats can all be reached from the list', async () => {
    const page = await env.open('/system');
    await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
    const thread = await env.thread({ title: 'One of many' });
    const all = Array.from({ length: 1003 }, (_, i) => ({ ...thread, id: `chat-${i}`, title: `chat ${i}` }));
    await page.route(
      (url) => url.pathname === '/threads',
      (route) => {
        const limit = new URL(route.request().url()).searchParams.get('limit');
        return route.fulfill({ json: limit ? all.slice(0, Number(limit)) : all });
      },
    );
    await page.goto(`${env.proxy.url}/ui/?many#/chats?q=1002`);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page
      .locator('aside')
      .getByRole('link', { name: /chat 1002/ })
      .waitFor();
    assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0);
  });

  test('projects changed elsewhere are updated when the page becomes visible', async () => {
    const path = await env.backend.write({ path: 'meadow/readme.md', text: 'x' });
    const page = await env.open('/projects');
    await page.getByText('No projects yet').waitFor();
    const project = await env.api('POST', '/projects', { name: 'Meadow', path: path.replace('/readme.md', '') });
    const showPage = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await showPage();
    await page.getByRole('heading', { name: 'Meadow' }).waitFor();
    await env.thread({ title: 'Mowing', project_id: project.id });
    await page.getByRole('link', { name: 'Chats', exact: true }).click();
    await page.locator('aside').getByRole('heading', { name: 'Meadow' }).waitFor();
    await env.api('PATCH', `/projects/${project.id}`, { name: 'Pasture' });
    await showPage();
    await page.locator('aside').getByRole('heading', { name: 'Pasture' }).waitFor();
    await env.api('DELETE', `/projects/${project.id}`);
  });

  test('renaming an older chat by keyboard keeps the focus on it, although it moves', async () => {
    await env.thread({ title: 'Long ago' });
    for (const title of ['Once', 'Then', 'Since', 'Again', 'Soon', 'Lately']) await env.thread({ title });
    const page = await env.open('/chats');
    const rows = page.locator('aside li');
    await rows.filter({ hasText: 'Lately' }).waitFor();
    await page.getByRole('button', { name: 'Rename Long ago' }).press('Enter');
    await page.getByRole('textbox', { name: 'Title' }).fill('Just now');
    await page.keyboard.press('Enter');
    const route = async (title) => (await rows.allTextContents()).findIndex((text) => text.includes(title));
    await eventually(async () => assert.equal(await route('Just now'), (await route('Lately')) - 1));
    await eventually(async () =>
      assert.match(await page.evaluate(() => document.activeElement.textContent.trim()), /^Just now/),
    );
  });

  test('a hidden list does not load projects, and a visible one reloads them after a reconnection', async () => {
    const path = await env.backend.write({ path: 'orchard/readme.md', text: 'x' });
    const project = await env.api('POST', '/projects', { name: 'Orchard', path: path.replace('/readme.md', '') });
    await env.thread({ title: 'In the orchard', project_id: project.id });
    const page = await env.open('/new', { viewport: { width: 390, height: 800 } });
    let requests = 0;
    page.on('request', (request) => (requests += new URL(request.url()).pathname === '/projects'));
    const read = page.waitForResponse(/\/threads\?/);
    await page.reload();
    await read;
    await message(page).waitFor();
    await page.evaluate(() => new Promise((settled) => setTimeout(settled, 50)));
    assert.equal(requests, 0);
    await page.evaluate(() => (location.hash = '#/chats'));
    await page.getByRole('heading', { name: 'Orchard' }).waitFor();
    const before = requests;
    env.proxy.cut();
    await eventually(() => assert.ok(requests > before));
  });

  test('leaving the view or searching clears the filter of the list', async () => {
    const { id } = await env.thread({ title: 'A chat about medians' });
    const page = await env.open(`/t/${id}`);
    const words = page.getByRole('searchbox', { name: 'Search' });
    const row = page.getByRole('complementary').getByRole('link', { name: /A chat about medians/ });
    await row.waitFor();
    await words.fill('quartile');
    await page.getByText('No matching chats.').waitFor();
    await words.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor();
    await page.goBack();
    await row.waitFor();
    assert.equal(await words.inputValue(), '');
    await words.fill('quartile');
    await page.getByText('No matching chats.').waitFor();
    await page.getByRole('link', { name: 'Costs' }).click();
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    await page.goBack();
    await row.waitFor();
  });
}
