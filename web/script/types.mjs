// Writes src/api/openapi.d.ts from the /openapi.json of a running gateway: node script/types.mjs <url> <token>
import { writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';

const [url, token] = process.argv.slice(2);
if (!url || !token) throw new Error('usage: npm run types -- <url of a gateway> <its token>');
const response = await fetch(`${url}/openapi.json`, { headers: { authorization: `Bearer ${token}` } });
if (!response.ok) throw new Error(`${url}/openapi.json returned ${response.status}`);
const text = astToString(await openapiTS(await response.text()));
const head = '// Generated from /openapi.json by `npm run types`; not to be edited.\n';
const target = process.env.TYPES_FILE ?? new URL('../src/api/openapi.d.ts', import.meta.url);
writeFileSync(target, head + text);
