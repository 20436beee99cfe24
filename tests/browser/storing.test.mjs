import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, holds, missing, withStage } from './stage.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const it = withStage();

  /** A project whose form is open. */
  async function editsProject(name) {
    const path = await it.stage.write({ path: `${name}/readme`, text: '' });
    const { id } = await it.api('POST', '/projects', { name, path: path.replace('/readme', '') });
    const page = await it.open('/projects');
    const card = page.getByRole('region', { name });
    await card.getByRole('button', { name: 'Edit' }).click();
    return { id, page, card };
  }

  test('a project that was changed elsewhere is asked about also where Save is pressed twice', async () => {
    const { id, page, card } = await editsProject('pressed-twice');
    await card.getByRole('textbox', { name: 'Name' }).fill('Mine');
    await it.api('PATCH', `/projects/${id}`, { name: 'Theirs' });
    await card.getByRole('button', { name: 'Save', exact: true }).dblclick();
    await page.getByRole('dialog', { name: 'It was changed elsewhere' }).getByText('«Theirs»').waitFor();
    assert.equal((await it.api('GET', `/projects/${id}`)).name, 'Theirs');
  });

  test('a project is not saved while what is there cannot be read', async () => {
    const { id, page, card } = await editsProject('unreadable');
    await card.getByRole('textbox', { name: 'Name' }).fill('Mine');
    it.tolerated.push(/status of 500/);
    await page.route(/\/projects(\/|$)/, (route) =>
      route.request().method() === 'GET' ? route.fulfill({ status: 500, json: { error: 'the disk is on fire' } }) : route.continue(),
    );
    await card.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('the disk is on fire').first().waitFor();
    await eventually(async () => assert.ok(await card.getByRole('button', { name: 'Save', exact: true }).isEnabled()));
    assert.equal((await it.api('GET', `/projects/${id}`)).name, 'unreadable');
  });

  test('what is written on while a project is being stored stays', async () => {
    const { id, page, card } = await editsProject('written-on');
    const box = card.getByRole('textbox', { name: 'Description' });
    await box.fill('One.');
    const release = await holds(page, 'PATCH', `**/projects/${id}`);
    await card.getByRole('button', { name: 'Save', exact: true }).click();
    await box.fill('One. Two.');
    release();
    await card.locator('p.muted').getByText('One.', { exact: true }).waitFor();
    assert.equal(await box.inputValue(), 'One. Two.');
    await card.getByRole('button', { name: 'Save', exact: true }).click();
    await box.waitFor({ state: 'detached' });
    assert.equal((await it.api('GET', `/projects/${id}`)).description, 'One. Two.');
  });
}
