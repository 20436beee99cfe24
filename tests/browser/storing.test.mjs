import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
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

  /** An extension whose file is shown. */
  async function editsFile(name) {
    const { id } = await it.api('POST', '/extensions', { type: 'agent', name, description: 'd', definition: { systemPrompt: 'old' } });
    const page = await it.open(`/extensions/${name}?tab=files`);
    const config = page.getByRole('textbox', { name: 'Configuration on disk' });
    return { id, page, config, text: await config.inputValue(), replace: page.getByRole('button', { name: 'Replace the file' }) };
  }

  /** A proposal of a new page of knowledge. */
  async function proposes(name) {
    const text = `---\ntitle: ${name}\ntype: knowledge\nagent: assistant\ntarget: knowledge/wiki/${name}.md\nstatus: pending\ncreated_at: 2026-01-02T03:04:05.678Z\nreason: It was missing.\n---\n# New\n`;
    await it.stage.write({ path: `.agent-gateway/autoresearch/proposals/assistant/2026-01-02/${name}.md`, text });
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

  test('what is written on while a file on disk is being stored stays, also while it is not JSON', async () => {
    const { page, config, text, replace } = await editsFile('disk-written-on');
    await config.fill(text.replace('old', 'new'));
    const release = await holds(page, 'PATCH', '**/disk-config');
    await replace.click();
    await eventually(async () => assert.equal((await it.api('GET', '/extensions/disk-written-on')).definition.systemPrompt, 'new'));
    await config.fill(text.replace('old', 'newer').replace(/}\s*$/, ''));
    release();
    await page.getByText('Saved to disk').waitFor();
    await eventually(async () => assert.ok(await replace.isEnabled()));
    assert.match(await config.inputValue(), /"newer"/);
    await config.fill(text.replace('old', 'newest'));
    await replace.click();
    await eventually(async () => assert.equal((await it.api('GET', '/extensions/disk-written-on')).definition.systemPrompt, 'newest'));
    assert.equal(await page.getByRole('region', { name: 'Changed meanwhile' }).count(), 0);
  });

  test('a field of a file on disk can be emptied, also while a question about it is open', async () => {
    const { id, page, config, text, replace } = await editsFile('disk-emptied');
    await config.fill(text.replace('old', 'mine'));
    await it.api('PATCH', `/extensions/${id}/disk-config`, JSON.parse(text.replace('old', 'theirs')));
    await replace.click();
    const changed = page.getByRole('region', { name: 'Changed meanwhile' });
    await changed.waitFor();
    await config.fill('');
    assert.equal(await config.inputValue(), '');
    await changed.getByRole('button', { name: 'Save mine over it' }).click();
    assert.equal((await it.api('GET', '/extensions/disk-emptied')).definition.systemPrompt, 'theirs');
    await changed.getByRole('button', { name: 'Take what is there' }).click();
    assert.match(await config.inputValue(), /"theirs"/);
  });

  test('a file on disk that nothing is written over is shown as it is by now', async () => {
    const { id, config, text } = await editsFile('disk-unwritten');
    await it.api('PATCH', `/extensions/${id}/disk-config`, JSON.parse(text.replace('old', 'theirs')));
    it.line.cut();
    await eventually(async () => assert.match(await config.inputValue(), /"theirs"/));
  });

  test('a soul is saved again while its answer is under way without a question about its own text', async () => {
    const { page, soul } = await it.openSoul('');
    const save = page.getByRole('button', { name: 'Save soul' });
    await soul.fill('One.');
    const release = await holds(page, 'PUT', '**/soul');
    await save.click();
    await eventually(async () => assert.equal((await it.api('GET', '/soul')).content, 'One.'));
    await soul.fill('One. Two.');
    assert.ok(await save.isDisabled());
    release();
    await save.click();
    await eventually(async () => assert.equal((await it.api('GET', '/soul')).content, 'One. Two.'));
    assert.equal(await page.getByRole('region', { name: 'Changed meanwhile' }).count(), 0);
  });

  test('a soul that was saved is not read back', async () => {
    const { page, soul } = await it.openSoul('');
    await soul.fill('One.');
    const asked = [];
    page.on('request', (request) => request.url().endsWith('/soul') && asked.push(request.method()));
    await page.getByRole('button', { name: 'Save soul' }).click();
    await page.getByText('Saved. It counts').waitFor();
    assert.deepEqual(asked, ['GET', 'PUT']);
    assert.equal(await soul.inputValue(), 'One.');
  });

  test('a soul that was being read while it was saved does not come back', async () => {
    const { page, soul } = await it.openSoul('');
    await soul.fill('One.');
    let release;
    await page.route('**/soul', async (route) => {
      if (release) return route.continue();
      const held = new Promise((free) => (release = free));
      const response = await route.fetch();
      await held;
      await route.fulfill({ response });
    });
    it.line.cut();
    await eventually(() => assert.ok(release));
    const save = page.getByRole('button', { name: 'Save soul' });
    await save.click();
    await page.getByText('Saved. It counts').waitFor();
    const read = page.waitForResponse('**/soul');
    release();
    await read;
    assert.equal(await soul.inputValue(), 'One.');
    await soul.fill('One. Two.');
    await save.click();
    await eventually(async () => assert.equal((await it.api('GET', '/soul')).content, 'One. Two.'));
    assert.equal(await page.getByRole('region', { name: 'Changed meanwhile' }).count(), 0);
  });

  test('to try again stores a soul as it is written by then', async () => {
    const { page, soul } = await it.openSoul('');
    await soul.fill('One.');
    it.tolerated.push(/status of 500/);
    await page.route('**/soul', (route) => (route.request().method() === 'PUT' ? route.fulfill({ status: 500, json: { error: 'full' } }) : route.continue()));
    await page.getByRole('button', { name: 'Save soul' }).click();
    const retry = page.getByRole('button', { name: 'Retry' });
    await retry.waitFor();
    await page.unroute('**/soul');
    await soul.fill('One. Two.');
    await retry.click();
    await page.getByText('Saved. It counts').waitFor();
    assert.equal((await it.api('GET', '/soul')).content, 'One. Two.');
  });

  test('what was written instead of a proposal is applied also where it is left while it is compared', async () => {
    await proposes('left-early');
    const page = await it.open('/inbox/assistant/2026-01-02/left-early');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const content = page.getByRole('textbox', { name: 'New content' });
    await content.fill('# Mine\n');
    const release = await holds(page, 'GET', '**/proposals/assistant/2026-01-02/left-early');
    const asked = page.waitForRequest('**/proposals/assistant/2026-01-02/left-early');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await asked;
    await content.press('Escape');
    release();
    await page.getByText('Applied.', { exact: true }).first().waitFor();
    assert.equal(readFileSync(`${it.data}/knowledge/wiki/left-early.md`, 'utf8'), '# Mine\n');
  });

  test('what is written instead of a proposal can be compared again before it is applied', async () => {
    await proposes('edited-over');
    await it.stage.write({ path: '.agent-gateway/knowledge/wiki/edited-over.md', text: '# Old\n' });
    const page = await it.open('/inbox/assistant/2026-01-02/edited-over');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('textbox', { name: 'New content' }).fill('# Mine\n');
    await it.stage.write({ path: '.agent-gateway/knowledge/wiki/edited-over.md', text: '# Written meanwhile\n' });
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Compare again').waitFor();
    const changes = page.getByRole('region', { name: /^Changes/ });
    await changes.getByText('# Written meanwhile').waitFor();
    await changes.getByText('# Mine').waitFor();
    await it.api('POST', '/proposals/assistant/2026-01-02/edited-over/reject', {});
  });

  test('a note that could not be stored leaves the keyboard where it is, with its words in the field, to be stored once', async () => {
    const { id } = await it.thread({ title: 'Noted' });
    const page = await it.open(`/t/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Noted' }).waitFor();
    let release;
    const held = new Promise((free) => (release = free));
    it.tolerated.push(/status of 500/);
    await page.route('**/turns', async (route) => {
      await held;
      await route.fulfill({ status: 500, json: { error: 'the disk is on fire' } });
    });
    await page.getByRole('button', { name: 'Add a note' }).click();
    const note = page.getByRole('textbox', { name: 'Note' });
    await note.fill('first');
    await note.press('Enter');
    await note.press('Escape');
    await page.getByRole('textbox', { name: 'Message' }).focus();
    release();
    await page.getByText('the disk is on fire').waitFor();
    await eventually(async () => assert.equal(await note.inputValue(), 'first'));
    assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), 'Message');
    assert.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0);
  });

  for (const choice of ['Take what is there', 'Save mine over it', 'Go on editing']) {
    test(`who is asked about what was changed elsewhere goes on in what is edited: ${choice}`, async () => {
      const { page, soul } = await it.openSoul('Old.');
      await soul.fill('Mine.');
      await it.api('PUT', '/soul', { content: 'Theirs.' });
      await page.getByRole('button', { name: 'Save soul' }).click();
      await page.getByRole('button', { name: choice }).press('Enter');
      await page.getByRole('region', { name: 'Changed meanwhile' }).waitFor({ state: 'detached' });
      await eventually(async () => assert.ok(await soul.evaluate((box) => box === document.activeElement)));
    });
  }

  test('that an extension was changed elsewhere is told once', async () => {
    const { id } = await it.api('POST', '/extensions', { type: 'command', name: 'told-once', description: 'd', definition: { prompt: 'old' } });
    const page = await it.open('/extensions/told-once');
    await page.getByRole('textbox', { name: /Prompt/ }).fill('mine');
    await it.api('PATCH', `/extensions/${id}`, { definition: { prompt: 'theirs' } });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').getByText('It was changed elsewhere').waitFor();
    await eventually(async () => assert.equal(await page.getByRole('alert').count(), 1));
  });
}
