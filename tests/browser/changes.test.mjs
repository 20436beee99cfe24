import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { answers, expectFocus, measureWork, missing, questions, sendMessage, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  const write = (path, content) => ({ name: 'Write', arguments: { path, content } });

  let projects = 0;
  /** Opens a chat in a new project, whose agent has made these calls. */
  async function chatWithCalls(...calls) {
    const name = `garden-${++projects}`;
    const folder = `${env.home}/${name}`;
    mkdirSync(folder);
    writeFileSync(`${folder}/mine.txt`, 'one\ntwo\n');
    const project = await env.api('POST', '/projects', { name, path: folder });
    const agent = `gardener-${projects}`;
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: agent,
      description: 'Tends a garden',
      enabled: true,
      definition: { systemPrompt: 'Tend.' },
    });
    await env.api('PATCH', `/agents/${agent}/stage`, { stage: 'operator', reason: 'It may write' });
    const { id } = await env.thread({ agent_id: agent, project_id: project.id });
    await env.api('PATCH', `/threads/${id}`, { mode: 'act' });
    const page = await env.open(`/t/${id}`);
    await env.backend.reply({ text: '', tool_calls: calls });
    await env.backend.reply({ text: 'Done.' });
    await sendMessage(page, 'Tend it');
    await answers(page).getByText('Done.').waitFor();
    return { page, folder };
  }

  const button = (page, name) => page.getByRole('button', { name, exact: true });

  test('an answer shows its changes as a diff, and undoes and redoes them by file', async () => {
    const { page, folder } = await chatWithCalls(write('mine.txt', 'one\n2\n'), write('new.txt', 'fresh\n'));
    const text = () => readFileSync(`${folder}/mine.txt`, 'utf8');
    await page.getByText('2 files changed').click();
    await page.getByText(`${folder}/mine.txt`, { exact: true }).click();
    await page
      .getByRole('region', { name: `Changes of ${folder}/mine.txt` })
      .locator('td.added', { hasText: '2' })
      .waitFor();
    await button(page, `Undo ${folder}/mine.txt`).click();
    await button(page, `Redo ${folder}/mine.txt`).waitFor();
    await expectFocus(page, `Redo ${folder}/mine.txt`);
    await page.getByText('partly undone').waitFor();
    assert.equal(text(), 'one\ntwo\n');
    assert.ok(existsSync(`${folder}/new.txt`));
    await button(page, 'Undo all').click();
    await button(page, 'Redo all').waitFor();
    assert.ok(!existsSync(`${folder}/new.txt`));
    await button(page, 'Redo all').click();
    await button(page, 'Undo all').waitFor();
    assert.equal(text(), 'one\n2\n');
    assert.equal(readFileSync(`${folder}/new.txt`, 'utf8'), 'fresh\n');
  });

  test('a file that was changed since is kept, and undone only on a second request', async () => {
    const { page, folder } = await chatWithCalls(write('mine.txt', 'theirs\n'));
    writeFileSync(`${folder}/mine.txt`, 'mine since\n');
    await page.getByText('1 file changed').click();
    await button(page, `Undo ${folder}/mine.txt`).click();
    await page.getByText('Left as it is: changed since.').waitFor();
    assert.equal(readFileSync(`${folder}/mine.txt`, 'utf8'), 'mine since\n');
    await button(page, 'Undo anyway').click();
    await button(page, `Redo ${folder}/mine.txt`).waitFor();
    assert.equal(readFileSync(`${folder}/mine.txt`, 'utf8'), 'one\ntwo\n');
    assert.equal(await page.getByText('Left as it is').count(), 0);
  });

  test('only visible answers request their changes, and answers that only read files never do', async () => {
    const { page, folder } = await chatWithCalls({ name: 'Read', arguments: { path: 'mine.txt' } });
    const requested = [];
    page.on('request', (request) => request.url().endsWith('/changes') && requested.push(request.url()));
    await env.backend.reply({ text: 'A long answer.\n\n'.repeat(200) });
    await sendMessage(page, 'Tell me more');
    await answers(page).last().getByText('A long answer.').first().waitFor();
    await env.backend.reply({ text: '', tool_calls: [write('mine.txt', 'x\n')] });
    await env.backend.reply({ text: 'Written.' });
    await sendMessage(page, 'Write');
    await page.getByText('1 file changed').waitFor();
    assert.equal(requested.length, 1);
    assert.equal(readFileSync(`${folder}/mine.txt`, 'utf8'), 'x\n');
    await page.reload();
    await page.getByText('1 file changed').waitFor();
    assert.equal(requested.length, 2);
  });

  test('changes that could not be loaded are loaded again on request', async () => {
    const { page } = await chatWithCalls(write('mine.txt', 'x\n'));
    await page.getByText('1 file changed').waitFor();
    const refused = { status: 409, json: { error: 'not now' } };
    await page.route('**/changes', (route) => route.fulfill(refused), { times: 1 });
    await page.reload();
    await page.getByText('What this answer changed could not be read: not now').waitFor();
    await button(page, 'Try again').click();
    await page.getByText('1 file changed').waitFor();
  });

  test('a diff of 5,000 lines opens without blocking the page', async () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `line ${i} of the file, as it was written`);
    const { page, folder } = await chatWithCalls(write('long.txt', lines.join('\n')));
    await page.getByText('1 file changed').click();
    const work = await measureWork(page);
    await page.getByText(`${folder}/long.txt`, { exact: true }).click();
    await page.getByText('line 0 of the file').waitFor();
    const took = await work();
    console.log(`# a diff of 5,000 lines: ${took} ms of work`);
    assert.ok(took < 300, `${took} ms`);
    const diff = page.getByRole('region', { name: /^Changes of/ });
    await diff.focus();
    await page.keyboard.press('End');
    await diff.getByText('line 4999 of the file').waitFor();
    await page.getByRole('checkbox', { name: 'Side by side' }).check();
    await diff.getByText('line 0 of the file').waitFor();
  });

  for (const width of [1280, 390])
    test(`changes, versions and an edit are accessible and fit (${width} px)`, async () => {
      const { page } = await chatWithCalls(write('mine.txt', 'x\n'), write('b.txt', 'y\n'));
      await page.setViewportSize({ width, height: 800 });
      await env.backend.reply({ text: 'Again.' });
      await button(answers(page), 'Regenerate').click();
      await page.getByText('2 of 2').waitFor();
      await button(page, 'Previous version').click();
      await page.getByText('2 files changed').click();
      await page.locator('summary', { hasText: 'mine.txt' }).last().click();
      await page.getByRole('region', { name: /^Changes of/ }).waitFor();
      await expectAccessible(page);
      await button(page, 'Show the latest').click();
      await button(questions(page), 'Edit message').click();
      await page.getByRole('textbox', { name: 'Edited message' }).waitFor();
      await expectAccessible(page);
    });
}
