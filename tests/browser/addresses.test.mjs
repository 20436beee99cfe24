import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, missing, questions, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  test('a replaced answer is shown if the address names its run', async () => {
    const { id } = await env.thread({ title: 'Fruit' });
    const answered = (text) =>
      eventually(async () => {
        const found = (await env.turns(id)).find(({ content }) => content === text);
        assert.ok(found);
        return found;
      });
    await env.backend.reply({ text: 'A plum.' });
    await env.api('POST', '/chat', { threadId: id, content: 'Fruit?' });
    const { id: turn, metadata } = await answered('A plum.');
    await env.backend.reply({ text: 'A pear.' });
    await env.api('POST', `/turns/${turn}/regenerate`);
    await answered('A pear.');
    const page = await env.open(`/t/${id}?run=${metadata.run_id}`);
    await page.locator('article.found').getByText('A plum.').waitFor();
  });

  test('the answer of a run is found although many turns followed it', async () => {
    const { id } = await env.thread({ title: 'Long ago' });
    await env.backend.reply({ text: 'An old plum.' });
    await env.api('POST', '/chat', { threadId: id, content: 'Fruit?' });
    const answer = await eventually(async () => {
      const found = (await env.turns(id)).find(({ content }) => content === 'An old plum.');
      assert.ok(found);
      return found;
    });
    for (let i = 0; i < 110; i++) await env.api('POST', `/threads/${id}/turns`, { role: 'user', content: `turn ${i}` });
    const page = await env.open(`/t/${id}?run=${answer.metadata.run_id}`);
    await page.locator('article.found').getByText('An old plum.').waitFor();
  });

  test('a chat is not loaded to its beginning in search of a run that it does not have', async () => {
    const id = await env.threadWith(
      ...Array.from({ length: 260 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `turn ${i}` })),
    );
    const page = await env.open(`/t/${id}`);
    await page.getByText('turn 259', { exact: true }).waitFor();
    const requested = [];
    page.on('request', (request) => request.url().includes('before=') && requested.push(request.url()));
    const now = Date.now().toString(16).padStart(12, '0');
    for (const run of ['missing', `${now.slice(0, 8)}-${now.slice(8)}-7000-8000-000000000000`]) {
      await page.evaluate((to) => (location.hash = to), `#/t/${id}?run=${run}`);
      const toast = page.getByText('The linked message is no longer in this chat.');
      await toast.waitFor();
      await page.evaluate((to) => (location.hash = to), `#/t/${id}`);
      await page.getByRole('button', { name: 'Dismiss' }).first().click();
      await toast.waitFor({ state: 'detached' });
    }
    assert.deepEqual(requested, []);
  });

  test('following a link to a turn again scrolls to it again', async () => {
    const id = await env.threadWith(
      ...Array.from({ length: 60 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `turn ${i}` })),
    );
    const [turn] = await env.turns(id);
    const page = await env.open(`/t/${id}?turn=${turn.id}`);
    const found = page.locator('article.found');
    const go = (hash) => page.evaluate((to) => (location.hash = to), hash);
    await found.waitFor();
    await go(`#/t/${id}`);
    await page.getByRole('log').evaluate((log) => log.scrollTo(0, log.scrollHeight));
    await eventually(async () => assert.ok((await found.boundingBox()).y < 0));
    await go(`#/t/${id}?turn=${turn.id}`);
    await eventually(async () => assert.ok((await found.boundingBox()).y >= 0));
  });

  test('a slow search for a turn does not scroll away from a newer one', async () => {
    const id = await env.threadWith(
      ...Array.from({ length: 60 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', content: `turn ${i}` })),
    );
    const turns = await env.turns(id);
    const page = await env.open(`/t/${id}`);
    await page.getByText('turn 59', { exact: true }).waitFor();
    let release;
    const held = new Promise((free) => (release = free));
    await page.route(/before=/, async (route) => (await held, route.continue()));
    const go = (hash) => page.evaluate((to) => (location.hash = to), hash);
    const requested = page.waitForRequest(/before=/);
    await go(`#/t/${id}?turn=${turns[0].id}`);
    await requested;
    await go(`#/t/${id}?turn=${turns[50].id}`);
    const found = page.locator('article.found');
    await found.getByText('turn 50', { exact: true }).waitFor();
    const read = page.waitForResponse(/before=/);
    release();
    await read;
    await questions(page).getByText('turn 0', { exact: true }).waitFor({ state: 'attached' });
    await page.evaluate(() => new Promise((settled) => setTimeout(settled, 50)));
    assert.equal(await found.count(), 1);
    await found.getByText('turn 50', { exact: true }).waitFor();
  });

  test('leaving a chat while older turns load shows no error', async () => {
    const { id } = await env.thread({ title: 'Left' });
    const page = await env.open(`/t/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Left' }).waitFor();
    let release;
    const held = new Promise((free) => (release = free));
    await page.route(/before=/, async (route) => (await held, route.continue()));
    const requested = page.waitForRequest(/before=/);
    await page.evaluate((to) => (location.hash = to), `#/t/${id}?turn=00000000-0000-7000-8000-000000000000`);
    await requested;
    await page.evaluate(() => (location.hash = '#/costs'));
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    const read = page.waitForResponse(/before=/);
    release();
    await read;
    await page.evaluate(() => new Promise((settled) => setTimeout(settled, 50)));
    assert.equal(await page.getByText('The linked message').count(), 0);
  });

  test('a missing turn in the address is not searched for in the whole chat', async () => {
    const { id } = await env.thread({ title: 'Of many turns' });
    for (let i = 0; i < 60; i++) await env.api('POST', `/threads/${id}/turns`, { role: 'user', content: `turn ${i}` });
    const page = await env.newPage();
    const requested = [];
    page.on('request', (request) => requested.push(request.url()));
    await page.addInitScript((token) => localStorage.setItem('agw.token', JSON.stringify(token)), env.token);
    await page.goto(`${env.proxy.url}/ui/#/t/${id}?turn=00000000-0000-7000-8000-000000000000`);
    await page.getByText('The linked message is no longer in this chat.').waitFor();
    assert.ok(await page.getByText('turn 59', { exact: true }).isVisible());
    assert.equal(requested.filter((url) => /before=(?!00000000-)/.test(url)).length, 0);
    assert.ok(requested.filter((url) => /before=/.test(url)).every((url) => /[?&]limit=1(&|$)/.test(url)));
  });

  for (const kind of ['extensions', 'jobs', 'agents', 'knowledge']) {
    test(`characters that reverse text are escaped in messages about missing items: ${kind}`, async () => {
      const page = await env.open(`/${kind}/a%E2%80%AEb`);
      await page.getByRole('alert').getByText('“a⟨U+202E⟩b”').waitFor();
      await page.getByRole('heading', { level: 1, name: 'a⟨U+202E⟩b' }).waitFor();
    });
  }

  test('closing a dialog whose opener is gone focuses the heading', async () => {
    for (const [key, from, to] of [
      ['Control+k', '/jobs', 'Agents'],
      ['?', '/agents', 'Jobs'],
    ]) {
      const page = await env.open(from);
      await page.getByRole('main').getByRole('link').first().focus();
      await page.keyboard.press(key);
      await page.getByRole('dialog').waitFor();
      await page.evaluate((hash) => (location.hash = hash), `#/${to.toLowerCase()}`);
      await page.getByRole('heading', { level: 1, name: to, includeHidden: true }).waitFor();
      await page.keyboard.press('Escape');
      await eventually(async () =>
        assert.equal(
          await page.evaluate(() => `${document.activeElement.tagName} ${document.activeElement.textContent}`),
          `H1 ${to}`,
        ),
      );
    }
  });

  test('an item named new can be opened, and so can the forms for new items', async () => {
    // A built-in command has this name.
    const page = await env.open('/extensions?type=command');
    await page.getByRole('main').getByRole('link', { name: 'new', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'new', exact: true }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    for (const [view, type] of [
      ['extensions', 'command'],
      ['agents', 'agent'],
      ['jobs', 'job'],
    ]) {
      await page.evaluate((hash) => (location.hash = hash), `#/${view}/+new`);
      await page.getByRole('heading', { level: 1, name: `New ${type}`, exact: true }).waitFor();
    }
  });
}
