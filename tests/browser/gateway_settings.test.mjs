// The settings of config.yaml: shown, found, changed, and applied by a restart.
import assert from 'node:assert/strict';
import test from 'node:test';
import { choose, eventually, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const setting = async (key) => (await env.api('GET', '/configuration')).settings.find((one) => one.key === key);
  const save = (page) => page.getByRole('button', { name: 'Save' }).click();

  test('settings are found by name or meaning, and what determines them is shown', async () => {
    const page = await env.open('/system');
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByLabel('retention.days', { exact: true }).waitFor();
    const search = page.getByRole('searchbox', { name: 'Search settings' });
    await search.fill('daily budget');
    await page.getByLabel('retention.days', { exact: true }).waitFor({ state: 'detached' });
    await page.getByLabel('budget_usd_per_day', { exact: true }).waitFor();
    await search.fill('sandbox');
    await page.getByText('bubblewrap', { exact: true }).waitFor();
    await page.getByText('Set in config.yaml only').first().waitFor();
    assert.equal(await page.getByLabel('sandbox', { exact: true }).count(), 0, 'no control');
    await search.fill('port');
    await page.getByText('--port, a flag of agw serve, sets this.').waitFor();
    await search.fill('no such thing');
    await page.getByText('No matching settings.').waitFor();
  });

  test('settings are changed together, with what takes effect at once and what after a restart', async () => {
    const page = await env.open('/system/settings');
    await page.getByLabel('budget_usd_per_day', { exact: true }).fill('2.5');
    await page.getByLabel('retention.days', { exact: true }).fill('30');
    await choose(page.getByLabel('log.format', { exact: true }), 'json');
    await page.getByText('3 changes').waitFor();
    await page.getByLabel('retention.days', { exact: true }).fill('90');
    await page.getByText('2 changes').waitFor();
    await page.getByLabel('retention.days', { exact: true }).fill('0');
    await save(page);
    await page.getByText('must be a whole number from 1 to 36500').waitFor();
    assert.equal((await setting('budget_usd_per_day')).value, null, 'nothing is changed');
    await page.getByLabel('retention.days', { exact: true }).fill('30');
    await save(page);
    await page.getByText('2 settings take effect at the next start.').waitFor();
    assert.equal((await setting('budget_usd_per_day')).value, 2.5);
    await page.getByText('In effect until the next start: 90.').waitFor();

    await page.getByRole('button', { name: /^Default: 90/ }).click();
    await save(page);
    await page.getByText('1 setting takes effect at the next start.').waitFor();
    await page.getByRole('button', { name: 'Default: none, budget_usd_per_day' }).click();
    await choose(page.getByLabel('log.format', { exact: true }), 'text');
    await save(page);
    await page.getByText('Saved.').waitFor();
    await eventually(async () => assert.equal((await setting('budget_usd_per_day')).value, null));
    assert.equal((await setting('log.format')).waits_for_restart, undefined);
  });

  test('unsaved values are kept while another view is shown, in all tabs, until they are saved or discarded', async () => {
    const page = await env.open('/system/settings');
    const other = await page.context().newPage();
    await other.goto(page.url());
    const days = (tab) => tab.getByLabel('retention.days', { exact: true });
    await days(other).waitFor();
    await days(page).fill('45');
    await other.getByText('1 change', { exact: true }).waitFor();
    assert.equal(await days(other).inputValue(), '45');
    await page.evaluate(() => (location.hash = '#/costs'));
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    await page.goBack();
    await page.getByText('1 change', { exact: true }).waitFor();
    assert.equal(await days(page).inputValue(), '45');
    await page.getByLabel('budget_usd_per_day', { exact: true }).fill('7');
    // Meanwhile, someone else makes one of the changes.
    await env.api('PATCH', '/configuration', { 'retention.days': 45 });
    await page.reload();
    await page.getByText('1 change', { exact: true }).waitFor();
    await save(page);
    await page.getByText('Saved.').waitFor();
    await other.getByText('1 change', { exact: true }).waitFor({ state: 'detached' });
    await eventually(async () =>
      assert.equal(await other.getByLabel('budget_usd_per_day', { exact: true }).inputValue(), '7'),
    );
    await days(page).fill('46');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.reload();
    await days(page).waitFor();
    assert.equal(await page.getByRole('group', { name: 'Changes' }).count(), 0);
    await env.api('PATCH', '/configuration', { 'retention.days': null, budget_usd_per_day: null });
  });

  test('a setting is opened from the palette by its name', async () => {
    const page = await env.open('/chats');
    await page.locator('main h1:visible').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Search or run a command' }).fill('checkpoints days');
    await page.getByRole('option', { name: /checkpoints\.days/ }).click();
    await page.getByLabel('checkpoints.days', { exact: true }).waitFor();
    assert.equal(await page.getByLabel('retention.days', { exact: true }).count(), 0);
  });
}
