import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import {
  answers,
  choose,
  eventually,
  holdResponses,
  message,
  missing,
  sendMessage,
  withGateway,
} from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  /** Creates a project, and opens its form. */
  async function editProject(name) {
    const path = await env.backend.write({ path: `${name}/readme`, text: '' });
    const { id } = await env.api('POST', '/projects', { name, path: path.replace('/readme', '') });
    const page = await env.open('/projects');
    const card = page.getByRole('region', { name });
    await card.getByRole('button', { name: 'Edit' }).click();
    return { id, page, card };
  }

  /** Creates an extension, and opens its file. */
  async function editFile(name) {
    const { id } = await env.api('POST', '/extensions', {
      type: 'agent',
      name,
      description: 'd',
      definition: { systemPrompt: 'old' },
    });
    const page = await env.open(`/extensions/${name}?tab=files`);
    const config = page.getByRole('textbox', { name: 'Configuration on disk' });
    return {
      id,
      page,
      config,
      text: await config.inputValue(),
      replace: page.getByRole('button', { name: 'Replace the file' }),
    };
  }

  /** Writes a proposal for a new knowledge page. */
  async function addProposal(name) {
    const text = `---\ntitle: ${name}\ntype: knowledge\nagent: assistant\ntarget: knowledge/wiki/${name}.md\nstatus: pending\ncreated_at: 2026-01-02T03:04:05.678Z\nreason: It was missing.\n---\n# New\n`;
    await env.backend.write({ path: `.agent-gateway/autoresearch/proposals/assistant/2026-01-02/${name}.md`, text });
  }

  test('a conflict in a project is reported also if Save is pressed twice', async () => {
    const { id, page, card } = await editProject('pressed-twice');
    await card.getByRole('textbox', { name: 'Name' }).fill('Mine');
    await env.api('PATCH', `/projects/${id}`, { name: 'Theirs' });
    await card.getByRole('button', { name: 'Save', exact: true }).dblclick();
    await page.getByRole('dialog', { name: 'This was changed elsewhere' }).getByText('“Theirs”').waitFor();
    assert.equal((await env.api('GET', `/projects/${id}`)).name, 'Theirs');
  });

  test('what is wrong with a project, a secret or a stage is said in its form', async () => {
    const { page, card } = await editProject('refused');
    const refuse = (route) =>
      route.request().method() === 'GET'
        ? route.continue()
        : route.fulfill({ status: 409, json: { error: 'not now' } });
    for (const path of ['projects', 'secrets', 'stage']) await page.route(new RegExp(`/${path}(/|$)`), refuse);
    await card.getByRole('textbox', { name: 'Name' }).fill('Refused');
    await card.getByRole('button', { name: 'Save', exact: true }).click();
    await card.getByRole('alert').getByText('not now').waitFor();
    const add = page.locator('form', { hasText: 'Add a project' });
    await add.getByRole('textbox', { name: 'Name' }).fill('Outside');
    await add.getByRole('textbox', { name: 'Directory' }).fill('/etc');
    await add.getByRole('button', { name: 'Add' }).click();
    await add.getByRole('alert').getByText('not now').waitFor();

    await page.goto(`${env.proxy.url}/ui/#/system/models`);
    const secrets = page.getByRole('region', { name: 'Secrets' });
    await secrets.getByLabel('Name').fill('GROQ_KEY');
    await secrets.getByLabel('Value').fill('secret');
    await secrets.getByRole('button', { name: 'Store secret' }).click();
    await secrets.getByRole('alert').getByText('not now').waitFor();
    assert.equal(await secrets.getByLabel('Value').inputValue(), 'secret');
    await page.goto(`${env.proxy.url}/ui/#/agents/assistant?tab=trust`);
    await choose(page.getByLabel('Change to'), 'operator');
    await page.getByRole('textbox', { name: 'Reason' }).fill('It works well');
    await page.getByRole('button', { name: 'Change stage' }).click();
    await page.locator('main').getByRole('alert').getByText('not now').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Reason' }).inputValue(), 'It works well');
  });

  test('a browser without room for what is written says so once, and the page works on', async () => {
    const page = await env.open('/new');
    await message(page).waitFor();
    await page.evaluate(() => {
      let text = 'x'.repeat(1 << 22);
      for (let i = 0; text; i++)
        try {
          localStorage.setItem(`full.${i}`, text);
        } catch {
          text = text.slice(text.length / 2 + 1);
        }
    });
    await message(page).fill('There is no room for this. '.repeat(10));
    const told = page.getByText('This browser is full.');
    await told.waitFor();
    await page.getByRole('button', { name: 'Dismiss' }).click();
    await sendMessage(page, 'Can you hear me?');
    await answers(page).first().waitFor();
    assert.equal(await told.count(), 0);
  });

  test('a project is not saved while its current version cannot be read', async () => {
    const { id, page, card } = await editProject('unreadable');
    await card.getByRole('textbox', { name: 'Name' }).fill('Mine');
    env.allowedErrors.push(/status of 500/);
    await page.route(/\/projects(\/|$)/, (route) =>
      route.request().method() === 'GET'
        ? route.fulfill({ status: 500, json: { error: 'the disk is on fire' } })
        : route.continue(),
    );
    await card.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('the disk is on fire').first().waitFor();
    await eventually(async () => assert.ok(await card.getByRole('button', { name: 'Save', exact: true }).isEnabled()));
    assert.equal((await env.api('GET', `/projects/${id}`)).name, 'unreadable');
  });

  test('text typed while a project is being saved is kept', async () => {
    const { id, page, card } = await editProject('written-on');
    const box = card.getByRole('textbox', { name: 'Description' });
    await box.fill('One.');
    const release = await holdResponses(page, 'PATCH', `**/projects/${id}`);
    await card.getByRole('button', { name: 'Save', exact: true }).click();
    await box.fill('One. Two.');
    release();
    await card.locator('p.muted').getByText('One.', { exact: true }).waitFor();
    assert.equal(await box.inputValue(), 'One. Two.');
    await card.getByRole('button', { name: 'Save', exact: true }).click();
    await box.waitFor({ state: 'detached' });
    assert.equal((await env.api('GET', `/projects/${id}`)).description, 'One. Two.');
  });

  test('unsaved changes to projects are kept and shown in all tabs until they are saved or discarded', async () => {
    const { id, page, card } = await editProject('kept');
    await env.backend.write({ path: 'kept-too/readme', text: '' });
    const other = await page.context().newPage();
    await other.goto(page.url());
    const description = (tab) =>
      tab.getByRole('region', { name: 'kept' }).getByRole('textbox', { name: 'Description' });
    const add = (tab) => tab.locator('form', { hasText: 'Add a project' });
    await add(other).waitFor();
    await description(page).fill('half a thought');
    await eventually(async () => assert.equal(await description(other).inputValue(), 'half a thought'));
    await add(page).getByRole('textbox', { name: 'Name' }).fill('Another');
    await page.evaluate(() => (location.hash = '#/costs'));
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    await page.goBack();
    assert.equal(await description(page).inputValue(), 'half a thought');
    await page.reload();
    assert.equal(await description(page).inputValue(), 'half a thought');
    assert.equal(await add(page).getByRole('textbox', { name: 'Name' }).inputValue(), 'Another');

    await add(page).getByRole('textbox', { name: 'Directory' }).fill(`${env.home}/kept-too`);
    await add(page).getByRole('button', { name: 'Add' }).click();
    await page.getByRole('region', { name: 'Another' }).waitFor();
    await eventually(async () =>
      assert.equal(await add(other).getByRole('textbox', { name: 'Name' }).inputValue(), ''),
    );
    await card.getByRole('button', { name: 'Save', exact: true }).click();
    await description(page).waitFor({ state: 'detached' });
    await description(other).waitFor({ state: 'detached' });
    assert.equal((await env.api('GET', `/projects/${id}`)).description, 'half a thought');
    await card.getByRole('button', { name: 'Edit' }).click();
    await description(page).fill('a mistake');
    await card.getByRole('button', { name: 'Cancel' }).click();
    await page.reload();
    await card.getByRole('button', { name: 'Edit' }).waitFor();
    assert.equal(await description(page).count(), 0);
  });

  test('text typed while a file on disk is being saved is kept, even if it is not JSON', async () => {
    const { page, config, text, replace } = await editFile('disk-written-on');
    await config.fill(text.replace('old', 'new'));
    const release = await holdResponses(page, 'PATCH', '**/disk-config');
    await replace.click();
    await eventually(async () =>
      assert.equal((await env.api('GET', '/extensions/disk-written-on')).definition.systemPrompt, 'new'),
    );
    await config.fill(text.replace('old', 'newer').replace(/}\s*$/, ''));
    release();
    await page.getByText('Saved to disk').waitFor();
    await eventually(async () => assert.ok(await replace.isEnabled()));
    assert.match(await config.inputValue(), /"newer"/);
    await config.fill(text.replace('old', 'newest'));
    await replace.click();
    await eventually(async () =>
      assert.equal((await env.api('GET', '/extensions/disk-written-on')).definition.systemPrompt, 'newest'),
    );
    assert.equal(await page.getByRole('region', { name: 'Conflicting change' }).count(), 0);
  });

  test('a field of a file on disk can be emptied, also while a conflict is shown', async () => {
    const { id, page, config, text, replace } = await editFile('disk-emptied');
    await config.fill(text.replace('old', 'mine'));
    await env.api('PATCH', `/extensions/${id}/disk-config`, JSON.parse(text.replace('old', 'theirs')));
    await replace.click();
    const changed = page.getByRole('region', { name: 'Conflicting change' });
    await changed.waitFor();
    await config.fill('');
    assert.equal(await config.inputValue(), '');
    await changed.getByRole('button', { name: 'Overwrite with mine' }).click();
    assert.equal((await env.api('GET', '/extensions/disk-emptied')).definition.systemPrompt, 'theirs');
    await changed.getByRole('button', { name: 'Use the current version' }).click();
    assert.match(await config.inputValue(), /"theirs"/);
  });

  test('an unedited file on disk is updated after a reconnection', async () => {
    const { id, config, text } = await editFile('disk-unwritten');
    await env.api('PATCH', `/extensions/${id}/disk-config`, JSON.parse(text.replace('old', 'theirs')));
    env.proxy.cut();
    await eventually(async () => assert.match(await config.inputValue(), /"theirs"/));
  });

  test('the reason for a rejection and the comments are kept while another proposal is shown, until the decision', async () => {
    await addProposal('first-one');
    await addProposal('second-one');
    const path = '/inbox/assistant/2026-01-02';
    const page = await env.open(`${path}/first-one`);
    const show = (name) => page.evaluate((hash) => (location.hash = hash), `#${path}/${name}`);
    const reason = page.getByRole('textbox', { name: /^Reason/ });
    await reason.fill('It is wrong');
    await show('second-one');
    await eventually(async () => assert.equal(await reason.inputValue(), ''));
    await show('first-one');
    await page.reload();
    assert.equal(await reason.inputValue(), 'It is wrong');
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('region', { name: 'Decided proposal' }).getByText('Rejected.').waitFor();
    const kept = () => page.evaluate(() => Object.keys(localStorage).filter((key) => /feedback/.test(key)));
    await eventually(async () => assert.deepEqual(await kept(), []));
  });

  test('a note is kept while another view is shown, until it is stored', async () => {
    const id = await env.threadWith({ role: 'user', content: 'Asked' });
    const page = await env.open(`/t/${id}`);
    await page.getByRole('button', { name: 'Add a note' }).click();
    const note = page.getByRole('textbox', { name: 'Note' });
    await note.fill('Remember');
    await page.evaluate(() => (location.hash = '#/jobs'));
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await page.evaluate((chat) => (location.hash = `#/t/${chat}`), id);
    await eventually(async () => assert.equal(await note.inputValue(), 'Remember'));
    await note.press('Enter');
    await note.waitFor({ state: 'detached' });
    await eventually(async () =>
      assert.equal(await page.evaluate((chat) => localStorage.getItem(`agw.draft.note.${chat}`), id), null),
    );
    assert.equal((await env.turns(id)).at(-1).content, 'Remember');
  });

  test('lines and numbers being typed into a form are kept when the page is reloaded', async () => {
    const page = await env.open('/extensions/+new?type=integration');
    await page.getByRole('radio', { name: /MCP server, started here/ }).check();
    const lines = page.getByRole('textbox', { name: 'Arguments' });
    await lines.pressSequentially('one\n\ntwo ');
    assert.equal(await lines.inputValue(), 'one\n\ntwo ');
    await page.reload();
    await eventually(async () => assert.equal(await lines.inputValue(), 'one\ntwo'));
    await page.goto(`${env.proxy.url}/ui/#/jobs/+new`);
    await page.getByText('Advanced').click();
    const seconds = page.getByRole('spinbutton', { name: 'Timeout (s)' });
    await seconds.pressSequentially('1.05');
    await page.reload();
    await page.getByText('Advanced').click();
    await eventually(async () => assert.equal(await seconds.inputValue(), '1.05'));
  });

  test('a soul can be saved again after a slow save, without a conflict with its own text', async () => {
    const { page, soul } = await env.openSoul('');
    const save = page.getByRole('button', { name: 'Save soul' });
    await soul.fill('One.');
    const release = await holdResponses(page, 'PUT', '**/soul');
    await save.click();
    await eventually(async () => assert.equal((await env.api('GET', '/soul')).content, 'One.'));
    await soul.fill('One. Two.');
    assert.ok(await save.isDisabled());
    release();
    await save.click();
    await eventually(async () => assert.equal((await env.api('GET', '/soul')).content, 'One. Two.'));
    assert.equal(await page.getByRole('region', { name: 'Conflicting change' }).count(), 0);
  });

  test('a saved soul is not read back', async () => {
    const { page, soul } = await env.openSoul('');
    await soul.fill('One.');
    const requested = [];
    page.on('request', (request) => request.url().endsWith('/soul') && requested.push(request.method()));
    await page.getByRole('button', { name: 'Save soul' }).click();
    await page.getByText('Saved. Used').waitFor();
    assert.deepEqual(requested, ['GET', 'PUT']);
    assert.equal(await soul.inputValue(), 'One.');
  });

  test('a response from before a save does not restore the old soul', async () => {
    const { page, soul } = await env.openSoul('');
    await soul.fill('One.');
    let release;
    await page.route('**/soul', async (route) => {
      if (release) return route.continue();
      const held = new Promise((free) => (release = free));
      const response = await route.fetch();
      await held;
      await route.fulfill({ response });
    });
    env.proxy.cut();
    await eventually(() => assert.ok(release));
    const save = page.getByRole('button', { name: 'Save soul' });
    await save.click();
    await page.getByText('Saved. Used').waitFor();
    const read = page.waitForResponse('**/soul');
    release();
    await read;
    assert.equal(await soul.inputValue(), 'One.');
    await soul.fill('One. Two.');
    await save.click();
    await eventually(async () => assert.equal((await env.api('GET', '/soul')).content, 'One. Two.'));
    assert.equal(await page.getByRole('region', { name: 'Conflicting change' }).count(), 0);
  });

  test('retrying saves the current text of a soul', async () => {
    const { page, soul } = await env.openSoul('');
    await soul.fill('One.');
    env.allowedErrors.push(/status of 500/);
    await page.route('**/soul', (route) =>
      route.request().method() === 'PUT' ? route.fulfill({ status: 500, json: { error: 'full' } }) : route.continue(),
    );
    await page.getByRole('button', { name: 'Save soul' }).click();
    const retry = page.getByRole('button', { name: 'Retry' });
    await retry.waitFor();
    await page.unroute('**/soul');
    await soul.fill('One. Two.');
    await retry.click();
    await page.getByText('Saved. Used').waitFor();
    assert.equal((await env.api('GET', '/soul')).content, 'One. Two.');
  });

  test('an edited proposal is applied as edited even if the editor is closed while it is compared', async () => {
    await addProposal('left-early');
    const page = await env.open('/inbox/assistant/2026-01-02/left-early');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const content = page.getByRole('textbox', { name: 'New content' });
    await content.fill('# Mine\n');
    const release = await holdResponses(page, 'GET', '**/proposals/assistant/2026-01-02/left-early');
    const requested = page.waitForRequest('**/proposals/assistant/2026-01-02/left-early');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await requested;
    await content.press('Escape');
    release();
    await page.getByText('Applied.', { exact: true }).first().waitFor();
    assert.equal(readFileSync(`${env.data}/knowledge/wiki/left-early.md`, 'utf8'), '# Mine\n');
  });

  test('an edited proposal can be compared again before it is applied', async () => {
    await addProposal('edited-over');
    await env.backend.write({ path: '.agent-gateway/knowledge/wiki/edited-over.md', text: '# Old\n' });
    const page = await env.open('/inbox/assistant/2026-01-02/edited-over');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('textbox', { name: 'New content' }).fill('# Mine\n');
    await env.backend.write({ path: '.agent-gateway/knowledge/wiki/edited-over.md', text: '# Written meanwhile\n' });
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Compare again').waitFor();
    const changes = page.getByRole('region', { name: /^Changes/ });
    await changes.getByText('# Written meanwhile').waitFor();
    await changes.getByText('# Mine').waitFor();
    await env.api('POST', '/proposals/assistant/2026-01-02/edited-over/reject', {});
  });

  test('a note that could not be stored keeps the focus where it is and its text in the field', async () => {
    const { id } = await env.thread({ title: 'Noted' });
    const page = await env.open(`/t/${id}`);
    await page.getByRole('heading', { level: 1, name: 'Noted' }).waitFor();
    let release;
    const held = new Promise((free) => (release = free));
    env.allowedErrors.push(/status of 500/);
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

  for (const choice of ['Use the current version', 'Overwrite with mine', 'Keep editing']) {
    test(`deciding a conflict focuses the edited field: ${choice}`, async () => {
      const { page, soul } = await env.openSoul('Old.');
      await soul.fill('Mine.');
      await env.api('PUT', '/soul', { content: 'Theirs.' });
      await page.getByRole('button', { name: 'Save soul' }).click();
      await page.getByRole('button', { name: choice }).press('Enter');
      await page.getByRole('region', { name: 'Conflicting change' }).waitFor({ state: 'detached' });
      await eventually(async () => assert.ok(await soul.evaluate((box) => box === document.activeElement)));
    });
  }

  test('a conflict in an extension is announced once', async () => {
    const { id } = await env.api('POST', '/extensions', {
      type: 'command',
      name: 'told-once',
      description: 'd',
      definition: { prompt: 'old' },
    });
    const page = await env.open('/extensions/told-once');
    await page.getByRole('textbox', { name: /Prompt/ }).fill('mine');
    await env.api('PATCH', `/extensions/${id}`, { definition: { prompt: 'theirs' } });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').getByText('This was changed elsewhere').waitFor();
    await eventually(async () => assert.equal(await page.getByRole('alert').count(), 1));
  });
}
