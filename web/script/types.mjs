// Writes src/api/openapi.d.ts from the /openapi.json of a running gateway: node script/types.mjs <url> <token>
import { writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';

const [url, token] = process.argv.slice(2);
if (!url || !token) throw new Error('usage: npm run types -- <url of a gateway> <its token>');
const answer = await fetch(`${url}/openapi.json`, { headers: { authorization: `Bearer ${token}` } });
if (!answer.ok) throw new Error(`${url}/openapi.json answered ${answer.status}`);
const text = astToString(await openapiTS(await answer.text()));
const head = '// Generated from /openapi.json by `npm run types`; not to be edited.\n';
const target = process.env.TYPES_FILE ?? new URL('../src/api/openapi.d.ts', import.meta.url);
writeFileSync(target, head + text);
