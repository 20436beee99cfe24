// The component for a choice among several (components/Picker.svelte), in the views that use it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { choose, eventually, expectFocus, measureWork, missing, withGateway } from './environment.mjs';

if (missing) test(`pickers (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const schedule = (page) => page.getByRole('combobox', { name: 'Common schedules' });
  const options = (page) => page.getByRole('option');
  const list = (page) => page.getByRole('listbox');

  /** The option that the next Enter chooses. */
  const marked = (page) =>
    page.evaluate(() => {
      const id = document.activeElement?.getAttribute('aria-activedescendant');
      return (id && document.getElementById(id)?.textContent.trim()) ?? null;
    });

  async function openSchedule(width = 1280) {
    const page = await env.open('/jobs/+new');
    await page.setViewportSize({ width, height: 800 });
    await choose(page.getByRole('combobox', { name: 'When' }), 'At set times');
    return page;
  }

  /** Opens the page with many projects in a faked response, because creating them would take long. */
  async function openProjects(count) {
    const page = await env.open('/inbox');
    const many = Array.from({ length: count }, (_, i) => ({ id: `p-${i}`, name: `Project ${i}`, path: `/tmp/${i}` }));
    await page.route('**/projects*', (route) => route.fulfill({ json: many }));
    await page.evaluate(() => (location.hash = '#/new'));
    const picker = page.getByRole('combobox', { name: 'Project' }).last();
    await picker.waitFor();
    return { page, picker };
  }

  test('the keyboard opens the list, moves in it, chooses, and cancels', async () => {
    const page = await openSchedule();
    const picker = schedule(page);
    const before = await picker.innerText();
    await picker.focus();
    await page.keyboard.press('ArrowDown');
    await list(page).waitFor();
    assert.equal(await picker.getAttribute('aria-expanded'), 'true');
    assert.equal(await marked(page), before);
    const all = (await options(page).allInnerTexts()).map((text) => text.trim());
    await page.keyboard.press('Home');
    assert.equal(await marked(page), all[0]);
    await page.keyboard.press('End');
    assert.equal(await marked(page), all.at(-1));
    await page.keyboard.press('Escape');
    await list(page).waitFor({ state: 'detached' });
    assert.equal(await picker.innerText(), before);
    await expectFocus(page, 'Common schedules');
    await page.keyboard.press('Enter');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await picker.innerText(), all.at(-1)));
    assert.equal(await picker.getAttribute('aria-expanded'), 'false');
    // Tab chooses the marked entry and moves the focus on.
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Tab');
    await eventually(async () => assert.equal(await picker.innerText(), all.at(-2)));
    await expectFocus(page, 'Cron expression');
  });

  test('typed letters mark the entry that begins with them, and trigger no shortcuts', async () => {
    const page = await env.open('/jobs/+new');
    const picker = page.getByRole('combobox', { name: 'When' });
    await picker.focus();
    await page.keyboard.type('after');
    await eventually(async () => assert.equal(await marked(page), 'After an event'));
    await page.keyboard.type('?');
    assert.equal(await page.getByRole('dialog').count(), 0);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await list(page).waitFor();
    await page.keyboard.type('wh');
    await eventually(async () => assert.equal(await marked(page), 'When a webhook is called'));
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await picker.innerText(), 'When a webhook is called'));
  });

  test('screen readers get the name, the value and the chosen entry', async () => {
    const page = await openSchedule();
    const session = await page.context().newCDPSession(page);
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    const picker = nodes.find(({ role, name }) => role?.value === 'combobox' && name?.value === 'Common schedules');
    assert.equal(picker?.value?.value, await schedule(page).innerText());
    await schedule(page).click();
    await list(page).waitFor();
    assert.equal(await page.getByRole('option', { selected: true }).count(), 1);
    assert.equal((await list(page).getAttribute('aria-label')) ?? '', 'Common schedules');
    await expectAccessible(page);
  });

  test('a click elsewhere closes the list, and the list stays in the window of a phone', async () => {
    const page = await openSchedule(390);
    await schedule(page).click();
    const box = await list(page).boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 390 && box.y >= 0 && box.y + box.height <= 800, JSON.stringify(box));
    await page.getByRole('heading', { level: 1 }).click();
    await list(page).waitFor({ state: 'detached' });
  });

  test('a missing required choice is reported', async () => {
    const page = await env.open('/agents/assistant');
    await page.getByRole('textbox', { name: 'Reason' }).fill('It has earned it');
    const picker = page.getByRole('combobox', { name: 'Change to' });
    assert.equal(await picker.getAttribute('aria-required'), 'true');
    await page.keyboard.press('Enter');
    await expectFocus(page, 'Change to');
    await choose(picker, 'operator');
    await eventually(async () => assert.equal(await picker.innerText(), 'operator'));
  });

  test('five thousand entries are searched, and cost no more than a hundred', async () => {
    const { page, picker } = await openProjects(5000);
    await picker.hover();
    await page.waitForLoadState('networkidle');
    const work = await measureWork(page);
    await picker.click();
    const search = page.getByRole('combobox', { name: 'Search the list' });
    await search.waitFor();
    assert.ok((await options(page).count()) <= 100);
    await page.getByText('100 of 5001 are shown: type more of the name.').waitFor();
    await search.fill('4321');
    await eventually(async () => assert.equal(await options(page).count(), 1));
    const took = await work();
    console.log(`# a list of 5,000: ${took} ms of work`);
    assert.ok(took < 1200, `${took} ms`);
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await picker.innerText(), 'Project 4321'));
    await expectFocus(page, 'Project');
    // When it is opened again, the list begins at the chosen entry.
    await picker.click();
    await page.getByRole('option', { name: 'Project 4321', exact: true, selected: true }).waitFor();
    await page.keyboard.press('Escape');
    await list(page).waitFor({ state: 'detached' });
    await expectFocus(page, 'Project');
  });

  test('a list opens although two of its entries have the same value', async () => {
    const definition = { agent_id: 'assistant', prompt: 'Say hello.' };
    await env.api('POST', '/extensions', { type: 'job', name: 'people', description: 'Greets', definition });
    const page = await env.open('/chats');
    await page.getByText('Filter', { exact: true }).click();
    await page.getByRole('combobox', { name: 'Started by' }).click();
    await page.getByRole('option', { name: 'people' }).waitFor();
    await page.getByRole('option', { name: 'Me' }).click();
    await page.getByRole('option').first().waitFor({ state: 'detached' });
  });

  test('no view has a native select', async () => {
    const page = await env.open('/new');
    for (const route of ['/new', '/chats', '/agents/assistant', '/jobs/+new', '/search', '/system/channels']) {
      await page.evaluate((hash) => (location.hash = hash), `#${route}`);
      await page.waitForLoadState('networkidle');
      assert.equal(await page.locator('select').count(), 0, route);
    }
  });
}
