import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { eventually, expectFocus, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  let projects = 0;
  const open = new Set();
  // Terminals outlive their pages, but not their projects.
  test.afterEach(async () => {
    for (const id of open) await env.api('DELETE', `/projects/${id}`);
    open.clear();
  });

  /** Opens a chat in a new project. */
  async function chat(options) {
    const name = `garden-${++projects}`;
    const folder = `${env.home}/${name}`;
    mkdirSync(folder);
    const project = await env.api('POST', '/projects', { name, path: folder });
    open.add(project.id);
    const { id } = await env.thread({ title: 'Roses', project_id: project.id });
    return { page: await env.open(`/t/${id}`, options), name, folder, project };
  }
  const panel = (page) => page.getByRole('region', { name: 'Terminal', exact: true });
  const input = (page) => page.getByRole('textbox', { name: 'Terminal input' });
  const button = (page, name) => page.getByRole('button', { name, exact: true });
  const rows = (page) => panel(page).locator('.xterm-rows').filter({ visible: true });

  async function openTerminal(page) {
    await page.getByRole('main').getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Terminal' }).click();
    await eventually(async () => assert.match(await rows(page).innerText(), /[$#]/));
  }
  const expectRows = (page, what) => eventually(async () => assert.match(await rows(page).innerText(), what));

  test('a shell in the project is shown below the chat, and receives typed text', async () => {
    const { page, name, folder } = await chat();
    await openTerminal(page);
    await panel(page)
      .getByRole('heading', { name: `Terminal in ${name}` })
      .waitFor();
    await expectFocus(page, 'Terminal input');
    await page.keyboard.type('echo "$((6 * 7)) grün" | tee made.txt');
    await page.keyboard.press('Enter');
    await expectRows(page, /^42 grün/m);
    assert.equal(readFileSync(`${folder}/made.txt`, 'utf8'), '42 grün\n');
    await expectAccessible(page);
    assert.ok(
      (await page.getByRole('textbox', { name: 'Message' }).boundingBox()).y < (await panel(page).boundingBox()).y,
    );
  });

  test('colours of programs are shown under the Content-Security-Policy', async () => {
    const { page } = await chat();
    await openTerminal(page);
    await page.keyboard.type(`printf '\\033[31mred\\033[0m \\033[38;2;10;200;30mtrue\\033[0m\\n'`);
    await page.keyboard.press('Enter');
    await expectRows(page, /^red true/m);
    const color = (text) =>
      rows(page)
        .getByText(text, { exact: true })
        .last()
        .evaluate((element) => getComputedStyle(element).color);
    const bad = await page.evaluate(() => {
      const probe = document.body.appendChild(document.createElement('span'));
      probe.style.color = 'var(--bad)';
      return getComputedStyle(probe).color;
    });
    assert.equal(await color('red'), bad);
    assert.notEqual(await color('true'), await color('red'));
  });

  test('programs get the size of the screen', async () => {
    const { page } = await chat();
    await openTerminal(page);
    await page.keyboard.type('stty size');
    await page.keyboard.press('Enter');
    await expectRows(page, /^\d+ \d+/m);
    const [, first] = /^\d+ (\d+)/m.exec(await rows(page).innerText());
    await page.setViewportSize({ width: 900, height: 800 });
    await eventually(async () => {
      await page.keyboard.type('clear; stty size');
      await page.keyboard.press('Enter');
      await eventually(async () => {
        const now = /^\d+ (\d+)/m.exec(await rows(page).innerText());
        assert.ok(now && Number(now[1]) < Number(first));
      }, 2000);
    });
  });

  test('a reload of the page finds the same shell', async () => {
    const { page } = await chat();
    await openTerminal(page);
    await page.keyboard.type('word=kept; echo be""fore');
    await page.keyboard.press('Enter');
    await expectRows(page, /^before/m);
    await page.reload();
    await expectRows(page, /^before/m);
    await input(page).focus();
    await page.keyboard.type('echo "is $word"');
    await page.keyboard.press('Enter');
    await expectRows(page, /^is kept/m);
  });

  test('a broken connection is restored', async () => {
    const { page } = await chat();
    await openTerminal(page);
    await page.keyboard.type('word=kept');
    await page.keyboard.press('Enter');
    env.proxy.cut();
    await panel(page).getByRole('status').getByText('Connecting…').waitFor();
    await panel(page).getByRole('status').getByText('Connecting…').waitFor({ state: 'detached' });
    await input(page).focus();
    await page.keyboard.type('echo "is $word"');
    await page.keyboard.press('Enter');
    await expectRows(page, /^is kept/m);
  });

  test('the keyboard leaves the terminal, hides it and shows it again', async () => {
    const { page } = await chat();
    await openTerminal(page);
    await page.keyboard.type('echo st""ays');
    await page.keyboard.press('Enter');
    await expectRows(page, /^stays/m);
    await page.keyboard.press('F6');
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H2'));
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await expectFocus(page, 'Hide the terminal');
    await page.keyboard.press('Enter');
    await panel(page).waitFor({ state: 'hidden' });
    await openTerminal(page);
    await expectRows(page, /^stays/m);
    await button(page, 'End').click();
    await panel(page).waitFor({ state: 'hidden' });
  });

  test('shortcuts of the page belong to the shell while it has the focus', async () => {
    const { page } = await chat();
    await openTerminal(page);
    await page.keyboard.type('echo kept; echo cut');
    for (let i = 0; i < 10; i++) await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Control+.');
    await page.keyboard.press('Control+Shift+o');
    await page.keyboard.press('Enter');
    await expectRows(page, /^kept\s/m);
    assert.doesNotMatch(await rows(page).innerText(), /^cut/m);
    assert.equal(await page.getByRole('dialog').count(), 0);
    assert.ok(await page.getByRole('radio', { name: 'Plan' }).isChecked());
    assert.match(page.url(), /#\/t\//);
  });

  test('the end of the shell is reported', async () => {
    const { page } = await chat();
    await openTerminal(page);
    await page.keyboard.type('exit 7');
    await page.keyboard.press('Enter');
    await panel(page).getByRole('status').getByText('Ended with status 7.').waitFor();
    await button(page, 'End').click();
    await openTerminal(page);
  });

  test('an error of the gateway is shown', async () => {
    const { page, project, folder } = await chat();
    await page.getByRole('main').getByRole('button', { name: 'More', exact: true }).waitFor();
    open.delete(project.id);
    await env.api('DELETE', `/projects/${project.id}`);
    await page.getByRole('main').getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Terminal' }).click();
    await panel(page).getByRole('status').getByText('project not found').waitFor();
    assert.ok(existsSync(folder));
  });

  test('on a phone, and at 200 %, the terminal replaces the chat', async () => {
    for (const viewport of [
      { width: 360, height: 640 },
      { width: 640, height: 400 },
    ]) {
      const { page } = await chat({ viewport });
      await openTerminal(page);
      const box = await panel(page).boundingBox();
      assert.deepEqual([box.x, box.y, box.width, box.height], [0, 0, viewport.width, viewport.height]);
      await page.keyboard.type('echo "$((6 * 7))"');
      await page.keyboard.press('Enter');
      await expectRows(page, /^42/m);
      await expectAccessible(page);
      await button(page, 'End').click();
    }
  });
}
