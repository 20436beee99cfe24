import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, missing, withStage } from './stage.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const it = withStage();

  /** As when the page is looked at again, which it does by itself now and then. */
  const look = (page) => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));

  test('a soul that is changed elsewhere changes here, when the page is looked at again', async () => {
    const { page, soul } = await it.openSoul('Be calm.');
    await it.api('PUT', '/soul', { content: 'Be brief.' });
    await look(page);
    await eventually(async () => assert.equal(await soul.inputValue(), 'Be brief.'));
  });

  test('a soul that is changed elsewhere takes nothing from what is written, and is asked about', async () => {
    const { page, soul } = await it.openSoul('Be calm.');
    await soul.fill('Be mine.');
    await it.api('PUT', '/soul', { content: 'Be theirs.' });
    const read = page.waitForResponse('**/soul');
    await look(page);
    await read;
    await soul.press('End');
    await soul.pressSequentially(' Always.');
    assert.equal(await soul.inputValue(), 'Be mine. Always.');
    await page.getByRole('button', { name: 'Save soul' }).click();
    const changed = page.getByRole('region', { name: 'Changed meanwhile' });
    await changed.getByText('Be theirs.').waitFor();
    assert.equal((await it.api('GET', '/soul')).content, 'Be theirs.');
  });

  test('what an agent is told is shown as it is by now', async () => {
    await it.api('PUT', '/soul', { content: 'Be calm.' });
    const { id } = await it.api('POST', '/extensions', { type: 'agent', name: 'told', description: 'd', enabled: true, definition: { systemPrompt: 'Once.' } });
    const page = await it.open('/agents/told?tab=prompt');
    const soul = page.locator('details').filter({ hasText: 'Be calm.' });
    await soul.locator('summary').click();
    await it.api('PUT', '/soul', { content: 'Be brief.' });
    await look(page);
    await page.locator('details[open]').getByText('Be brief.').waitFor();
    await it.api('PATCH', `/extensions/${id}`, { definition: { systemPrompt: 'From now on.' } });
    await page.getByText('From now on.').waitFor({ state: 'attached' });
  });

  test('the briefing tells a signal as it comes', async () => {
    const page = await it.open('/system');
    const briefing = page.getByRole('region', { name: 'Briefing' });
    await briefing.getByRole('paragraph').first().waitFor();
    await it.api('POST', '/signals', { kind: 'smoke', message: 'There is smoke', severity: 'warning' });
    await briefing.getByText('There is smoke').waitFor();
  });

  test('the briefing of a project that is out of date is brought up to date, without being opened anew', async () => {
    await it.stage.write({ path: 'briefed/readme', text: '' });
    const { id } = await it.api('POST', '/projects', { name: 'Briefed', path: `${it.home}/briefed` });
    const page = await it.open('/projects');
    const project = page.getByRole('region', { name: 'Briefed' });
    await project.getByText('Briefing').click();
    await project.getByText('$0 today').waitFor();
    await it.api('POST', '/threads', { title: 'Begun since', project_id: id });
    await look(page);
    await project.getByRole('link', { name: 'Begun since' }).waitFor();
    await it.api('DELETE', `/projects/${id}`);
  });

  test('the form of an extension that nothing is written in shows what it was changed to elsewhere, as form or raw', async () => {
    const { id } = await it.api('POST', '/extensions', { type: 'command', name: 'followed', description: 'd', definition: { prompt: 'old' } });
    const page = await it.open('/extensions/followed');
    const prompt = page.getByRole('textbox', { name: /Prompt/ });
    await eventually(async () => assert.equal(await prompt.inputValue(), 'old'));
    await it.api('PATCH', `/extensions/${id}`, { definition: { prompt: 'newer' }, description: 'said anew' });
    await eventually(async () => assert.equal(await prompt.inputValue(), 'newer'));
    assert.equal(await page.getByRole('textbox', { name: 'Description', exact: true }).inputValue(), 'said anew');
    await page.getByRole('button', { name: 'Raw' }).click();
    await it.api('PATCH', `/extensions/${id}`, { definition: { prompt: 'newest' } });
    const raw = page.getByRole('textbox', { name: 'Definition as JSON' });
    await eventually(async () => assert.match(await raw.inputValue(), /"newest"/));
    await raw.fill('{"prompt": "mine"}');
    await it.api('PATCH', `/extensions/${id}`, { description: 'said again' });
    await page.getByRole('paragraph').getByText('said again').waitFor();
    assert.equal(await raw.inputValue(), '{"prompt": "mine"}');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('region', { name: 'Changed meanwhile' }).waitFor();
  });

  test('a file on disk that nothing is written over is shown as its record is changed', async () => {
    const { id } = await it.api('POST', '/extensions', { type: 'agent', name: 'disk-followed', description: 'd', definition: { systemPrompt: 'old' } });
    const page = await it.open('/extensions/disk-followed?tab=files');
    const config = page.getByRole('textbox', { name: 'Configuration on disk' });
    await eventually(async () => assert.match(await config.inputValue(), /"old"/));
    await it.api('PATCH', `/extensions/${id}`, { definition: { systemPrompt: 'new' } });
    await eventually(async () => assert.match(await config.inputValue(), /"new"/));
  });

  test('a project that is removed elsewhere takes nothing from what is written about it', async () => {
    await it.stage.write({ path: 'gone-work/readme', text: '' });
    const { id } = await it.api('POST', '/projects', { name: 'Gone', path: `${it.home}/gone-work` });
    const page = await it.open('/projects');
    await page.getByRole('button', { name: 'Edit' }).click();
    const description = page.getByRole('textbox', { name: 'Description' });
    await description.fill('half a thought');
    await it.api('DELETE', `/projects/${id}`);
    const read = page.waitForResponse('**/projects');
    await look(page);
    await read;
    await page.getByText('It was removed elsewhere').waitFor();
    await page.keyboard.type(' or more');
    assert.equal(await description.inputValue(), 'half a thought or more');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('No project yet').waitFor();
  });
}
