import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, expectFocus, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  const reloadButton = (page) => page.getByRole('button', { name: 'Reload from disk' });
  const dismiss = (page) => page.getByRole('button', { name: 'Dismiss' });

  /** Opens a page with two toasts. The focus is on the button that caused them. */
  async function openWithToasts() {
    const page = await env.open('/system');
    let requests = 0;
    await page.route('**/reseed', (route) => route.fulfill({ status: 400, json: { error: `no ${++requests}` } }));
    for (const count of [1, 2]) {
      await reloadButton(page).press('Enter');
      await eventually(async () => assert.equal(await dismiss(page).count(), count));
    }
    return page;
  }

  test('dismissing a toast by keyboard focuses the next one, and after the last the previously focused element', async () => {
    const page = await openWithToasts();
    await dismiss(page).first().press('Enter');
    await eventually(async () => assert.equal(await dismiss(page).count(), 1));
    await expectFocus(page, 'Dismiss');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await dismiss(page).count(), 0));
    await expectFocus(page, 'Reload from disk');
  });

  test('using the action of a toast restores the focus', async () => {
    const page = await openWithToasts();
    await dismiss(page).first().press('Enter');
    await eventually(async () => assert.equal(await dismiss(page).count(), 1));
    await page.getByRole('button', { name: 'Retry' }).press('Enter');
    await expectFocus(page, 'Reload from disk');
  });

  test('a repeated toast replaces the earlier one, and its action runs once', async () => {
    const page = await env.open('/system');
    let requests = 0;
    await page.route('**/reseed', (route) => (requests++, route.fulfill({ status: 400, json: { error: 'no' } })));
    for (const count of [1, 2, 3]) {
      const answered = page.waitForResponse('**/reseed');
      await reloadButton(page).press('Enter');
      await answered;
      await eventually(async () => assert.equal(requests, count));
    }
    await page.evaluate(() => new Promise((settled) => setTimeout(settled)));
    assert.equal(await dismiss(page).count(), 1);
    await page.getByRole('button', { name: 'Retry' }).press('Enter');
    await eventually(async () => assert.equal(requests, 4));
    await eventually(async () => assert.equal(await dismiss(page).count(), 1));
  });

  test('errors show characters that reverse text or are invisible', async () => {
    const page = await env.open('/system');
    const error = 'no \u202egnp.exe\u0007';
    await page.route('**/reseed', (route) => route.fulfill({ status: 400, json: { error } }));
    await reloadButton(page).click();
    await page.getByRole('status').getByText('no ⟨U+202E⟩gnp.exe⟨U+0007⟩').waitFor();
    await page.route('**/projects', (route) => route.fulfill({ status: 400, json: { error } }));
    await page.evaluate(() => (location.hash = '#/projects'));
    await page.getByRole('alert').getByText('no ⟨U+202E⟩gnp.exe⟨U+0007⟩').waitFor();
  });

  test('failed uploads of the same name can each be retried', async () => {
    const page = await env.open('/new');
    await page.route('**/files?*', (route) => route.abort(), { times: 2 });
    const pasted = { name: 'image.png', mimeType: 'image/png', buffer: Buffer.from('x') };
    await page.locator('input[type=file]').setInputFiles([pasted, { ...pasted, buffer: Buffer.from('xy') }]);
    const again = page.getByRole('button', { name: 'Retry' });
    await eventually(async () => assert.equal(await again.count(), 2));
    await again.first().click();
    await again.click();
    await eventually(async () => assert.equal(await page.getByRole('button', { name: 'Remove image.png' }).count(), 2));
  });

  test('a toast expires, but not while it is focused', async () => {
    const page = await env.open('/system');
    await page.clock.install();
    await page.route('**/reseed', (route) => route.fulfill({ status: 400, json: { error: 'no' } }));
    await reloadButton(page).press('Enter');
    await dismiss(page).focus();
    await page.clock.runFor(20_000);
    assert.equal(await dismiss(page).count(), 1);
    await reloadButton(page).focus();
    await page.clock.runFor(8_000);
    await eventually(async () => assert.equal(await dismiss(page).count(), 0));
  });

  test('a deleted turn can be restored while its toast is shown, and is deleted with it', async () => {
    const id = await env.threadWith({ role: 'user', content: 'Asked' }, { role: 'assistant', content: 'Answered' });
    const page = await env.open(`/t/${id}`);
    await page.getByRole('button', { name: 'Delete answer' }).waitFor();
    await page.clock.install();
    await page.getByRole('button', { name: 'Delete answer' }).press('Enter');
    await page.getByRole('button', { name: 'Undo' }).focus();
    await page.clock.runFor(20_000);
    assert.equal((await env.turns(id)).length, 2);
    await dismiss(page).press('Enter');
    await eventually(async () => assert.equal((await env.turns(id)).length, 1));
  });

  /** Keeps toasts from expiring from now on. */
  async function stopClock(page) {
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
  }

  const palette = (page) => page.getByRole('combobox', { name: 'Search or run a command' });

  test('the action of a toast can be seen, reached and used while a dialog is open', async () => {
    const id = await env.threadWith({ role: 'user', content: 'Asked' }, { role: 'assistant', content: 'Answered' });
    const page = await env.open(`/t/${id}`);
    await page.getByRole('button', { name: 'Delete answer' }).waitFor();
    await stopClock(page);
    await page.getByRole('button', { name: 'Delete answer' }).press('Enter');
    await page.keyboard.press('Control+k');
    await palette(page).waitFor();
    const undo = page.getByRole('dialog').getByRole('status').getByRole('button', { name: 'Undo' });
    await undo.click({ trial: true });
    await undo.press('Enter');
    await expectFocus(page, 'Search or run a command');
    await page.keyboard.press('Escape');
    await page.getByRole('article', { name: 'Assistant' }).waitFor();
    assert.equal((await env.turns(id)).length, 2);
  });

  test('a toast that appears while a dialog is open can be reached inside it and after it', async () => {
    const page = await env.open('/system');
    await reloadButton(page).waitFor();
    await stopClock(page);
    let fail;
    await page.route('**/reseed', (route) => (fail = () => route.fulfill({ status: 400, json: { error: 'no' } })));
    await reloadButton(page).press('Enter');
    await eventually(() => assert.ok(fail));
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await dialog.waitFor();
    await fail();
    await dialog.getByRole('status').getByRole('button', { name: 'Dismiss' }).focus();
    await page.keyboard.press('Escape');
    await expectFocus(page, 'Reload from disk');
    await dismiss(page).press('Enter');
    await eventually(async () => assert.equal(await dismiss(page).count(), 0));
  });

  test('an error is not shown in the next view', async () => {
    const page = await env.open('/system');
    await page.route('**/reseed', (route) => route.abort());
    await page.getByRole('button', { name: 'Reload from disk' }).click();
    const toast = page.locator('.toast.bad');
    await toast.waitFor();
    await page.getByRole('link', { name: 'Agents' }).click();
    await toast.waitFor({ state: 'detached' });
  });

  test('reloading from disk reports that config.yaml requires a restart', async () => {
    const page = await env.open('/system');
    await reloadButton(page).click();
    await page.getByText('Reloaded from disk. Changes to config.yaml need a restart.').waitFor();
  });
}
