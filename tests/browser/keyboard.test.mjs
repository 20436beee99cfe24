import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, holds, missing, withStage } from './stage.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const it = withStage();

  /** What has the keyboard, in a word. */
  const held = (page) => page.evaluate(() => {
    const { activeElement: at } = document;
    return at === document.body ? 'nothing' : (at.ariaLabel ?? at.labels?.[0]?.textContent.trim() ?? at.textContent.trim());
  });
  const heldBecomes = (page, what) => eventually(async () => assert.equal(await held(page), what));

  const reads = (page) => page.getByRole('button', { name: 'Read from disk' });
  const dismiss = (page) => page.getByRole('button', { name: 'Dismiss' });

  /** A page with two notes at its foot, the keyboard at what brought them. */
  async function noted() {
    const page = await it.open('/system');
    await page.route('**/reseed', (route) => route.fulfill({ status: 400, json: { error: 'no' } }));
    for (const count of [1, 2]) {
      await reads(page).press('Enter');
      await eventually(async () => assert.equal(await dismiss(page).count(), count));
    }
    return page;
  }

  test('who dismisses a note by keys goes on at the next one, and behind the last where they were', async () => {
    const page = await noted();
    await dismiss(page).first().press('Enter');
    await eventually(async () => assert.equal(await dismiss(page).count(), 1));
    await heldBecomes(page, 'Dismiss');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await dismiss(page).count(), 0));
    await heldBecomes(page, 'Read from disk');
  });

  test('who takes up what a note offers goes on where they were', async () => {
    const page = await noted();
    await dismiss(page).first().press('Enter');
    await eventually(async () => assert.equal(await dismiss(page).count(), 1));
    await page.getByRole('button', { name: 'Retry' }).press('Enter');
    await heldBecomes(page, 'Read from disk');
  });

  test('a note goes by itself, but not while somebody is at it', async () => {
    const page = await it.open('/system');
    await page.clock.install();
    await page.route('**/reseed', (route) => route.fulfill({ status: 400, json: { error: 'no' } }));
    await reads(page).press('Enter');
    await dismiss(page).focus();
    await page.clock.runFor(20_000);
    assert.equal(await dismiss(page).count(), 1);
    await reads(page).focus();
    await page.clock.runFor(8_000);
    await eventually(async () => assert.equal(await dismiss(page).count(), 0));
  });

  test('a turn that was deleted can be brought back as long as its note is there, and is gone with it', async () => {
    const id = await it.threadWith({ role: 'user', content: 'Asked' }, { role: 'assistant', content: 'Answered' });
    const page = await it.open(`/t/${id}`);
    await page.getByRole('button', { name: 'Delete answer' }).waitFor();
    await page.clock.install();
    await page.getByRole('button', { name: 'Delete answer' }).press('Enter');
    await page.getByRole('button', { name: 'Undo' }).focus();
    await page.clock.runFor(20_000);
    assert.equal((await it.turns(id)).length, 2);
    await dismiss(page).press('Enter');
    await eventually(async () => assert.equal((await it.turns(id)).length, 1));
  });

  const palette = (page) => page.getByRole('combobox', { name: 'Go to or do' });
  const marked = (page) => page.getByRole('option', { selected: true });

  test('the entry of the palette that is marked stays so when what was asked for comes before it', async () => {
    await it.threadWith({ role: 'user', content: 'a tangerine a day' });
    const page = await it.open('/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    const release = await holds(page, 'GET', '**/turns/search?**');
    await page.keyboard.press('Control+k');
    const asked = page.waitForRequest(/\/turns\/search/);
    await palette(page).fill('tangerine');
    await asked;
    const options = page.getByRole('option');
    await options.filter({ hasText: 'chat' }).waitFor();
    await page.keyboard.press('ArrowUp');
    await marked(page).getByText('Search all turns').waitFor();
    release();
    await options.filter({ hasText: 'turn a tangerine' }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor();
  });

  test('the entry of the palette that is marked stays so when one that fits better is made, and gives way where it is deleted', async () => {
    const command = (name) => it.api('POST', '/extensions', { type: 'command', name, description: 'd', enabled: true, definition: { prompt: 'p' } });
    const { id } = await command('quux-of-old');
    const page = await it.open('/extensions');
    await page.getByRole('heading', { level: 1, name: 'Extensions' }).waitFor();
    await page.keyboard.press('Control+k');
    await palette(page).fill('quux');
    await page.keyboard.press('ArrowDown');
    const words = await marked(page).innerText();
    const better = await command('quux');
    await page.getByRole('option').filter({ hasText: /^\s*command\s*quux\s/ }).waitFor();
    assert.equal(await marked(page).innerText(), words);
    assert.equal(await palette(page).getAttribute('aria-activedescendant'), await marked(page).getAttribute('id'));
    for (const gone of [id, better.id]) await it.api('DELETE', `/extensions/${gone}`);
    await eventually(async () => assert.match(await marked(page).innerText(), /Search all turns/));
  });
}
