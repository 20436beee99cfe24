import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, holdRequests, missing, withGateway, choose } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  test('a job is created with its schedule described, run, and dry-run', async () => {
    const page = await env.open('/jobs/+new');
    await page.getByRole('textbox', { name: 'Name' }).fill('tidy-up');
    await page.getByRole('textbox', { name: 'Description' }).fill('Tidies up');
    await choose(page.getByRole('combobox', { name: 'When' }), 'At set times');
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 9 * * 1');
    await page.getByText(/At 09:00.*Monday/).waitFor();
    await page.getByRole('textbox', { name: 'Prompt', exact: true }).fill('Tidy up.');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'tidy-up' }).waitFor();
    await env.backend.reply({ text: 'All tidy.' });
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'done' }).first().waitFor();
    await env.backend.reply({ text: 'Would tidy.' });
    await page.getByRole('button', { name: 'Dry run' }).click();
    await page.getByRole('row').filter({ hasText: 'done (dry)' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'done (dry)' }).getByRole('link', { name: 'output' }).click();
    await answers(page).getByText('Would tidy.').waitFor();
    await page.goto(`${env.proxy.url}/ui/#/jobs`);
    for (const name of ['Run: tidy-up', 'Dry run: tidy-up'])
      await page.getByRole('button', { name, exact: true }).waitFor();
  });

  test('a week shows past runs, due times, and why a run was skipped', async () => {
    await env.api('POST', '/extensions', {
      type: 'job',
      name: 'daily-digest',
      description: 'd',
      enabled: true,
      definition: { agent_id: 'assistant', prompt: 'Digest.', precheck: 'exit 1' },
      trigger_def: { type: 'cron', expression: '0 0 * * *' },
    });
    await env.api('POST', '/run/daily-digest');
    await eventually(async () => {
      const [run] = await env.api('GET', '/jobs/daily-digest/runs');
      assert.equal(run.status, 'skipped');
    });
    const page = await env.open('/jobs?tab=week');
    const week = page.getByRole('list', { name: 'Week' });
    const today = week.locator('[aria-current=date]');
    await today.getByText('daily-digest').first().waitFor();
    await today.getByText('skipped').waitFor();
    const [{ error }] = await env.api('GET', '/jobs/daily-digest/runs');
    await today.getByText(error).waitFor();
    await page.getByRole('button', { name: 'Later week' }).click();
    await eventually(async () => assert.equal(await week.getByText('daily-digest').count(), 7));
    await week
      .getByRole('link', { name: /daily-digest/ })
      .first()
      .click();
    await page.getByRole('heading', { level: 1, name: 'daily-digest' }).waitFor();
  });

  test('an invalid cron expression is explained while it is typed', async () => {
    const page = await env.open('/jobs/+new');
    await choose(page.getByRole('combobox', { name: 'When' }), 'At set times');
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 9');
    await page.getByText(/needs 5 fields/).waitFor();
  });

  test('the times of a schedule are those of the latest text, whichever response arrives first', async () => {
    const page = await env.open('/jobs/+new');
    await choose(page.getByRole('combobox', { name: 'When' }), 'At set times');
    let late;
    const last = new Promise((done) => (late = done));
    let answered;
    const first = new Promise((done) => (answered = done));
    await page.route('**/cron?expression=0+5*', async (route) => {
      await last;
      await route.continue();
      answered();
    });
    const requested = page.waitForRequest(/cron\?expression=0\+5/);
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 5 * * *');
    await requested;
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 23 * * *');
    await page.getByText(/23:00/).first().waitFor();
    const response = page.waitForResponse(/cron\?expression=0\+5/);
    late();
    await Promise.all([first, response]);
    await page.evaluate(() => new Promise((settled) => setTimeout(settled)));
    assert.equal(await page.getByText(/05:00/).count(), 0);
  });

  test('the description of a schedule belongs to its times, even if it loads late', async () => {
    const page = await env.open('/jobs/+new');
    await choose(page.getByRole('combobox', { name: 'When' }), 'At set times');
    const words = await holdRequests(page, '**/describe_cron*');
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 5 * * *');
    await words.requested();
    await page.route('**/cron?expression=0+23*', () => {});
    const next = page.waitForRequest(/cron\?expression=0\+23/);
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 23 * * *');
    await words.release();
    await next;
    assert.equal(await page.getByText('At 23:00').count(), 0);
    await page.unrouteAll();
  });

  test('the times of a schedule are shown even if its description cannot be loaded', async () => {
    const page = await env.open('/jobs/+new');
    await page.route('**/describe_cron*', (route) => route.abort());
    await choose(page.getByRole('combobox', { name: 'When' }), 'At set times');
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('0 5 * * *');
    await page.locator('[aria-live=polite] time').first().waitFor();
  });

  test('the buttons of jobs are in view on tablets, in the longer language too', async () => {
    await env.api('POST', '/extensions', {
      type: 'job',
      name: 'tablet',
      description: 'Runs every Wednesday',
      enabled: true,
      definition: { agent_id: 'assistant', prompt: 'Count.' },
      trigger_def: { type: 'cron', expression: '59 11 * * 3', timezone: 'Europe/Berlin' },
    });
    await env.api('POST', '/run/tablet?dry_run=true');
    const page = await env.open('/jobs', { locale: 'de-DE', viewport: { width: 768, height: 1024 } });
    await page.getByText('Um 11:59, nur jeden Mittwoch').waitFor();
    for (const width of [721, 768, 820]) {
      await page.setViewportSize({ width, height: 1024 });
      const view = await page.locator('.view').evaluate((box) => box.scrollWidth - box.clientWidth);
      assert.equal(view, 0, `${width} pixels`);
    }
    await page.getByRole('listitem').filter({ hasText: 'Lauf 1: ' }).first().waitFor({ state: 'attached' });
  });

  test('a week that loads shows its whole period', async () => {
    const page = await env.open('/jobs');
    const runs = await holdRequests(page, '**/runs?*');
    await page.getByRole('tab', { name: 'Week' }).click();
    await runs.requested();
    await page.getByText(/^Mon, .* – Sun, /).waitFor();
    await runs.release();
  });
}
