import assert from 'node:assert/strict';
import test from 'node:test';
import {
  answers,
  eventually,
  expectFocus,
  holdRequests,
  message,
  missing,
  sendMessage,
  withGateway,
  choose,
} from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  const picture = {
    name: 'dot.png',
    mimeType: 'image/png',
    buffer: Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    ),
  };

  test('a rejected first message is shown in its chat with the reason', async () => {
    const page = await env.open('/new');
    await page.locator('input[type=file]').setInputFiles(picture);
    await page.getByRole('list', { name: 'Attachments' }).getByText('dot.png').waitFor();
    await sendMessage(page, 'What is on it?');
    await page.getByText('model does not accept images').waitFor();
    await page.getByText('What is on it?').waitFor();
    assert.match(page.url(), /#\/t\//);
    await page.getByRole('article').getByText('dot.png').waitFor();
    const id = page.url().split('/t/')[1];
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('What is on it?').waitFor({ state: 'detached' });
    await page.waitForURL(/#\/new$/);
    assert.ok((await env.api('GET', '/threads')).every((thread) => thread.id !== id));
  });

  test('what is written in a new chat is kept when another view or the palette writes there', async () => {
    const page = await env.open('/new');
    await message(page).fill('A long thought');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('/plan');
    await page
      .getByRole('option', { name: /\/plan/ })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await message(page).inputValue(), '/plan A long thought'));
    await env.backend.write({ path: '.agent-gateway/knowledge/wiki/quinces.md', text: '# Quinces\n\nYellow.\n' });
    await page.evaluate(() => (location.hash = '#/knowledge/quinces'));
    for (const times of [1, 2]) {
      await page.getByRole('button', { name: 'Discuss' }).click();
      await eventually(async () =>
        assert.equal(
          await message(page).inputValue(),
          '/plan A long thought\n\nAbout the knowledge page [[quinces]]: ',
          `pressed ${times} times`,
        ),
      );
      await page.goBack();
    }
  });

  test('a file that is too large is rejected without offering a retry', async () => {
    const page = await env.open('/new');
    // Created on the page: Playwright would send its bytes to the browser in base64.
    await page.locator('input[type=file]').evaluate((input) => {
      const chosen = new DataTransfer();
      chosen.items.add(new File([new Uint8Array(21 * 1024 * 1024)], 'huge.bin'));
      input.files = chosen.files;
      input.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await page.getByText('huge.bin is larger than 20 MB.').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Retry' }).count(), 0);
  });

  test('a new chat uses the agent in the address, also after it changes', async () => {
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'gardener',
      description: 'd',
      enabled: true,
      definition: { systemPrompt: 'x' },
    });
    const page = await env.open('/new?agent=nobody');
    const chosen = page.getByRole('combobox', { name: 'Agent' }).last();
    await eventually(async () => assert.equal(await chosen.innerText(), 'assistant'));
    for (const name of ['gardener', 'assistant']) {
      await page.evaluate((hash) => (location.hash = hash), `#/new?agent=${name}`);
      await eventually(async () => assert.equal(await chosen.innerText(), name));
    }
  });

  test('the agent in the address answers although the page does not know the agents yet', async () => {
    const definition = { systemPrompt: 'Write.' };
    const agent = { type: 'agent', name: 'early', description: 'Writes', enabled: true, definition };
    const { id } = await env.api('POST', '/extensions', agent);
    const page = await env.newPage();
    await page.addInitScript((token) => localStorage.setItem('agw.token', JSON.stringify(token)), env.token);
    const { requested, release } = await holdRequests(page, '**/extensions*');
    await page.goto(`${env.proxy.url}/ui/#/new?agent=early`);
    await requested();
    await env.backend.reply({ text: 'Well.' });
    await sendMessage(page, 'Write something');
    await answers(page).getByText('Well.').waitFor();
    assert.equal((await env.api('GET', `/threads/${page.url().split('/').at(-1)}`)).agent_id, id);
    await release();
  });

  test('a new chat reports that the agent in the address is missing or disabled', async () => {
    for (const [name, enabled] of [
      ['sleeper', false],
      ['waker', true],
    ]) {
      await env.api('POST', '/extensions', {
        type: 'agent',
        name,
        description: 'd',
        enabled,
        definition: { systemPrompt: 'x' },
      });
    }
    const page = await env.open('/new?agent=nobody');
    await page.getByText('There is no agent called “nobody”.').waitFor();
    await page.evaluate(() => (location.hash = '#/new?agent=sleeper'));
    await page.getByText('The agent “sleeper” is disabled.').waitFor();
    await choose(page.getByRole('combobox', { name: 'Agent' }).last(), 'waker');
    await page.getByText('The agent “sleeper” is disabled.').waitFor({ state: 'detached' });
  });

  test('a new chat reports that the project in the address is missing, and has none', async () => {
    await env.api('POST', '/projects', {
      name: 'Meadow',
      path: (await env.backend.write({ path: 'meadow/readme.md', text: 'Grass.' })).replace('/readme.md', ''),
    });
    const page = await env.open('/new?project=gone');
    await page.getByText('There is no project “gone”.').waitFor();
    const chosen = page.getByRole('combobox', { name: 'Project' }).last();
    assert.equal(await chosen.innerText(), 'None');
    await choose(chosen, 'Meadow');
    await page.getByText('There is no project “gone”.').waitFor({ state: 'detached' });
  });

  test('a new chat offers example messages, and one more for a project', async () => {
    const { id } = await env.api('POST', '/projects', {
      name: 'Orchard',
      path: (await env.backend.write({ path: 'orchard/readme.md', text: 'Apples.' })).replace('/readme.md', ''),
    });
    // The first chat ever would show the first-run page.
    await env.thread({ title: 'Earlier' });
    const page = await env.open('/new');
    const examples = page.getByRole('list', { name: 'Examples' }).getByRole('button');
    await examples.getByText('What can you do for me here?').waitFor();
    await page.getByRole('list', { name: 'Commands' }).getByRole('button').first().waitFor();
    const count = await examples.count();
    await page.evaluate((hash) => (location.hash = hash), `#/new?project=${id}`);
    const example = examples.getByText(/^Look at the files of this project/);
    await example.waitFor();
    assert.equal(await examples.count(), count + 1);
    const exampleText = await example.innerText();
    await env.backend.reply({ text: 'It is about apples.' });
    await example.click();
    await answers(page).getByText('It is about apples.').waitFor();
    await expectFocus(page, 'Message');
    const thread = await env.api('GET', `/threads/${page.url().split('/t/')[1]}`);
    assert.equal(thread.project_id, id);
    assert.equal((await env.turns(thread.id))[0].content, exampleText);
  });

  test('the example messages of a new chat suit the model chosen there, which answers them', async () => {
    await env.thread({ title: 'Earlier' });
    const page = await env.open('/new');
    const examples = page.getByRole('list', { name: 'Examples' }).getByRole('button');
    await examples.getByText('What can you do for me here?').waitFor();
    await page.getByRole('button', { name: /^Model: / }).click();
    await page.getByRole('combobox', { name: 'Search models' }).fill('librarian');
    await page.getByRole('listbox', { name: 'Models' }).getByText('librarian').first().click();
    await message(page).fill('A draft');
    await examples.getByText('List jobs', { exact: true }).click();
    await answers(page).getByText('offline/librarian').waitFor();
    await expectFocus(page, 'Message');
    await page.evaluate(() => (location.hash = '#/new'));
    await eventually(async () => assert.equal(await message(page).inputValue(), 'A draft'));
  });

  test('new chats start in act, unless the user last chose plan or the agent requires it', async () => {
    const definition = { systemPrompt: 'x', mode: 'plan' };
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'planner',
      description: 'd',
      enabled: true,
      definition,
    });
    const page = await env.open('/new');
    const chosen = (name) => page.getByRole('radio', { name, checked: true });
    await chosen('Act').waitFor();
    await env.backend.reply({ text: 'Hello.' });
    await sendMessage(page, 'Hello');
    await answers(page).getByText('Hello.').waitFor();
    assert.equal((await env.api('GET', `/threads/${page.url().split('/t/')[1]}`)).mode, 'act');
    await page.evaluate(() => (location.hash = '#/new'));
    await page.getByText('Plan', { exact: true }).click();
    await chosen('Plan').waitFor();
    await page.reload();
    await chosen('Plan').waitFor();
    await page.getByText('Act', { exact: true }).click();
    await page.goto(`${env.proxy.url}/ui/?again#/new?agent=planner`);
    await chosen('Plan').waitFor();
  });

  test('filtering the list of chats does not change the agent of the draft', async () => {
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'baker',
      description: 'd',
      enabled: true,
      definition: { systemPrompt: 'x' },
    });
    const page = await env.open('/chats');
    const chosen = page.getByRole('combobox', { name: 'Agent' }).last();
    await eventually(async () => assert.equal(await chosen.innerText(), 'assistant'));
    await page.evaluate(() => (location.hash = '#/chats?agent=baker'));
    await page.getByText('No matching chats.').waitFor();
    assert.equal(await chosen.innerText(), 'assistant');
  });
}
