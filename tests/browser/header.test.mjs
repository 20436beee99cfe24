import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, holdResponses, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  test('the document title names what a view shows', async () => {
    const page = await env.open('/jobs');
    const expectTitle = (title) =>
      eventually(async () => assert.equal((await page.title()).replace(/^\(\d+\) /, ''), `${title} · Agent Gateway`));
    await expectTitle('Jobs');
    for (const [route, title] of [
      ['/system/models', 'Models'],
      ['/agents/assistant', 'assistant'],
      ['/agents', 'Agents'],
      ['/new', 'New chat'],
      ['/jobs/+new', 'New job'],
    ]) {
      await page.goto(`${env.proxy.url}/ui/#${route}`);
      await expectTitle(title);
    }
  });

  test('the document title names the chat', async () => {
    const { id } = await env.thread({ title: 'Pomelo' });
    const page = await env.open(`/t/${id}`);
    await eventually(async () => assert.match(await page.title(), /^(\(\d+\) )?Pomelo · Agent Gateway$/));
    await page.evaluate(() => (location.hash = '#/new'));
    await eventually(async () => assert.match(await page.title(), /New chat · Agent Gateway$/));
  });

  test('Escape cancels editing in the chat header and keeps the focus there', async () => {
    const page = await env.open(`/t/${(await env.thread({ title: 'As it was' })).id}`);
    const heading = page.getByRole('heading', { level: 1, name: 'As it was' });
    await heading.waitFor();
    for (const [button, box] of [
      ['Rename', 'Title'],
      ['Add a note', 'Note'],
    ]) {
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.getByRole('textbox', { name: box }).fill('something else');
      await page.keyboard.press('Escape');
      await page.getByRole('textbox', { name: box }).waitFor({ state: 'hidden' });
      assert.equal(await heading.evaluate((h1) => h1 === document.activeElement), true, box);
    }
  });

  test('the focus outline of the agent in the header is not clipped', async () => {
    const page = await env.open(`/t/${(await env.thread({ title: 'Whose' })).id}`);
    const agent = page.getByRole('main').getByRole('link', { name: 'assistant', exact: true });
    await agent.waitFor();
    await page.keyboard.press('Tab');
    await agent.focus();
    const cut = await agent.evaluate((link) => {
      const { outlineStyle, outlineWidth, outlineOffset } = getComputedStyle(link);
      if (outlineStyle === 'none') return 'no outline';
      const reach = parseFloat(outlineWidth) + parseFloat(outlineOffset);
      const inner = link.getBoundingClientRect();
      for (let box = link.parentElement; box; box = box.parentElement) {
        if (getComputedStyle(box).overflow === 'visible') continue;
        const outer = box.getBoundingClientRect();
        const room = [
          inner.left - outer.left,
          inner.top - outer.top,
          outer.right - inner.right,
          outer.bottom - inner.bottom,
        ];
        if (Math.min(...room) < reach) return `${box.tagName} leaves ${room} of ${reach}`;
      }
      return '';
    });
    assert.equal(cut, '');
  });

  test('on a phone, a title has enough space, and the actions of the chat are in its menu', async () => {
    const { id } = await env.thread({ title: 'How trees stay balanced' });
    const page = await env.open(`/t/${id}`, { viewport: { width: 390, height: 844 }, hasTouch: true });
    const heading = page.getByRole('heading', { level: 1, name: 'How trees stay balanced' });
    await heading.waitFor();
    assert.ok(await heading.evaluate((h1) => h1.scrollWidth <= h1.clientWidth), 'the title is clipped');
    assert.equal(await page.getByRole('button', { name: 'Rename', exact: true }).count(), 0);
    const more = page.getByRole('main').getByRole('button', { name: 'More', exact: true });
    const choose = async (name) => {
      await more.click();
      await page.getByRole('menuitem', { name, exact: true }).click();
    };
    await choose('Rename');
    await page.getByRole('textbox', { name: 'Title' }).fill('Trees');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Trees', exact: true }).waitFor();
    await choose('Add a note');
    await page.getByRole('textbox', { name: 'Note' }).waitFor();
    await choose('Archive');
    await eventually(async () => assert.equal((await env.api('GET', `/threads/${id}`)).archived, true));
  });

  test('a chat that is archived over a slow connection does not close the one that was opened meanwhile', async () => {
    const [one, other] = await Promise.all(['Slowly archived', 'Opened'].map((title) => env.thread({ title })));
    const page = await env.open(`/t/${one.id}`);
    await page.getByRole('heading', { level: 1, name: 'Slowly archived' }).waitFor();
    const release = await holdResponses(page, 'PATCH', `**/threads/${one.id}`);
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByRole('link', { name: /^Opened/ }).click();
    await page.getByRole('heading', { level: 1, name: 'Opened' }).waitFor();
    release();
    await page.getByText('Archived.').waitFor();
    assert.ok(page.url().endsWith(other.id));
  });

  test('a chat keeps its heading for screen readers while it is renamed', async () => {
    const page = await env.open(`/t/${(await env.thread({ title: 'Named' })).id}`);
    await page.getByRole('heading', { level: 1, name: 'Named' }).waitFor();
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByRole('textbox', { name: 'Title' }).waitFor();
    assert.equal(await page.getByRole('heading', { level: 1, name: 'Named' }).count(), 1);
  });

  test('renaming a chat or adding a note by keyboard keeps the focus there', async () => {
    const page = await env.open(`/t/${(await env.thread({ title: 'Before' })).id}`);
    const held = () => page.evaluate(() => document.activeElement.textContent.trim());
    const heading = page.getByRole('heading', { level: 1 });
    await heading.getByText('Before').waitFor();
    await page.getByRole('button', { name: 'Rename', exact: true }).press('Enter');
    await page.getByRole('textbox', { name: 'Title' }).fill('After');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await held(), 'After'));
    await page.getByRole('button', { name: 'Add a note' }).press('Enter');
    await page.getByRole('textbox', { name: 'Note' }).fill('Be brief');
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: 'Note' }).waitFor();
    await eventually(async () => assert.equal(await held(), 'After'));
    await page.getByRole('button', { name: 'Rename After' }).press('Enter');
    await page.getByRole('textbox', { name: 'Title' }).fill('At last');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.match(await held(), /^At last/));
  });

  for (const name of ['Message', 'Title']) {
    test(`a note that is stored late leaves the focus in ${name}`, async () => {
      const page = await env.open(`/t/${(await env.thread({ title: 'Kept' })).id}`);
      await page.getByRole('heading', { level: 1, name: 'Kept' }).waitFor();
      let store;
      const held = new Promise((done) => (store = done));
      await page.route('**/turns', async (route) => {
        await held;
        await route.continue();
      });
      await page.getByRole('button', { name: 'Add a note' }).press('Enter');
      const requested = page.waitForRequest('**/turns');
      await page.getByRole('textbox', { name: 'Note' }).fill('Be brief');
      await page.keyboard.press('Enter');
      await requested;
      if (name === 'Title') await page.getByRole('button', { name: 'Rename', exact: true }).click();
      const box = page.getByRole('textbox', { name });
      await box.focus();
      store();
      await page.getByRole('textbox', { name: 'Note' }).waitFor({ state: 'detached' });
      await page.keyboard.type('on and on');
      assert.equal(await box.inputValue(), 'on and on');
    });
  }
}
