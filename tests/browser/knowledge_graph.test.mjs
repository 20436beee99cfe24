import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, measureWork, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const write = (slug, text) =>
    env.backend.write({
      path: `.agent-gateway/knowledge/wiki/${slug}.md`,
      text: `---\ntitle: ${slug}\n---\n${text}\n`,
    });

  async function openGraph(options) {
    const page = await env.open('/knowledge?tab=graph', options);
    await page.locator('[role=img][aria-busy=false]').waitFor();
    return page;
  }
  const list = (page) => page.getByRole('list', { name: 'Pages by links' });
  const chosenPage = (page) => page.getByRole('region', { name: 'Chosen page' });

  test('a page is selected in the picture', async () => {
    await write('alone', 'Nothing else yet.');
    const page = await openGraph();
    const picture = page.getByRole('img', { name: '0 links between 1 page; the list has them too' });
    await picture.click();
    await chosenPage(page).getByRole('heading', { name: 'alone' }).waitFor();
    await picture.click({ position: { x: 5, y: 5 } });
    await chosenPage(page).waitFor({ state: 'detached' });
  });

  test('links are followed by keyboard in the list next to the picture', async () => {
    await write('hub', '[[spoke-one]] [[spoke-two]]');
    await write('spoke-one', 'Back to [[hub]].');
    await write('spoke-two', 'An end.');
    const page = await openGraph();
    await list(page).getByRole('button', { name: 'hub 2 links' }).press('Enter');
    await chosenPage(page).getByRole('heading', { name: 'hub' }).waitFor();
    const pages = chosenPage(page).getByRole('list');
    assert.deepEqual(await pages.nth(0).getByRole('button').allTextContents(), ['spoke-one', 'spoke-two']);
    assert.deepEqual(await pages.nth(1).getByRole('button').allTextContents(), ['spoke-one']);
    await pages.nth(0).getByRole('button', { name: 'spoke-two' }).press('Enter');
    await chosenPage(page).getByRole('heading', { name: 'spoke-two' }).waitFor();
    await page.getByRole('searchbox', { name: 'Filter pages' }).fill('SPOKE');
    await eventually(async () => assert.equal(await list(page).getByRole('button').count(), 2));
    await chosenPage(page).getByRole('link', { name: 'Open page' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'spoke-two' }).waitFor();
  });

  test('the graph shows pages written while it is open', async () => {
    const page = await openGraph();
    await write('hub', '[[spoke-one]] [[spoke-two]] [[late]]');
    await write('late', 'New.');
    await page.getByRole('tab', { name: 'Pages', exact: true }).click();
    await page.getByRole('tab', { name: 'Links' }).click();
    await list(page).getByRole('button', { name: 'hub 3 links' }).waitFor();
  });

  test('500 of 600 pages with 2,000 links are arranged without blocking the page', async () => {
    for (let i = 0; i < 600; i++) {
      const links = [i * 7 + 1, i * 13 + 5, i * 31 + 2].map((to) => `[[note-${to % 500}]]`).join(' ');
      await write(`note-${i}`, i < 500 ? links : 'Nothing.');
    }
    const page = await env.open('/knowledge');
    await page.getByRole('tab', { name: 'Links' }).waitFor();
    const work = await measureWork(page);
    await page.getByRole('tab', { name: 'Links' }).click();
    await page.getByRole('searchbox', { name: 'Filter pages' }).fill('note-4');
    await page.locator('[role=img][aria-busy=false]').waitFor();
    const took = await work();
    console.log(`# a graph of 500 pages: ${took} ms of work`);
    assert.ok(took < 9000, `${took} ms of work`);
    await page.getByText('The 500 pages with the most links are shown, 105 pages not.').waitFor();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await page.getByRole('button', { name: 'Show all' }).click();
    await list(page)
      .getByRole('button', { name: /^note-4 / })
      .click();
    await chosenPage(page).getByRole('heading', { name: 'note-4' }).waitFor();
  });
}
