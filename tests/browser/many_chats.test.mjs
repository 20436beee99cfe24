import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, focusedName, holdRequests, measureWork, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const list = (page) => page.getByRole('complementary');
  const titles = (page) => list(page).locator('li .title').allTextContents();

  /** Opens the page with a list of that many chats, faked at the API. */
  async function openMany(count) {
    const thread = await env.thread({ title: 'One of many' });
    const all = Array.from({ length: count }, (_, i) => ({
      ...thread,
      id: `chat-${i}`,
      title: `chat ${i}`,
      updated_at: new Date(Date.now() - i * 600_000).toISOString(),
    }));
    const page = await env.open('/system');
    await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
    await page.route(
      (url) => url.pathname === '/threads',
      (route) => {
        const limit = new URL(route.request().url()).searchParams.get('limit');
        return route.fulfill({ json: limit ? all.slice(0, Number(limit)) : all });
      },
    );
    await page.goto(`${env.proxy.url}/ui/?many#/chats`);
    await list(page).getByText('chat 0', { exact: true }).waitFor();
    return page;
  }

  test('10,000 chats scroll without a long task, and only visible ones are rendered', async () => {
    const page = await openMany(10_000);
    const more = list(page).getByRole('button', { name: 'Show more' });
    await list(page)
      .getByRole('link', { name: /^chat 0 / })
      .press('End');
    await more.click();
    await more.waitFor({ state: 'detached' });
    await list(page).getByRole('list').first().hover();
    // Measures work instead of time, because on a busy machine any task takes long.
    const works = [];
    for (let i = 0; i < 20; i++) {
      const work = await measureWork(page);
      await page.mouse.wheel(0, 3000);
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
      works.push(await work());
    }
    console.log(`# 10,000 chats: ${works.join(', ')} ms of work for 3,000 pixels each`);
    assert.ok(works.sort((a, b) => a - b)[18] < 150, works.join(', '));
    const rows = await list(page).getByRole('listitem').count();
    assert.ok(rows > 5 && rows < 80, `${rows} rows`);
    await list(page).getByRole('link').nth(10).focus();
    await page.keyboard.press('End');
    await list(page).getByText('chat 9999', { exact: true }).waitFor();
    assert.match(await focusedName(page), /chat 9999/);
  });

  test('arrow keys move from chat to chat, across headings', async () => {
    const page = await openMany(300);
    await list(page)
      .getByRole('link', { name: /^chat 0 / })
      .focus();
    for (let i = 0; i < 200; i++) await page.keyboard.press('ArrowDown');
    await eventually(async () => assert.match(await focusedName(page), /chat 200\b/));
    await page.keyboard.press('ArrowUp');
    await eventually(async () => assert.match(await focusedName(page), /chat 199\b/));
    await page.keyboard.press('Home');
    await eventually(async () => assert.match(await focusedName(page), /chat 0\b/));
  });

  test('pinned chats come first, on other devices too, and can be unpinned', async () => {
    await env.thread({ title: 'Shopping list' });
    await env.thread({ title: 'Newer one' });
    const page = await env.open('/chats');
    const other = await env.open('/chats');
    const row = list(page).getByRole('listitem').filter({ hasText: 'Shopping list' });
    await row.hover();
    await row.getByRole('button', { name: 'Pin Shopping list' }).click();
    for (const one of [page, other]) {
      await list(one).getByRole('heading', { name: 'Pinned' }).waitFor();
      await eventually(async () => assert.equal((await titles(one))[0], 'Shopping list'));
    }
    await row.hover();
    await row.getByRole('button', { name: 'Unpin Shopping list' }).click();
    await list(other).getByRole('heading', { name: 'Pinned' }).waitFor({ state: 'detached' });
  });

  test('a title of 10,000 emoji, or of characters that reverse text, stays within its row', async () => {
    const { id } = await env.thread({ title: '\u{1F9A6}'.repeat(10_000) });
    await env.thread({ title: 'safe\u202Egnp.exe' });
    const page = await env.open(`/t/${id}`);
    const row = list(page).getByRole('listitem').filter({ hasText: '\u{1F9A6}\u{1F9A6}' });
    assert.equal((await row.boundingBox()).height, 44);
    await list(page).getByText('safe⟨U+202E⟩gnp.exe').waitFor();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it scrolls sideways');
  });

  test('a late response to an earlier filter does not replace the list', async () => {
    await env.thread({ title: 'At hand' });
    const { id } = await env.thread({ title: 'Put away' });
    await env.api('PATCH', `/threads/${id}`, { archived: true });
    const page = await env.open('/chats');
    await list(page).getByText('At hand', { exact: true }).waitFor();
    const isList = (url, archived) =>
      new URL(url).pathname === '/threads' && (new URL(url).searchParams.get('archived') === 'true') === archived;
    const held = await holdRequests(page, (url) => isList(url, true));
    const show = (hash) => page.evaluate((wanted) => (location.hash = wanted), hash);
    await show('#/chats?archived=true');
    await held.requested();
    const newer = page.waitForResponse((response) => isList(response.url(), false));
    await show('#/chats');
    await (await newer).finished();
    const older = page.waitForResponse((response) => isList(response.url(), true));
    await held.release();
    await (await older).finished();
    // Once a later event is shown, both responses have been processed.
    await env.thread({ title: 'Begun since' });
    await list(page).getByText('Begun since', { exact: true }).waitFor();
    assert.equal(await list(page).getByText('Put away', { exact: true }).count(), 0);
    await show('#/chats?archived=true');
    await list(page).getByText('Put away', { exact: true }).waitFor();
  });

  test('what happens to chats while the list is being read is in the list', async () => {
    const { id } = await env.thread({ title: 'Ended meanwhile' });
    const page = await env.open('/chats');
    await list(page).getByText('Ended meanwhile', { exact: true }).waitFor();
    const isList = (url) => new URL(url).pathname === '/threads';
    const hasResponded = Promise.withResolvers();
    const released = Promise.withResolvers();
    await page.route(
      isList,
      async (route) => {
        const response = await route.fetch();
        hasResponded.resolve();
        await released.promise;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    const read = page.waitForResponse((response) => isList(response.url()));
    await page.evaluate(() => (location.hash = '#/chats?archived=true'));
    await hasResponded.promise;
    await env.thread({ title: 'Begun meanwhile' });
    await env.api('DELETE', `/threads/${id}`);
    await list(page).getByText('Begun meanwhile', { exact: true }).waitFor();
    await list(page).getByText('Ended meanwhile', { exact: true }).waitFor({ state: 'detached' });
    released.resolve();
    await (await read).finished();
    // Once a later event is shown, the response has been processed.
    await env.thread({ title: 'Begun afterwards' });
    await list(page).getByText('Begun afterwards', { exact: true }).waitFor();
    assert.equal(await list(page).getByText('Begun meanwhile', { exact: true }).count(), 1);
    assert.equal(await list(page).getByText('Ended meanwhile', { exact: true }).count(), 0);
  });

  test('a filter in the address applies although the list is still loading', async () => {
    const { id } = await env.thread({ title: 'Put away early' });
    await env.api('PATCH', `/threads/${id}`, { archived: true });
    const page = await env.open('/system');
    const held = await holdRequests(page, (url) => new URL(url).pathname === '/threads');
    await page.goto(`${env.proxy.url}/ui/?early#/chats`);
    await held.requested();
    await page.evaluate(() => (location.hash = '#/chats?archived=true'));
    await held.release();
    await list(page).getByText('Put away early', { exact: true }).waitFor();
  });

  test('several chats are selected, archived with Undo, and deleted together', async () => {
    for (const title of ['Keep me', 'Old one', 'Old two', 'Old three']) await env.thread({ title });
    const page = await env.open('/chats');
    const bar = page.getByRole('group', { name: 'Selected chats' });
    await list(page).getByRole('button', { name: 'Select', exact: true }).click();
    await list(page)
      .getByRole('link', { name: /^Old three/ })
      .click();
    await list(page)
      .getByRole('link', { name: /^Old one/ })
      .click({ modifiers: ['Shift'] });
    await bar.getByText('3 chats selected').waitFor();
    await bar.getByRole('button', { name: 'Archive selected' }).click();
    await page.getByText('3 chats archived.').waitFor();
    await eventually(async () => assert.ok(!(await titles(page)).some((title) => title.startsWith('Old'))));
    await page.getByRole('button', { name: 'Undo' }).click();
    await list(page).getByText('Old two').waitFor();
    await list(page).getByRole('button', { name: 'Select', exact: true }).click();
    const first = list(page).getByRole('link', { name: /^Old/ }).first();
    await first.focus();
    await page.keyboard.press(' ');
    await page.keyboard.press('Shift+ArrowDown');
    await bar.getByText('2 chats selected').waitFor();
    await bar.getByRole('button', { name: 'Delete selected' }).click();
    await page.getByRole('dialog').getByText('2 chats with all messages').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('2 chats deleted.').waitFor();
    const left = (await env.api('GET', '/threads'))
      .map(({ title }) => title)
      .filter((title) => title.startsWith('Old'));
    assert.equal(left.length, 1);
    assert.ok((await titles(page)).includes('Keep me'));
  });

  test('selected chats are deleted during their answers, and their views are closed', async () => {
    const begun = async (title) => {
      const { id } = await env.thread({ title });
      const held = await env.backend.hold({ pieces: ['Well'] });
      await env.api('POST', '/chat', { threadId: id, content: 'Hello' });
      await eventually(async () => assert.ok(await env.backend.asked({ held })));
      return id;
    };
    const ids = [await begun('Busy one'), await begun('Busy two')];
    const page = await env.open('/chats');
    await page.evaluate((id) => localStorage.setItem('agw.beside', JSON.stringify(id)), ids[1]);
    await page.goto(`${env.proxy.url}/ui/?beside#/t/${ids[0]}`);
    const second = page.getByRole('region', { name: 'Chat beside' });
    await second.getByText('Well').waitFor();
    await list(page).getByRole('searchbox', { name: 'Search' }).fill('Busy');
    await list(page).getByRole('button', { name: 'Select', exact: true }).click();
    const bar = page.getByRole('group', { name: 'Selected chats' });
    await bar.getByRole('button', { name: 'All' }).click();
    await bar.getByRole('button', { name: 'Delete selected' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('2 chats deleted.').waitFor();
    await second.waitFor({ state: 'detached' });
    await page.waitForURL(/#\/chats/);
    const left = (await env.api('GET', '/threads')).map(({ id }) => id);
    assert.deepEqual(
      ids.filter((id) => left.includes(id)),
      [],
    );
  });
}
