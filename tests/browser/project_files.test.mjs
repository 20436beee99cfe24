import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import {
  answers,
  eventually,
  expectFocus,
  holdRequests,
  measureWork,
  message,
  missing,
  sendMessage,
  withGateway,
} from './environment.mjs';

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  let projects = 0;

  /** Creates a project with these files, by path. */
  async function projectWith(files) {
    const folder = `atlas-${projects++}`;
    for (const [path, text] of Object.entries(files)) await env.backend.write({ path: `${folder}/${path}`, text });
    const project = await env.api('POST', '/projects', { name: folder, path: `${env.home}/${folder}` });
    return { ...project, folder };
  }

  /** Opens a chat of the project with its files next to it. */
  async function openFiles(project, options) {
    const { id } = await env.thread({ project_id: project.id });
    const page = await env.open(`/t/${id}`, options);
    await page.getByRole('button', { name: 'Files', exact: true }).click();
    await panel(page).waitFor();
    return page;
  }

  const panel = (page) => page.getByRole('region', { name: 'Files of the project' });
  const tree = (page) => page.getByRole('tree', { name: 'Files' });
  const item = (page, name) => tree(page).getByRole('treeitem', { name, exact: true });
  const names = (page) => tree(page).getByRole('treeitem').allTextContents();
  const content = (page, name) => page.getByRole('region', { name: `Content of ${name}` });

  test('the directories and files of a project are shown next to its chat', async () => {
    const project = await projectWith({
      'README.md': '# Atlas',
      'src/main.py': 'print("hello")\n',
      '.git/config': 'x',
    });
    const page = await openFiles(project);
    await item(page, 'src').click();
    await eventually(async () =>
      assert.deepEqual(
        (await names(page)).map((name) => name.trim()),
        ['src', 'main.py', 'README.md'],
      ),
    );
    await item(page, 'main.py').click();
    await content(page, 'main.py').getByText('print("hello")').waitFor();
    await content(page, 'main.py').locator('.hljs-string').first().waitFor();
    assert.ok((await message(page).boundingBox()).width > 200, 'the chat stays visible');
    await panel(page).getByRole('button', { name: 'Mention' }).click();
    assert.match(await message(page).inputValue(), /`src\/main\.py`/);
    await panel(page).getByRole('button', { name: 'Close files' }).focus();
    await page.keyboard.press('Escape');
    await panel(page).waitFor({ state: 'detached' });
    await expectFocus(page, 'Files');
  });

  test('a chat without a project has no files', async () => {
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await page.getByRole('button', { name: 'Rename', exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Files', exact: true }).count(), 0);
  });

  test('a file is found, opened and closed by keyboard alone', async () => {
    const project = await projectWith({ 'src/deep/one.txt': 'first', 'src/two.txt': 'second', 'zebra.txt': 'last' });
    const page = await openFiles(project);
    await tree(page).focus();
    const active = () =>
      tree(page).evaluate((box) => document.getElementById(box.getAttribute('aria-activedescendant')).innerText.trim());
    await eventually(async () => assert.equal(await active(), 'src'));
    await page.keyboard.press('ArrowRight');
    await item(page, 'deep').waitFor();
    await page.keyboard.press('ArrowRight');
    assert.equal(await active(), 'deep');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await active(), 'src');
    await page.keyboard.press('z');
    assert.equal(await active(), 'zebra.txt');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.equal(await active(), 'two.txt');
    await page.keyboard.press('Enter');
    await content(page, 'two.txt').getByText('second').waitFor();
    await panel(page).getByRole('button', { name: 'Back to the files' }).click();
    await eventually(async () => assert.ok(await tree(page).evaluate((box) => box === document.activeElement)));
    assert.equal(await active(), 'two.txt');
  });

  test('changes during an answer are shown without a reload', async () => {
    const project = await projectWith({ 'notes.md': 'before' });
    const page = await openFiles(project);
    await item(page, 'notes.md').click();
    await content(page, 'notes.md').getByText('before').waitFor();
    const held = await env.backend.hold({ pieces: ['Working'] });
    await sendMessage(page, 'Change it');
    await answers(page).getByText('Working').waitFor();
    await env.backend.write({ path: `${project.folder}/notes.md`, text: 'after' });
    await env.backend.write({ path: `${project.folder}/added.md`, text: 'new' });
    await env.backend.release({ held, pieces: [' done.'] });
    await content(page, 'notes.md').getByText('after').waitFor();
    await panel(page).getByRole('button', { name: 'Back to the files' }).click();
    await item(page, 'added.md').waitFor();
  });

  test('an HTML file is shown as text, and as a page only on request', async () => {
    const project = await projectWith({ 'index.html': '<h1>Garden</h1><script>try { top.hit = 1 } catch {}</script>' });
    const page = await openFiles(project);
    await item(page, 'index.html').click();
    await content(page, 'index.html').getByText('<h1>Garden</h1>').waitFor();
    await panel(page).getByRole('button', { name: 'Open', exact: true }).click();
    const artifact = page.getByRole('region', { name: 'Artifact' });
    await artifact.frameLocator('iframe').getByRole('heading', { name: 'Garden' }).waitFor();
    assert.equal(await page.evaluate(() => window.hit), undefined);
    await artifact.getByRole('button', { name: 'Close artifact' }).click();
    await content(page, 'index.html').waitFor();
  });

  test('pictures are shown, other bytes are not, and both can be saved', async () => {
    const project = await projectWith({ 'a.txt': 'text' });
    await env.backend.write_bytes({ path: `${project.folder}/dot.png`, content: pixel });
    await env.backend.write_bytes({ path: `${project.folder}/data.bin`, content: 'AAECAw==' });
    const page = await openFiles(project);
    await item(page, 'dot.png').click();
    const picture = content(page, 'dot.png').getByRole('img', { name: 'dot.png' });
    await eventually(async () => assert.equal(await picture.evaluate((image) => image.naturalWidth), 1));
    const saved = page.waitForEvent('download');
    await panel(page).getByRole('button', { name: 'Save dot.png' }).click();
    assert.deepEqual(await buffer(await (await saved).createReadStream()), Buffer.from(pixel, 'base64'));
    await panel(page).getByRole('button', { name: 'Back to the files' }).click();
    await item(page, 'data.bin').click();
    await content(page, 'data.bin').getByText('This is not text.').waitFor();
  });

  test('markup and invisible characters in names and contents are shown as text', async () => {
    const project = await projectWith({
      'safe\u202Egnp.exe': 'rm\u202E txt \u001b[31m',
      '<img src=x onerror=window.hit=1>': 'x',
    });
    const page = await openFiles(project);
    await item(page, '<img src=x onerror=window.hit=1>').waitFor();
    await item(page, 'safe⟨U+202E⟩gnp.exe').click();
    await page.getByText('rm⟨U+202E⟩ txt ⟨U+001B⟩[31m').waitFor();
    assert.equal(await page.evaluate(() => window.hit), undefined);
  });

  test('a missing file is reported, and the tree can be reloaded', async () => {
    const project = await projectWith({ 'a.txt': 'text' });
    const page = await openFiles(project);
    await item(page, 'a.txt').waitFor();
    await env.backend.remove({ path: `${project.folder}/a.txt` });
    await item(page, 'a.txt').click();
    await panel(page).getByText('There is no such file (any more).').waitFor();
    await panel(page).getByRole('button', { name: 'Back to the files' }).click();
    await panel(page).getByRole('button', { name: 'Read files again' }).click();
    await tree(page).getByText('Empty').waitFor();
  });

  test('the first names of a large directory are shown while the others are still loading', async () => {
    const project = await projectWith({ 'many/first': '' });
    await env.backend.write_many({ path: `${project.folder}/many`, count: 700 });
    const page = await openFiles(project);
    await item(page, 'many').waitFor();
    const all = await holdRequests(page, (url) => url.search === '?path=many');
    await item(page, 'many').click();
    await all.requested();
    await item(page, 'file-00009').waitFor();
    await tree(page).focus();
    await page.keyboard.press('End');
    await item(page, 'Loading…').waitFor();
    await all.release();
    await tree(page).locator('[aria-setsize="701"]').first().waitFor();
    const active = await tree(page).evaluate((box) =>
      document.getElementById(box.getAttribute('aria-activedescendant'))?.innerText.trim(),
    );
    assert.match(active, /^file-/, 'the row after the previously loaded ones');
    await page.keyboard.press('End');
    await item(page, 'file-00699').waitFor();
    assert.equal(await item(page, 'Loading…').count(), 0);
  });

  test('a tree of 50,000 files opens at once and scrolls to its end', async () => {
    const project = await projectWith({ 'many/first': '' });
    await env.backend.write_many({ path: `${project.folder}/many`, count: 49_999 });
    const page = await openFiles(project);
    await item(page, 'many').waitFor();
    const work = await measureWork(page);
    const took = await page.evaluate(async () => {
      const began = performance.now();
      document.querySelector('[role=treeitem]').click();
      while (document.querySelectorAll('[role=treeitem]').length < 10)
        await new Promise((drawn) => requestAnimationFrame(drawn));
      return performance.now() - began;
    });
    await tree(page).locator('[aria-setsize="50000"]').first().waitFor();
    const worked = await work();
    console.log(`# a tree of 50,000 files: ${took.toFixed(0)} ms, ${worked} ms of work`);
    assert.ok(worked < 900, `${worked} ms of work`);
    const rows = await tree(page).getByRole('treeitem').count();
    assert.ok(rows < 80, `${rows} rows`);
    await tree(page).focus();
    await page.keyboard.press('End');
    await item(page, 'file-49998').waitFor();
    assert.equal(await item(page, 'file-49998').getAttribute('aria-setsize'), '50000');
  });

  test('a file of one line of 50 MB does not freeze the page', async () => {
    const project = await projectWith({ 'a.txt': 'text' });
    await env.backend.write_line({ path: `${project.folder}/line.txt`, length: 50 * 1024 * 1024 });
    const page = await openFiles(project);
    await item(page, 'line.txt').waitFor();
    const work = await measureWork(page);
    await item(page, 'line.txt').click();
    const more = panel(page).getByRole('button', { name: /^Show more/ });
    await panel(page).getByRole('button', { name: 'Show more (49.9 MB left)' }).waitFor();
    await more.click();
    await panel(page).getByRole('button', { name: 'Show more (49.9 MB left)' }).waitFor();
    await eventually(async () => assert.equal(await content(page, 'line.txt').locator('pre').count(), 2));
    await message(page).fill('still alive');
    const took = await work();
    console.log(`# a line of 50 MB: ${took} ms of work`);
    assert.ok(took < 4000, `${took} ms of work`);
  });

  test('a file has an address, and so does a project that does not exist', async () => {
    const project = await projectWith({ 'src/deep/one.txt': 'first' });
    const page = await env.open(`/files/${project.id}?path=src/deep/one.txt`);
    await page.getByRole('heading', { level: 1, name: project.name }).waitFor();
    await content(page, 'one.txt').getByText('first').waitFor();
    assert.equal(await item(page, 'one.txt').getAttribute('aria-selected'), 'true');
    await page.goto(`${env.proxy.url}/ui/#/projects`);
    await page.getByRole('region', { name: project.name }).getByRole('link', { name: 'Files' }).click();
    await item(page, 'src').waitFor();
    await page.goto(`${env.proxy.url}/ui/#/files/none`);
    await page.getByText('There is no project called').waitFor();
  });

  for (const width of [1280, 390])
    test(`the files are accessible and fit (${width} px)`, async () => {
      const project = await projectWith({ 'src/a.txt': 'text', 'b.md': '# Title' });
      const page = await openFiles(project, { viewport: { width, height: 800 } });
      await item(page, 'src').click();
      await item(page, 'a.txt').waitFor();
      await expectAccessible(page);
      await item(page, 'b.md').click();
      await content(page, 'b.md').getByText('# Title').waitFor();
      await expectAccessible(page);
    });
}
