import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, message, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  /** Presses keys in the focused field while an input method composes text there, and afterwards inserts `text`. */
  async function compose(page, field, text, keys) {
    await field.focus();
    const session = await page.context().newCDPSession(page);
    await session.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });
    for (const key of keys)
      for (const type of ['rawKeyDown', 'keyUp'])
        await session.send('Input.dispatchKeyEvent', { type, key, code: key, windowsVirtualKeyCode: 229 });
    await session.send('Input.insertText', { text });
    // Safari reports the last key after the composition.
    await field.dispatchEvent('keydown', { key: keys.at(-1), keyCode: 229, bubbles: true, cancelable: true });
    await session.detach();
  }

  test('keys that an input method uses neither send a message nor end the editing of one', async () => {
    const id = await env.threadWith({ role: 'user', content: 'Hello' });
    const page = await env.open(`/t/${id}`);
    await compose(page, message(page), '日本', ['Enter', 'Escape', 'Enter']);
    assert.equal(await message(page).inputValue(), '日本');
    assert.equal(await page.getByRole('article').count(), 1);
    await page.getByRole('button', { name: 'Edit' }).click();
    const edited = page.getByRole('textbox', { name: 'Edited message' });
    await compose(page, edited, '語', ['Enter', 'Escape']);
    assert.equal(await edited.inputValue(), 'Hello語');
    assert.equal((await env.turns(id)).length, 1);
  });

  test('they do not end the renaming of a chat, or the writing of a note', async () => {
    const { id } = await env.thread({ title: 'Before' });
    const page = await env.open(`/t/${id}`);
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    const title = page.getByRole('textbox', { name: 'Title' });
    await compose(page, title, '題', ['Enter', 'Escape']);
    assert.match(await title.inputValue(), /題/);
    await title.press('Escape');
    await page.getByRole('button', { name: 'Add a note', exact: true }).click();
    const note = page.getByRole('textbox', { name: 'Note' });
    await compose(page, note, '注', ['Enter', 'Escape']);
    assert.equal(await note.inputValue(), '注');
    assert.equal((await env.api('GET', `/threads/${id}`)).title, 'Before');
  });

  test('they run nothing in the palette, and neither clear nor close it', async () => {
    const page = await env.open('/new');
    await message(page).waitFor();
    await page.keyboard.press('Control+k');
    const search = page.getByRole('combobox', { name: 'Search or run a command' });
    await compose(page, search, '探', ['ArrowDown', 'Enter', 'Escape']);
    assert.equal(await search.inputValue(), '探');
    assert.match(page.url(), /#\/new$/);
    await search.press('Escape');
    await search.waitFor({ state: 'detached' });
  });

  test('they add no name to a list', async () => {
    const page = await env.open('/agents/+new');
    const names = page.getByPlaceholder('Choose or type a name').first();
    await compose(page, names, 'か', ['Escape', 'Enter']);
    assert.equal(await names.inputValue(), 'か');
    assert.equal(await page.getByRole('button', { name: 'Remove か' }).count(), 0);
  });

  test('they choose no service, and close no dialog', async () => {
    const page = await env.open('/system/models?connect=true');
    const search = page.getByRole('searchbox', { name: 'Search services' });
    await search.fill('a');
    await compose(page, search, 'n', ['Enter']);
    assert.equal(await search.inputValue(), 'an');
    await search.press('Enter');
    await search.waitFor({ state: 'detached' });
    await page.goto(`${env.proxy.url}/ui/#/new`);
    await page.getByRole('button', { name: /^Model: / }).click();
    const models = page.getByRole('combobox', { name: 'Search models' });
    await compose(page, models, 's', ['Escape', 'ArrowDown', 'Enter', 'Escape']);
    await eventually(async () => assert.equal(await models.inputValue(), 's'));
  });
}
