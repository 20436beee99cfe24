import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { answers, eventually, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const shown = (page) => page.frameLocator('iframe');
  const dialogOf = (page) => page.getByRole('dialog', { name: 'Share as a link' });

  async function newChat(title, ...turns) {
    const id = await env.threadWith(...turns);
    await env.api('PATCH', `/threads/${id}`, { title });
    return id;
  }

  /** Opens a chat and its dialog for a link. `prepare` runs before the page's scripts. */
  async function openDialog(id, { prepare, ...options } = {}) {
    const page = await env.open('/chats', options);
    if (prepare) await page.addInitScript(prepare);
    await page.goto(`${env.proxy.url}/ui/?#/t/${id}`);
    await answers(page).first().waitFor();
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Share as a link' }).click();
    await dialogOf(page).waitFor();
    return page;
  }

  /** Makes a short link in the open dialog, and returns it. */
  async function share(page) {
    await dialogOf(page).getByRole('button', { name: 'Copy link' }).click();
    const field = dialogOf(page).getByRole('textbox', { name: 'The link' });
    await field.waitFor();
    return field.inputValue();
  }

  const garden = [
    { role: 'user', content: 'My key is hunter2-and-more.\n<script>alert(1)</script>' },
    { role: 'tool', content: 'the contents', metadata: { tool_name: 'Read', input: { path: 'diary' } } },
    { role: 'assistant', content: 'Water it **well**.' },
  ];
  const lasted = (page) => page.getByText('This link does not work any more: it has ended or was taken back.');

  test('a chat is read by a short link without a token, until it is taken back', async () => {
    await env.api('PUT', '/secrets/KEY', { value: 'hunter2-and-more' });
    const id = await newChat('A garden', ...garden);
    const page = await openDialog(id);
    await dialogOf(page).getByText('until the link ends, you take it back, or you delete the chat').waitFor();
    await dialogOf(page).getByRole('combobox', { name: 'The link works for' }).click();
    await page.getByRole('option', { name: 'a week' }).click();
    const link = await share(page);
    assert.match(link, /\/ui\/shared\.html#2\.[0-9a-f]{32}\.[\w-]{43}$/);
    const list = dialogOf(page).getByRole('list', { name: 'Links' });
    await list.getByText('ends').waitFor();
    await expectAccessible(page);

    const [stored] = await env.api('GET', `/threads/${id}/links`);
    assert.equal(Date.parse(stored.expires_at) - Date.parse(stored.created_at), 7 * 86_400_000);
    const bytes = Buffer.from(await (await fetch(`${env.url}/ui/shared/${stored.id}`)).arrayBuffer());
    assert.equal(bytes.length, stored.size);
    for (const word of ['garden', 'Water', 'hunter2', '<article']) assert.ok(!bytes.includes(word), word);

    const other = await env.newPage();
    const requested = [];
    other.on('request', (request) => requested.push(request));
    await other.goto(link);
    await shown(other).getByRole('heading', { name: 'A garden' }).waitFor();
    await shown(other).getByText('My key is [secret].').waitFor();
    await shown(other).getByText('<script>alert(1)</script>').waitFor();
    await shown(other).locator('strong', { hasText: 'well' }).waitFor();
    await other.getByText(/The link works until .*20\d\d/).waitFor();
    await other.getByRole('button', { name: 'Save as file' }).waitFor();
    assert.equal(await shown(other).getByText('the contents').count(), 0);
    const key = link.split('.').at(-1);
    for (const request of requested) {
      const path = request.url().split('#')[0].replace(env.proxy.url, '');
      assert.match(path, /^\/ui\/(shared\.html|shared\/[0-9a-f]{32}|frame|icon\.svg|assets\/(shared|sealed)[\w.-]+)$/);
      assert.ok(!path.includes(key));
      assert.equal(await request.headerValue('authorization'), null);
    }
    assert.equal(await other.evaluate(() => localStorage.length), 0);
    await expectAccessible(other, { iframes: false });

    await list.getByRole('button', { name: 'Take back' }).click();
    await page.getByText('The link was taken back.').waitFor();
    await list.waitFor({ state: 'detached' });
    await other.reload();
    await lasted(other).waitFor();
    assert.equal(await other.locator('iframe').count(), 0);
  });

  test('without the whole key the chat stays encrypted', async () => {
    const page = await openDialog(await newChat('A garden', ...garden));
    const link = await share(page);
    const other = await env.newPage();
    const [, id, key] = link.split('#')[1].split('.');
    const base = `${env.proxy.url}/ui/shared.html`;
    await other.goto(`${base}#2.${id}.${randomBytes(32).toString('base64url')}`);
    await other.getByText('This link is incomplete or was changed, so the chat stays encrypted.').waitFor();
    for (const [fragment, words] of [
      [`#2.${'0'.repeat(32)}.${key}`, 'it has ended or was taken back'],
      [`#2.${id}.${key.slice(1)}`, 'This link contains no chat, or only a part of one'],
      [`#2.${id}`, 'This link contains no chat, or only a part of one'],
    ]) {
      await other.goto('about:blank');
      await other.goto(base + fragment);
      await other.getByText(words).waitFor();
    }
    assert.equal(await other.locator('iframe').count(), 0);
    await other.route('**/ui/shared/*', (route) => route.abort());
    await other.goto('about:blank');
    await other.goto(`${base}#2.${id}.${key}`);
    await other.getByText('The gateway could not be reached.').waitFor();
  });

  test('browsers without crypto.subtle and a clipboard share and read too', async () => {
    // As on a page over plain HTTP from another machine.
    const insecure = () => {
      Object.defineProperty(crypto, 'subtle', { value: undefined });
      Object.defineProperty(navigator, 'clipboard', { value: undefined });
    };
    const page = await openDialog(await newChat('A garden', ...garden), { prepare: insecure });
    const link = await share(page);
    await page.getByText('Link copied.').waitFor();
    const other = await env.newPage();
    await other.addInitScript(insecure);
    await other.goto(link);
    await shown(other).locator('strong', { hasText: 'well' }).waitFor();
  });

  test('a chat that is too long to be in a link has a short one', async () => {
    const long = { role: 'user', content: randomBytes(450_000).toString('base64').replace(/.{70}/g, '$&\n') };
    const page = await openDialog(await newChat('A book', long, { role: 'assistant', content: 'The **end**.' }));
    await dialogOf(page).getByText('A link that contains the chat').click();
    await dialogOf(page).getByText('This chat is too long for a link.').waitFor();
    const other = await env.newPage();
    await other.goto(await share(page));
    await shown(other).locator('strong', { hasText: 'end' }).waitFor();
    assert.equal(await shown(other).locator('.said').textContent(), long.content);
  });

  test('the links of all chats are listed and taken back under System', async () => {
    const id = await newChat('A shared\u202E garden', ...garden);
    const page = await openDialog(id);
    const link = await share(page);
    await env.api('PATCH', `/threads/${id}`, { archived: true });
    await page.goto(`${env.proxy.url}/ui/#/system`);
    const row = page
      .getByRole('region', { name: 'Links to chats' })
      .getByRole('listitem')
      .filter({ hasText: 'A shared' });
    await row.getByRole('link', { name: 'A shared⟨U+202E⟩ garden' }).waitFor();
    await row.getByRole('button', { name: 'Take back' }).click();
    await row.waitFor({ state: 'detached' });
    const other = await env.newPage();
    await other.goto(link);
    await lasted(other).waitFor();
    await eventually(async () => assert.deepEqual(await env.api('GET', `/threads/${id}/links`), []));
  });

  test('a reader sees it in the language of the browser', async () => {
    const page = await openDialog(await newChat('A garden', ...garden));
    const link = await share(page);
    const other = await env.newPage({ locale: 'de-DE', viewport: { width: 360, height: 740 } });
    await other.goto(link);
    await shown(other).locator('strong', { hasText: 'well' }).waitFor();
    await other.getByText('Der Link gilt bis').waitFor();
    await expectAccessible(other, { iframes: false });
    await env.api('DELETE', `/links/${link.split('.').at(-2)}`);
    await other.reload();
    await other.getByText('Dieser Link gilt nicht mehr').waitFor();
  });
}
