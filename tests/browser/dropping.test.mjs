import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, holdRequests, message, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const attached = (page) => page.getByRole('list', { name: 'Attachments' });

  /** Drops files or a text on the middle of `target`, as the system does, and returns the pointer's effect. */
  async function drop(page, target, { files = [], text }) {
    const loaded = await page.waitForFunction(
      () => performance.getEntriesByType('resource').find(({ name }) => /\/entries-[^/]*\.js$/.test(name))?.name,
    );
    // Its listeners are there only once it has run.
    await page.evaluate((url) => import(url), await loaded.jsonValue());
    await page.evaluate(() =>
      addEventListener('dragover', ({ dataTransfer }) => (window.effect = dataTransfer.dropEffect), { once: true }),
    );
    const session = await page.context().newCDPSession(page);
    const { x, y, width, height } = await target.boundingBox();
    const items = text ? [{ mimeType: 'text/plain', data: text }] : [];
    const at = { x: x + width / 2, y: y + height / 2, data: { items, files, dragOperationsMask: 1 } };
    for (const type of ['dragEnter', 'dragOver', 'drop'])
      await session.send('Input.dispatchDragEvent', { type, ...at });
    return page.evaluate(() => window.effect);
  }

  const paste = (page, data) =>
    message(page).evaluate((box, given) => {
      const clipboardData = new DataTransfer();
      clipboardData.items.add(new File(['x'], 'image.png', { type: 'image/png' }));
      for (const [type, text] of Object.entries(given)) clipboardData.setData(type, text);
      return box.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    }, data);

  test('a file dropped anywhere on a chat is attached to its message', async () => {
    const plan = await env.backend.write({ path: 'plan.txt', text: 'Tea\n' });
    const list = await env.backend.write({ path: 'list.txt', text: 'Milk\n' });
    const page = await env.open(`/t/${await env.threadWith({ role: 'user', content: 'Hello' })}`);
    await page.getByRole('article').waitFor();
    assert.equal(await drop(page, page.getByRole('log'), { files: [plan] }), 'copy');
    await attached(page).getByText('plan.txt').waitFor();
    await drop(page, message(page), { files: [list] });
    await attached(page).getByText('list.txt').waitFor();
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), 'Message'));
  });

  test('a file dropped elsewhere does not replace the page', async () => {
    const file = await env.backend.write({ path: 'elsewhere.txt', text: 'Tea\n' });
    const page = await env.open('/jobs');
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    const pages = page.context().pages();
    assert.equal(await drop(page, page.locator('main'), { files: [file] }), 'none');
    await page.waitForTimeout(300);
    assert.match(page.url(), /#\/jobs$/);
    assert.deepEqual(page.context().pages(), pages);
  });

  test('a file dropped before the page’s code is loaded does not replace the page', async () => {
    const file = await env.backend.write({ path: 'early.txt', text: 'Tea\n' });
    const page = await env.newPage();
    await page.route(/\/assets\/.*\.js$/, () => {});
    await page.goto(`${env.proxy.url}/ui/`, { waitUntil: 'commit' });
    await page.waitForFunction(() => document.body);
    const session = await page.context().newCDPSession(page);
    const at = { x: 200, y: 200, data: { items: [], files: [file], dragOperationsMask: 1 } };
    await page.evaluate(() => addEventListener('dragover', (event) => (window.kept = event.defaultPrevented)));
    for (const type of ['dragEnter', 'dragOver', 'drop'])
      await session.send('Input.dispatchDragEvent', { type, ...at });
    await eventually(async () => assert.equal(await page.evaluate(() => window.kept), true));
    assert.match(page.url(), /\/ui\/$/);
  });

  test('a dropped folder is refused with a reason', async () => {
    const file = await env.backend.write({ path: 'folder/inside.txt', text: 'Tea\n' });
    const page = await env.open('/new');
    await message(page).waitFor();
    await drop(page, message(page), { files: [file.replace('/inside.txt', '')] });
    await page.getByText('Folders cannot be attached').waitFor();
    assert.equal(await attached(page).count(), 0);
  });

  test('files that are empty, or gone before they are sent, are refused with a reason', async () => {
    const files = [];
    for (const [path, text] of Object.entries({ 'sent.txt': 'Tea\n', 'empty.txt': '', 'gone.txt': 'Milk\n' }))
      files.push(await env.backend.write({ path, text }));
    const page = await env.open('/new');
    await message(page).waitFor();
    const uploads = await holdRequests(page, '**/files?*');
    await drop(page, message(page), { files });
    await uploads.requested();
    await env.backend.remove({ path: 'gone.txt' });
    await uploads.release();
    for (const name of ['empty.txt', 'gone.txt'])
      await page.getByText(`${name} is empty, or was moved or changed since you chose it.`).waitFor();
    assert.equal(await attached(page).getByRole('listitem').count(), 1);
    assert.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0);
  });

  test('a file whose name is too long is refused with a reason', async () => {
    const page = await env.open('/new');
    const name = `${'長'.repeat(90)}.txt`;
    await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('x') });
    await page.getByText(`The name of a file is too long. Give it a shorter one: ${name}`).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0);
  });

  test('many files leave room for the message', async () => {
    const page = await env.open('/new');
    const name = (number) => `quarterly report of branch number ${number}.txt`;
    const files = Array.from({ length: 60 }, (_, i) => ({
      name: name(i),
      mimeType: 'text/plain',
      buffer: Buffer.from('x'),
    }));
    await page.locator('input[type=file]').setInputFiles(files);
    await attached(page).getByText(name(59)).waitFor();
    const { y, height } = await page.getByRole('button', { name: 'Send' }).boundingBox();
    assert.ok(y + height < 800, `Send ends at ${y + height}`);
    await page.getByRole('button', { name: `Remove ${name(59)}` }).click();
    await attached(page).getByText(name(59)).waitFor({ state: 'detached' });
  });

  test('a text dropped on the message is inserted', async () => {
    const page = await env.open('/new');
    await drop(page, message(page), { text: 'a dragged sentence' });
    await eventually(async () => assert.equal(await message(page).inputValue(), 'a dragged sentence'));
  });

  test('a copied table is pasted as text although a picture of it is there, a copied picture is attached', async () => {
    const page = await env.open('/new');
    await message(page).waitFor();
    assert.equal(await paste(page, { 'text/plain': 'Tea\t3', 'text/html': '<table><td>Tea<td>3' }), true);
    assert.equal(await paste(page, { 'text/html': '<img src="a.png">' }), false);
    await attached(page).getByText('image.png').waitFor();
    assert.equal(await attached(page).getByRole('listitem').count(), 1);
  });
}
