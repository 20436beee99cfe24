import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { require } from './environment.mjs';

/**
 * No violation that axe finds, and nothing wider than the page. `options` are those of axe: `iframes: false` where a frame
 * cannot take its code.
 */
export async function expectAccessible(page, options = {}) {
  await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  const { violations } = await page.evaluate(
    (more) => window.axe.run(document, { resultTypes: ['violations'], ...more }),
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
