import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { eventually, message, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const raw = (page) => page.getByRole('textbox', { name: 'Definition as JSON' });
  const save = (page) => page.getByRole('button', { name: 'Save', exact: true });
  const go = (page, route) => page.evaluate((hash) => (location.hash = hash), `#${route}`);

  const command = (name) =>
    env.api('POST', '/extensions', { type: 'command', name, description: 'd', definition: { prompt: 'old' } });
  const promptOf = async (name) => (await env.api('GET', `/extensions/${name}`)).definition.prompt;

  async function addProposal(name, head = `target: knowledge/wiki/${name}.md\n`, content = '# New\n') {
    const text = `---\ntitle: ${name}\ntype: knowledge\nagent: assistant\n${head}status: pending\ncreated_at: 2026-01-02T03:04:05.678Z\nreason: It was missing.\n---\n${content}`;
    await env.backend.write({ path: `.agent-gateway/autoresearch/proposals/assistant/2026-01-02/${name}.md`, text });
  }

  test('the form reports unknown names, and rejects an unknown agent of a job', async () => {
    const page = await env.open('/agents/+new');
    await page.getByRole('textbox', { name: 'Name' }).first().fill('speller');
    await page.getByRole('textbox', { name: 'Description' }).first().fill('d');
    await page.getByRole('button', { name: 'Raw' }).click();
    await page.getByRole('textbox', { name: 'Definition as JSON' }).fill('{"tools": ["Read", "Reed"]}');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('there is no tool Reed').waitFor();
    await page.waitForURL(/#\/agents\/speller/);
    await page.getByText('there is no tool Reed').waitFor();
    await page.goto(`${env.proxy.url}/ui/#/jobs/+new`);
    await page.getByRole('textbox', { name: 'Name' }).first().fill('lost');
    await page.getByRole('textbox', { name: 'Description' }).first().fill('d');
    await page.getByRole('button', { name: 'Raw' }).click();
    await page.getByRole('textbox', { name: 'Definition as JSON' }).fill('{"agent_id": "asistant", "prompt": "x"}');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('there is no agent asistant').waitFor();
    assert.ok((await env.api('GET', '/extensions?type=job')).every(({ name }) => name !== 'lost'));
  });

  test('an open knowledge page shows the content of a proposal applied elsewhere', async () => {
    await env.backend.write({ path: '.agent-gateway/knowledge/wiki/rewritten.md', text: '# Rewritten\n\nBefore.\n' });
    await addProposal('rewritten', 'target: knowledge/wiki/rewritten.md\n', '# Rewritten\n\nAfter.\n');
    const page = await env.open('/knowledge/rewritten');
    await page.getByText('Before.').waitFor();
    await env.api('POST', '/proposals/assistant/2026-01-02/rewritten/apply', {});
    await page.getByText('After.').waitFor();
  });

  test('invalid JSON can neither be saved nor switched to the form', async () => {
    await command('not-json');
    const page = await env.open('/extensions/not-json');
    await page.getByRole('button', { name: 'Raw' }).click();
    await raw(page).fill('{"prompt": "new"');
    await save(page).click();
    await page.getByText(/Not valid JSON/).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Form' }).isDisabled());
    assert.equal(await page.getByText('Saved.').count(), 0);
    assert.equal(await promptOf('not-json'), 'old');
    await raw(page).fill('{"prompt": "new"}');
    await save(page).click();
    await page.getByText('Saved.').waitFor();
    assert.equal(await promptOf('not-json'), 'new');
  });

  test('the file of an extension is not saved while its text is not JSON', async () => {
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'on-disk',
      description: 'd',
      enabled: true,
      definition: { systemPrompt: 'old' },
    });
    const page = await env.open('/extensions/on-disk?tab=files');
    const config = page.getByRole('textbox', { name: 'Configuration on disk' });
    const text = await config.inputValue();
    await config.fill(text.replace('old', 'new'));
    await config.fill(text.replace('old', 'newer').replace(/}\s*$/, ''));
    const replace = page.getByRole('button', { name: 'Replace the file' });
    await replace.click();
    await page.getByText(/Not valid JSON/).waitFor();
    await config.fill(text.replace('old', 'newest'));
    await replace.click();
    await page.getByText('Saved to disk').waitFor();
    assert.equal((await env.api('GET', '/extensions/on-disk')).definition.systemPrompt, 'newest');
    assert.equal(await page.getByText('Saved to disk').count(), 1);
  });

  test('an edited extension is restored after leaving the page, until it is saved', async () => {
    await command('left-alone');
    const page = await env.open('/extensions/left-alone');
    await page.getByRole('textbox', { name: /Prompt/ }).fill('half a thought');
    await go(page, '/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    await go(page, '/extensions/left-alone');
    await page.getByText('You have unsaved changes').waitFor();
    assert.equal(await page.getByRole('textbox', { name: /Prompt/ }).inputValue(), 'half a thought');
    await page.getByRole('button', { name: 'Raw' }).click();
    await raw(page).fill('{"prompt": "no end');
    await page.reload();
    await eventually(async () => assert.equal(await raw(page).inputValue(), '{"prompt": "no end'));
    await page.getByText(/Not valid JSON/).waitFor();
    await raw(page).fill('{"prompt": "an end"}');
    await save(page).click();
    await page.getByText('Saved.').waitFor();
    await page.reload();
    await page.getByRole('textbox', { name: /Prompt/ }).waitFor();
    assert.equal(await page.getByText('You have unsaved changes').count(), 0);
    assert.equal(await page.getByRole('textbox', { name: /Prompt/ }).inputValue(), 'an end');
  });

  test('leaving right after Save does not navigate back', async () => {
    await command('left');
    const page = await env.open('/extensions/left');
    await page.getByRole('textbox', { name: /Prompt/ }).fill('new');
    let read;
    await page.route(
      ({ pathname }) => pathname === '/extensions',
      (route) => (read = () => route.continue()),
    );
    await save(page).click();
    await page.getByText('Saved.').waitFor();
    await eventually(() => assert.ok(read));
    await go(page, '/agents');
    await page.getByRole('textbox', { name: 'Soul' }).waitFor();
    const answered = page.waitForResponse((response) => new URL(response.url()).pathname === '/extensions');
    await read();
    await answered;
    await page.evaluate(() => new Promise(requestAnimationFrame));
    assert.match(page.url(), /#\/agents$/);
  });

  test('a draft is not saved over changes made elsewhere and can be discarded', async () => {
    const { id } = await command('changed-since');
    const page = await env.open('/extensions/changed-since');
    await page.getByRole('textbox', { name: /Prompt/ }).fill('mine');
    await env.api('PATCH', `/extensions/${id}`, { definition: { prompt: 'theirs' } });
    await page.reload();
    await page.getByText('You have unsaved changes').waitFor();
    await save(page).click();
    await page.getByText('This was changed elsewhere').waitFor();
    await page.getByRole('button', { name: 'Keep editing' }).click();
    await page.getByRole('button', { name: 'Discard changes' }).click();
    assert.equal(await page.getByRole('textbox', { name: /Prompt/ }).inputValue(), 'theirs');
    await page.reload();
    await page.getByRole('textbox', { name: /Prompt/ }).waitFor();
    assert.equal(await page.getByText('You have unsaved changes').count(), 0);
  });

  test('an extension disabled next to its editor is saved without a conflict and stays disabled', async () => {
    await command('switched');
    const page = await env.open('/extensions/switched');
    await page.getByRole('textbox', { name: /Prompt/ }).fill('new');
    await page.getByRole('switch').uncheck();
    await page.getByText('disabled', { exact: true }).waitFor();
    await save(page).click();
    await page.getByText('Saved.').waitFor();
    const { enabled, definition } = await env.api('GET', '/extensions/switched');
    assert.deepEqual([enabled, definition.prompt], [false, 'new']);
  });

  test('a conflict shows everything that was changed elsewhere', async () => {
    const { id } = await command('described-twice');
    const page = await env.open('/extensions/described-twice');
    await page.getByRole('textbox', { name: /Prompt/ }).fill('mine');
    await env.api('PATCH', `/extensions/${id}`, { description: 'their description' });
    await save(page).click();
    await page.getByRole('region', { name: 'Conflicting change' }).getByText('their description').waitFor();
  });

  test('an unsaved soul is restored after leaving the page, until it is saved', async () => {
    const page = await env.open('/agents');
    const soul = page.getByRole('textbox', { name: 'Soul' });
    await soul.fill('Be kind.');
    await go(page, '/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    await page.goBack();
    await page.getByText('You have unsaved changes').waitFor();
    assert.equal(await soul.inputValue(), 'Be kind.');
    await env.api('PUT', '/soul', { content: 'Be brief.' });
    await page.reload();
    await page.getByText('The saved version has changed since').waitFor();
    await page.getByRole('button', { name: 'Save soul' }).click();
    await page.getByRole('button', { name: 'Overwrite with mine' }).click();
    await page.getByText('Saved. Used').waitFor();
    await page.reload();
    await eventually(async () => assert.equal(await soul.inputValue(), 'Be kind.'));
    assert.equal(await page.getByText('You have unsaved changes').count(), 0);
    assert.equal((await env.api('GET', '/soul')).content, 'Be kind.');
  });

  test('a soul changed elsewhere is not overwritten silently', async () => {
    const { page, soul } = await env.openSoul('Be calm.');
    await soul.fill('Be mine.');
    await env.api('PUT', '/soul', { content: 'Be theirs.' });
    await page.getByRole('button', { name: 'Save soul' }).click();
    const changed = page.getByRole('region', { name: 'Conflicting change' });
    await changed.getByText('Be theirs.').waitFor();
    assert.equal((await env.api('GET', '/soul')).content, 'Be theirs.');
    await changed.getByRole('button', { name: 'Use the current version' }).click();
    await eventually(async () => assert.equal(await soul.inputValue(), 'Be theirs.'));
    await changed.waitFor({ state: 'detached' });
  });

  test('text typed while a soul is being saved is kept', async () => {
    const page = await env.open('/agents');
    const soul = page.getByRole('textbox', { name: 'Soul' });
    await soul.fill('One.');
    let release;
    const held = new Promise((free) => (release = free));
    await page.route('**/soul', async (route) => {
      if (route.request().method() === 'PUT') await held;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Save soul' }).click();
    await soul.fill('One. Two.');
    release();
    await page.getByText('Saved. Used').waitFor();
    await eventually(async () => assert.equal((await env.api('GET', '/soul')).content, 'One.'));
    assert.equal(await soul.inputValue(), 'One. Two.');
    await page.getByRole('button', { name: 'Save soul' }).click();
    await eventually(async () => assert.equal((await env.api('GET', '/soul')).content, 'One. Two.'));
  });

  test('a file on disk changed elsewhere is not overwritten silently, and a reconnection keeps the typed text', async () => {
    const { id } = await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'disk-twice',
      description: 'd',
      definition: { systemPrompt: 'old' },
    });
    const page = await env.open('/extensions/disk-twice?tab=files');
    const config = page.getByRole('textbox', { name: 'Configuration on disk' });
    const text = await config.inputValue();
    await config.fill(text.replace('old', 'mine'));
    const again = page.waitForResponse(/disk-config/);
    env.proxy.cut();
    await again;
    assert.match(await config.inputValue(), /"mine"/);
    await env.api('PATCH', `/extensions/${id}/disk-config`, JSON.parse(text.replace('old', 'theirs')));
    await page.getByRole('button', { name: 'Replace the file' }).click();
    await page.getByRole('region', { name: 'Conflicting change' }).waitFor();
    assert.equal((await env.api('GET', '/extensions/disk-twice')).definition.systemPrompt, 'theirs');
    await page.getByRole('button', { name: 'Overwrite with mine' }).click();
    await page.getByText('Saved to disk').waitFor();
    assert.equal((await env.api('GET', '/extensions/disk-twice')).definition.systemPrompt, 'mine');
  });

  test('a project changed elsewhere is not overwritten silently', async () => {
    await env.backend.write({ path: 'shared-work/readme', text: '' });
    const { id } = await env.api('POST', '/projects', { name: 'Begun', path: `${env.home}/shared-work` });
    const page = await env.open('/projects');
    const card = page.getByRole('region', { name: 'Begun' });
    await card.getByRole('button', { name: 'Edit' }).click();
    await card.getByRole('textbox', { name: 'Name' }).fill('Mine');
    await env.api('PATCH', `/projects/${id}`, { name: 'Theirs' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const question = page.getByRole('dialog', { name: 'This was changed elsewhere' });
    await question.getByText('“Theirs”').waitFor();
    assert.equal((await env.api('GET', '/projects')).find((one) => one.id === id).name, 'Theirs');
    await question.getByRole('button', { name: 'Overwrite with mine' }).click();
    await eventually(async () =>
      assert.equal((await env.api('GET', '/projects')).find((one) => one.id === id).name, 'Mine'),
    );
  });

  test('a proposal whose target changed after it was shown is compared again before it is applied', async () => {
    await addProposal('moved-on');
    await env.backend.write({ path: '.agent-gateway/knowledge/wiki/moved-on.md', text: '# Old\n' });
    const page = await env.open('/inbox/assistant/2026-01-02/moved-on');
    await page.getByText('# Old').waitFor();
    const target = await env.backend.write({
      path: '.agent-gateway/knowledge/wiki/moved-on.md',
      text: '# Written meanwhile\n',
    });
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Compare again').waitFor();
    await page.getByText('# Written meanwhile').waitFor();
    assert.equal(readFileSync(target, 'utf8'), '# Written meanwhile\n');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await eventually(() => assert.match(readFileSync(target, 'utf8'), /# New/));
  });

  test('a note typed while another is being stored is not lost', async () => {
    const { id } = await env.thread({ title: 'Noted' });
    const page = await env.open(`/t/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Noted' }).waitFor();
    await page.getByRole('button', { name: 'Add a note' }).click();
    const note = page.getByRole('textbox', { name: 'Note' });
    let release;
    const held = new Promise((free) => (release = free));
    await page.route('**/turns', async (route) => (await held, route.continue()));
    await note.fill('first');
    await note.press('Enter');
    await note.pressSequentially('second');
    release();
    await page.getByText('first', { exact: true }).waitFor();
    assert.equal(await note.inputValue(), 'second');
    await note.press('Enter');
    await note.waitFor({ state: 'detached' });
    // The event can arrive before the response.
    await eventually(async () =>
      assert.deepEqual(
        (await env.turns(id)).map(({ content }) => content),
        ['first', 'second'],
      ),
    );
  });

  test('the form of a job states what a name may contain', async () => {
    const page = await env.open('/jobs/+new');
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('Daily Report');
    await page.getByText('Lowercase letters and digits, separated by single hyphens').waitFor();
    assert.match(await name.getAttribute('title'), /Lowercase letters and digits/);
    assert.equal(await name.evaluate((input) => input.validity.patternMismatch), true);
  });

  test('the letter shortcuts work as soon as the inbox opens, and Escape leaves what they opened', async () => {
    await addProposal('by-letters');
    const page = await env.open('/chats');
    await page.getByRole('link', { name: /^Inbox/ }).click();
    await page.getByText('It was missing.').waitFor();
    await page.keyboard.press('e');
    const content = page.getByRole('textbox', { name: 'New content' });
    await content.fill('# Mine, a jar\n');
    await content.press('Escape');
    await content.waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Edit');
    await page.keyboard.press('r');
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'INPUT');
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Edit');
    await page.reload();
    assert.equal(await content.inputValue(), '# Mine, a jar\n');
    await content.press('Escape');
    await page.keyboard.press('e');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await eventually(() =>
      assert.match(readFileSync(`${env.data}/knowledge/wiki/by-letters.md`, 'utf8'), /# Mine, a jar/),
    );
  });

  test('the letter shortcuts can be turned off', async () => {
    await addProposal('no-letters');
    const page = await env.open('/inbox');
    await page.getByRole('checkbox', { name: /Letter shortcuts/ }).uncheck();
    await page.getByText('It was missing.').waitFor();
    await page.keyboard.press('e');
    assert.equal(await page.getByRole('textbox', { name: 'New content' }).count(), 0);
    await env.api('POST', '/proposals/assistant/2026-01-02/no-letters/reject', {});
  });

  test('a decided proposal stays visible with its previous version, and the shortcuts continue after it', async () => {
    for (const name of ['row-a', 'row-b', 'row-c']) await addProposal(name);
    await env.backend.write({ path: '.agent-gateway/knowledge/wiki/row-b.md', text: '# Before\n' });
    const page = await env.open('/inbox');
    const rows = page.getByRole('list', { name: /Proposals/ }).getByRole('button');
    await rows.nth(2).waitFor();
    const before = await rows.count();
    const second = await rows.nth(1).locator('span').first().textContent();
    await page.keyboard.press('j');
    await page.getByRole('button', { name: 'Apply', exact: true }).waitFor();
    await page.keyboard.press('a');
    await page.getByText('Applied.', { exact: true }).first().waitFor();
    await eventually(async () => assert.equal(await rows.count(), before - 1));
    await page.getByText('Previous version').waitFor();
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H2'));
    const third = await rows.nth(1).locator('span').first().textContent();
    await page.keyboard.press('j');
    await page.getByRole('heading', { level: 2, name: third }).waitFor();
    assert.notEqual(second, third);
    for (const name of ['row-a', 'row-b', 'row-c'])
      await env.api('POST', `/proposals/assistant/2026-01-02/${name}/reject`, {}).catch(() => {});
  });

  test('a proposal without a target cannot be applied, and a rejected application is explained', async () => {
    await addProposal('aimless', '');
    const page = await env.open('/inbox');
    await page.getByText('names no target').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Apply', exact: true }).isDisabled());
    assert.doesNotMatch(await page.getByText(/knowledge proposed by assistant/).textContent(), /·/);
    await env.api('POST', '/proposals/assistant/2026-01-02/aimless/reject', {});
    await addProposal('closed', 'target: knowledge/wiki/\n');
    await page.reload();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText(/validation failed: target .*director/).waitFor();
    await env.api('POST', '/proposals/assistant/2026-01-02/closed/reject', {});
  });

  test('a confirmation is left by Escape or Cancel and can be opened again', async () => {
    const { id } = await env.thread({ title: 'Stays' });
    const page = await env.open(`/t/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Stays' }).waitFor();
    const dialog = page.getByRole('dialog');
    for (const leave of [
      () => page.keyboard.press('Escape'),
      () => dialog.getByRole('button', { name: 'Cancel' }).click(),
    ]) {
      await page.getByRole('button', { name: 'Delete chat' }).click();
      await dialog.waitFor();
      await leave();
      await dialog.waitFor({ state: 'detached' });
    }
    assert.equal((await env.api('GET', `/threads/${id}`)).title, 'Stays');
  });

  test('Escape closes the palette even after typing', async () => {
    const page = await env.open('/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('some words');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('text typed right after the palette’s shortcut is entered there, even while offline', async () => {
    const page = await env.open('/new');
    await message(page).focus();
    await page.route(/\.js$/, (route) => route.abort());
    await page.keyboard.press('Control+k');
    await page.keyboard.type('costs');
    assert.equal(await page.getByRole('combobox', { name: 'Search or run a command' }).inputValue(), 'costs');
    assert.equal(await message(page).inputValue(), '');
  });

  test('a confirmation focuses Cancel first and restores the focus', async () => {
    const { id } = await env.thread({ title: 'Kept' });
    const page = await env.open(`/t/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Kept' }).waitFor();
    const held = () => page.evaluate(() => document.activeElement.ariaLabel ?? document.activeElement.textContent);
    const discard = page.getByRole('button', { name: 'Delete chat' });
    await discard.press('Enter');
    const question = page.getByRole('dialog', { name: 'Delete this chat?' });
    await question.waitFor();
    await eventually(async () => assert.equal(await held(), 'Cancel'));
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    await eventually(async () => assert.equal(await held(), 'Delete chat'));
  });

  test('a confirmation opened from the palette restores the focus', async () => {
    const page = await env.open(`/t/${(await env.thread({ title: 'Kept' })).id}`);
    await page.getByRole('heading', { level: 1, name: 'Kept' }).waitFor();
    await page.getByRole('textbox', { name: 'Message' }).focus();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('forget this browser');
    await page.keyboard.press('Enter');
    const question = page.getByRole('dialog', { name: 'Forget this browser?' });
    await question.waitFor();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.ariaLabel), 'Message'));
  });

  test('deleting a turn by keyboard focuses the conversation', async () => {
    const page = await env.open(
      `/t/${await env.threadWith({ role: 'user', content: 'Asked' }, { role: 'assistant', content: 'Answered' })}`,
    );
    await page.getByRole('button', { name: 'Delete answer' }).press('Enter');
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.role), 'log'));
    await page.getByRole('button', { name: 'Undo' }).press('Enter');
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.role), 'log'));
  });

  test('deleting a turn can be undone from another view, which keeps the focus', async () => {
    const id = await env.threadWith({ role: 'user', content: 'Asked' }, { role: 'assistant', content: 'Answered' });
    const page = await env.open(`/t/${id}`);
    await page.getByRole('button', { name: 'Delete answer' }).press('Enter');
    await page.getByText('Answered', { exact: true }).waitFor({ state: 'detached' });
    await go(page, '/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).press('Enter');
    await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.id), 'main'));
    await go(page, `/t/${id}`);
    await page.getByText('Answered', { exact: true }).waitFor();
  });
}
