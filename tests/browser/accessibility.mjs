import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { require } from './environment.mjs';

/**
 * Checks that axe finds no violations, and that nothing is wider than the page. `options` are passed to axe: use
 * `iframes: false` if a frame does not accept its code.
 */
export async function expectAccessible(page, options = {}) {
  await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  const { violations } = await page.evaluate(
    (axeOptions) => window.axe.run(document, { resultTypes: ['violations'], ...axeOptions }),
    options,
  );
  assert.deepEqual(
    violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, any }) => `${html.slice(0, 200)} (${any[0]?.message ?? ''})`).join(' | ')}`,
    ),
    [],
  );
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it scrolls sideways');
}
