// After the build: joins the styles of pairing and a chat into one file, which index.html loads immediately. The styles of
// other views stay with their code. The font is preloaded, too.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';

const dist = new URL('../dist/', import.meta.url);
const read = (name) => readFileSync(new URL(name, dist), 'utf8');
const manifest = JSON.parse(read('.vite/manifest.json'));

/** The styles of a chunk, after those of its imports. */
function stylesOf(chunk, found = []) {
  for (const name of chunk.imports ?? []) stylesOf(manifest[name], found);
  for (const name of chunk.css ?? []) if (!found.includes(name)) found.push(name);
  return found;
}

const first = [];
const chunks = Object.values(manifest);
for (const wanted of ['page', 'chat'])
  stylesOf(
    chunks.find((chunk) => chunk.name === wanted),
    first,
  );

const joined = first.map(read).join('');
const name = `assets/style-${createHash('sha256').update(joined).digest('base64url').slice(0, 8)}.css`;
for (const old of first) rmSync(new URL(old, dist));
writeFileSync(new URL(name, dist), joined);

/** Code that loads one of them loads the joined file instead, which is already in the page. */
for (const file of readdirSync(dist, { recursive: true }).filter((file) => file.endsWith('.js'))) {
  const before = read(file);
  const after = first.reduce((text, old) => text.replaceAll(old, name), before);
  if (after !== before) writeFileSync(new URL(file, dist), after);
}

/** The few helpers of the bundler that a chat needs become part of its code, which saves a request. */
const runtime = readdirSync(new URL('assets/', dist)).find((file) => /^rolldown-runtime-/.test(file));
const { file: chatFile } = chunks.find((chunk) => chunk.name === 'chat');
if (runtime) {
  const [, body, exported] = /^([\s\S]*)export\{([^}]*)\};?\s*$/.exec(read(`assets/${runtime}`));
  const members = exported.replace(/([\w$]+) as ([\w$]+)/g, '$2:$1');
  const before = read(chatFile);
  const after = before.replace(
    /import\{([^}]*)\}from"\.\/rolldown-runtime-[^"]*";/,
    (_, names) => `const{${names.replaceAll(' as ', ':')}}=(()=>{${body};return{${members}}})();`,
  );
  writeFileSync(new URL(chatFile, dist), after);
  for (const file of readdirSync(dist, { recursive: true }).filter((name) => /^assets\/page-.*\.js$/.test(name)))
    writeFileSync(new URL(file, dist), read(file).replaceAll(`assets/${runtime}`, chatFile));
}

let page = read('index.html').replace(` /ui/assets/${runtime}`, '');
for (const old of first) page = page.replace(new RegExp(`\\s*<link[^>]*${old}"[^>]*>`), '');
const font = /url\(([^)]*\.woff2)\)/.exec(joined)?.[1];
if (!font) throw new Error('the styles name no font');
page = page.replace(
  '</head>',
  `  <link rel="preload" as="font" type="font/woff2" crossorigin href="${font}">\n    <link rel="stylesheet" href="/ui/${name}">\n  </head>`,
);
writeFileSync(new URL('index.html', dist), page);
