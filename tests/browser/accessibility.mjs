import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { require } from './environment.mjs';

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Checks that axe finds no violations, that the contrast is sufficient in the other colour scheme too, and that nothing
 * is wider than the page. `options` are passed to axe: use `iframes: false` if a frame does not accept its code.
 */
export async function expectAccessible(page, options = {}) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  await expectNoViolations(page, options);
  const isDark = await page.evaluate(() => matchMedia('(prefers-color-scheme: dark)').matches);
  const [scheme, other] = isDark ? ['dark', 'light'] : ['light', 'dark'];
  await page.emulateMedia({ colorScheme: other });
  await expectNoViolations(page, { ...options, runOnly: ['color-contrast', 'link-in-text-block'] });
  await page.emulateMedia({ colorScheme: scheme });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it scrolls sideways');
}

async function expectNoViolations(page, options) {
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
}
