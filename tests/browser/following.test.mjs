import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, holdResponses, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  /** Simulates that the page becomes visible again. */
  const showPage = (page) => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));

  test('a soul changed elsewhere is updated when the page becomes visible', async () => {
    const { page, soul } = await env.openSoul('Be calm.');
    await env.api('PUT', '/soul', { content: 'Be brief.' });
    await showPage(page);
    await eventually(async () => assert.equal(await soul.inputValue(), 'Be brief.'));
  });

  test('a soul changed elsewhere keeps the typed text and reports the conflict', async () => {
    const { page, soul } = await env.openSoul('Be calm.');
    await soul.fill('Be mine.');
    await env.api('PUT', '/soul', { content: 'Be theirs.' });
    const read = page.waitForResponse('**/soul');
    await showPage(page);
    await read;
    await soul.press('End');
    await soul.pressSequentially(' Always.');
    assert.equal(await soul.inputValue(), 'Be mine. Always.');
    await page.getByRole('button', { name: 'Save soul' }).click();
    const changed = page.getByRole('region', { name: 'Conflicting change' });
    await changed.getByText('Be theirs.').waitFor();
    assert.equal((await env.api('GET', '/soul')).content, 'Be theirs.');
  });

  test('an agent’s full prompt is up to date', async () => {
    await env.api('PUT', '/soul', { content: 'Be calm.' });
    const { id } = await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'told',
      description: 'd',
      enabled: true,
      definition: { systemPrompt: 'Once.' },
    });
    const page = await env.open('/agents/told?tab=prompt');
    const soul = page.locator('details').filter({ hasText: 'Be calm.' });
    await soul.locator('summary').click();
    await env.api('PUT', '/soul', { content: 'Be brief.' });
    await showPage(page);
    await page.locator('details[open]').getByText('Be brief.').waitFor();
    await env.api('PATCH', `/extensions/${id}`, { definition: { systemPrompt: 'From now on.' } });
    await page.getByText('From now on.').waitFor({ state: 'attached' });
  });

  test('the briefing shows a signal when it is raised', async () => {
    const page = await env.open('/system');
    const briefing = page.getByRole('region', { name: 'Briefing' });
    await briefing.getByRole('paragraph').first().waitFor();
    await env.api('POST', '/signals', { kind: 'smoke', message: 'There is smoke', severity: 'warning' });
    await briefing.getByText('There is smoke').waitFor();
  });

  test('an outdated project briefing is updated while it is open', async () => {
    await env.backend.write({ path: 'briefed/readme', text: '' });
    const { id } = await env.api('POST', '/projects', { name: 'Briefed', path: `${env.home}/briefed` });
    const page = await env.open('/projects');
    const project = page.getByRole('region', { name: 'Briefed' });
    await project.getByText('Briefing').click();
    await project.getByText('$0 today').waitFor();
    await env.api('POST', '/threads', { title: 'Begun since', project_id: id });
    await showPage(page);
    await project.getByRole('link', { name: 'Begun since' }).waitFor();
    await env.api('DELETE', `/projects/${id}`);
  });

  test('an unedited extension form follows changes made elsewhere, both as a form and as JSON', async () => {
    const { id } = await env.api('POST', '/extensions', {
      type: 'command',
      name: 'followed',
      description: 'd',
      definition: { prompt: 'old' },
    });
    const page = await env.open('/extensions/followed');
    const prompt = page.getByRole('textbox', { name: /Prompt/ });
    await eventually(async () => assert.equal(await prompt.inputValue(), 'old'));
    await env.api('PATCH', `/extensions/${id}`, { definition: { prompt: 'newer' }, description: 'said anew' });
    await eventually(async () => assert.equal(await prompt.inputValue(), 'newer'));
    assert.equal(await page.getByRole('textbox', { name: 'Description', exact: true }).inputValue(), 'said anew');
    await page.getByRole('button', { name: 'Raw' }).click();
    await env.api('PATCH', `/extensions/${id}`, { definition: { prompt: 'newest' } });
    const raw = page.getByRole('textbox', { name: 'Definition as JSON' });
    await eventually(async () => assert.match(await raw.inputValue(), /"newest"/));
    await raw.fill('{"prompt": "mine"}');
    await env.api('PATCH', `/extensions/${id}`, { description: 'said again' });
    await page.getByRole('paragraph').getByText('said again').waitFor();
    assert.equal(await raw.inputValue(), '{"prompt": "mine"}');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('region', { name: 'Conflicting change' }).waitFor();
  });

  test('an unedited file on disk follows changes of its record', async () => {
    const { id } = await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'disk-followed',
      description: 'd',
      definition: { systemPrompt: 'old' },
    });
    const page = await env.open('/extensions/disk-followed?tab=files');
    const config = page.getByRole('textbox', { name: 'Configuration on disk' });
    await eventually(async () => assert.match(await config.inputValue(), /"old"/));
    await env.api('PATCH', `/extensions/${id}`, { definition: { systemPrompt: 'new' } });
    await eventually(async () => assert.match(await config.inputValue(), /"new"/));
  });

  test('a project removed elsewhere keeps the text typed about it', async () => {
    await env.backend.write({ path: 'gone-work/readme', text: '' });
    const { id } = await env.api('POST', '/projects', { name: 'Gone', path: `${env.home}/gone-work` });
    const page = await env.open('/projects');
    await page.getByRole('button', { name: 'Edit' }).click();
    const description = page.getByRole('textbox', { name: 'Description' });
    await description.fill('half a thought');
    await env.api('DELETE', `/projects/${id}`);
    const read = page.waitForResponse('**/projects');
    await showPage(page);
    await read;
    await page.getByText('This project was removed elsewhere').waitFor();
    await page.keyboard.type(' or more');
    assert.equal(await description.inputValue(), 'half a thought or more');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('No projects yet').waitFor();
  });

  test('a change that arrives while a chat is being read again is not undone by the response', async () => {
    const { id } = await env.thread({ title: 'Before' });
    for (const content of ['One', 'Two']) await env.api('POST', `/threads/${id}/turns`, { role: 'user', content });
    const page = await env.open(`/t/${id}`);
    const title = page.getByRole('heading', { level: 1 });
    const questions = page.getByRole('article', { name: 'You' });
    await eventually(async () => assert.equal(await title.textContent(), 'Before'));
    await questions.getByText('Two').waitFor();
    const release = await holdResponses(page, 'GET', /\/turns\?/);
    const read = page.waitForResponse((response) => response.url().endsWith(`/threads/${id}`));
    const [first] = await env.turns(id);
    await env.api('DELETE', `/turns/${first.id}`);
    await read;
    await env.api('PATCH', `/threads/${id}`, { title: 'After', mode: 'act' });
    await eventually(async () => assert.equal(await title.textContent(), 'After'));
    release();
    await eventually(async () => assert.equal(await questions.count(), 1));
    assert.equal(await title.textContent(), 'After');
    assert.ok(await page.getByRole('radio', { name: 'Act' }).isChecked());
  });
}
