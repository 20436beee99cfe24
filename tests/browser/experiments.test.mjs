import assert from 'node:assert/strict';
import test from 'node:test';
import { missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  test('a series of experiments is shown with the band of its noise', async () => {
    const one = (value, i) => ({
      id: `e${i}`,
      domain: 'agent:assistant\u202e',
      verdict: i === 2 ? 'keep' : 'discard',
      metric: 'quality',
      value,
      baseline: 0.5,
      delta: value - 0.5,
      unit: null,
      higher_is_better: true,
      iteration_id: null,
      proposal: null,
      reason: null,
      notes: `try ${i}`,
      duration_ms: 1000,
      cost_usd: 0,
      created_at: new Date(Date.now() - i * 60_000).toISOString(),
    });
    const page = await env.open('/costs');
    await page.route('**/autoresearch/experiments*', (route) =>
      route.fulfill({ json: [0.5, 0.52, 0.8, 0.49].map(one) }),
    );
    await page.route('**/autoresearch/confidence*', (route) =>
      route.fulfill({
        json: {
          domain: 'agent:assistant',
          metric: 'quality',
          confidence: { confidence: 15, sampleSize: 4, mad: 0.02 },
          consecutiveDiscards: 0,
        },
      }),
    );
    await page.evaluate(() => (location.hash = '#/experiments'));
    const domain = page.getByRole('region', { name: 'agent:assistant⟨U+202E⟩' });
    await domain.getByText('Within ±0.02 of the first value: noise.').waitFor();
    await domain.getByText('Best kept: 0.8 (dashed).').waitFor();
    const band = await domain.locator('rect.noise').boundingBox();
    const plot = await domain.locator('svg').boundingBox();
    assert.ok(band.height > 2 && band.height < plot.height / 2, `${band.height} px`);
    await domain.getByText('The best result is 15.0 times the noise: continue.').waitFor();
  });

  test('what was typed for an iteration is kept when the view is left', async () => {
    const page = await env.open('/experiments');
    const domain = page.getByRole('textbox', { name: 'Domain' });
    await domain.fill('agent:assistant');
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await page.goBack();
    await domain.waitFor();
    assert.equal(await domain.inputValue(), 'agent:assistant');
  });

  test('a double click starts one iteration, and adds one project', async () => {
    /** Clicks twice before anything can answer. Returns the number of requests to `path` until `after` resolves. */
    async function requestsOf(page, path, button, after) {
      let count = 0;
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith(path)) count++;
      });
      await button.evaluate((element) => (element.click(), element.click()));
      await after();
      return count;
    }

    const page = await env.open('/experiments');
    const file = await env.backend.write({ path: 'twice/asset.txt', text: 'x' });
    await page.getByRole('textbox', { name: 'Domain' }).fill('agent:assistant');
    await page.getByRole('textbox', { name: 'File to improve' }).fill(file);
    await page.getByRole('textbox', { name: 'Rubric' }).fill(file);
    const start = page.getByRole('button', { name: 'Start', exact: true });
    const iterations = await requestsOf(page, '/autoresearch/run', start, () =>
      page.getByText('The iteration is running.').first().waitFor(),
    );
    assert.equal(iterations, 1);
    await page.locator('button[aria-disabled=false]', { hasText: 'Start' }).waitFor();

    await page.evaluate(() => (location.hash = '#/projects'));
    await page.getByRole('textbox', { name: 'Name' }).fill('Twice');
    await page.getByRole('textbox', { name: 'Directory' }).fill(file.replace('/asset.txt', ''));
    const added = await requestsOf(page, '/projects', page.getByRole('button', { name: 'Add', exact: true }), () =>
      page.getByRole('heading', { name: 'Twice' }).first().waitFor(),
    );
    assert.equal(added, 1);
  });
}
