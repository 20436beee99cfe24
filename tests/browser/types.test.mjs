import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { missing, repository, withGateway } from './environment.mjs';

const web = join(repository, 'web');

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  test('the types are those of this gateway’s /openapi.json (else: npm run types)', () => {
    const directory = mkdtempSync(join(tmpdir(), 'agw-types-'));
    try {
      const generated = join(directory, 'openapi.d.ts');
      execFileSync(process.execPath, ['script/types.mjs', env.url, env.token], {
        cwd: web,
        env: { ...process.env, TYPES_FILE: generated },
      });
      assert.ok(
        readFileSync(generated, 'utf8') === readFileSync(join(web, 'src/api/openapi.d.ts'), 'utf8'),
        'src/api/openapi.d.ts is out of date',
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test('every path that the page requests exists in the gateway', async () => {
    const { paths } = await env.api('GET', '/openapi.json');
    const known = Object.keys(paths).map((path) => path.replace(/\{[^}]+\}/g, '*'));
    const files = readdirSync(join(web, 'src'), { recursive: true }).filter(
      (name) => /\.(ts|svelte)$/.test(name) && !name.endsWith('.d.ts'),
    );
    const requested = new Set();
    for (const name of files) {
      const text = readFileSync(join(web, 'src', name), 'utf8');
      for (const [, path] of text.matchAll(
        /(?:get|post|put|patch|remove|request)(?:<[^(]*>)?\((?:'[A-Z]+', )?(?:apiPath)?['"`](\/[^'"`?]*)/g,
      )) {
        requested.add(path.replace(/\$\{[^}]+\}/g, '*'));
      }
    }
    assert.ok(requested.size > 30, `${requested.size} paths`);
    const orders = new Set(['/apps/*/*', '/apps/*/proxy/index.html']); // start, stop, restart; what an app serves
    assert.deepEqual(
      [...requested].filter((path) => !known.includes(path) && !orders.has(path)),
      [],
    );
  });
}
