// Fails the build if the page exceeds one of its size limits, in gzipped kilobytes: pairing, a chat, everything without the
// following parts, the code for formulas, for diagrams (both loaded only by chats that contain them), for terminals, for
// browsers, for settings and for links to chats, and the page for shared chats. Also fails it if a file is there twice.
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const limits = {
  pairing: 40,
  chat: 90,
  all: 320,
  formulas: 62,
  diagrams: 320,
  terminal: 73,
  browser: 11,
  settings: 5,
  encryption: 5,
  shared: 7,
};
const dist = new URL('../dist/', import.meta.url);
const size = (name) => gzipSync(readFileSync(new URL(name, dist))).length / 1024;
const sum = (names) => [...names].reduce((total, name) => total + size(name), 0);

const manifest = JSON.parse(readFileSync(new URL('.vite/manifest.json', dist)));
rmSync(new URL('.vite', dist), { recursive: true });

function filesOf(key, found = new Set()) {
  const { file, imports = [] } = manifest[key];
  if (found.has(file)) return found;
  found.add(file);
  for (const other of imports) filesOf(other, found);
  return found;
}

const keyOf = (name) => Object.keys(manifest).find((key) => manifest[key].name === name);

// Everything that is loaded for the first view (see styles.mjs).
const style = readdirSync(new URL('assets', dist)).find((name) => /^style-.*\.css$/.test(name));
const pairing = new Set(['index.html', 'first.js', ...filesOf(keyOf('page')), `assets/${style}`]);
const chat = new Set([...pairing, ...filesOf(keyOf('chat'))]);
const code = readdirSync(dist, { recursive: true }).filter((name) => /\.(js|css|html)$/.test(name));
const isDiagramCode = (name) => /\bmermaid_frame-[^/]*\.js$/.test(name);
const isFormulaCode = (name) => /\bFormula-[^/]*\.(js|css)$/.test(name);
const isTerminalCode = (name) => /\bshells[.-][^/]*\.(js|css)$/.test(name);
const isBrowserCode = (name) => /\bBrowserPanel-[^/]*\.(js|css)$/.test(name);
const isSettingsCode = (name) => /\b[Ss]ettings-[^/]*\.(js|css)$/.test(name);
const isEncryptionCode = (name) => /\bsealed-[^/]*\.js$/.test(name);
const isSharedCode = (name) => /^(assets\/)?shared[._-][^/]*\.(js|css|html)$/.test(name);
const separate = [
  isDiagramCode,
  isFormulaCode,
  isTerminalCode,
  isBrowserCode,
  isSettingsCode,
  isEncryptionCode,
  isSharedCode,
];
const all = code.filter((name) => !separate.some((matches) => matches(name)));
const sizes = {
  pairing: sum(pairing),
  chat: sum(chat),
  all: sum(all),
  formulas: sum(code.filter(isFormulaCode)),
  diagrams: sum(code.filter(isDiagramCode)),
  terminal: sum(code.filter(isTerminalCode)),
  browser: sum(code.filter(isBrowserCode)),
  settings: sum(code.filter(isSettingsCode)),
  encryption: sum(code.filter(isEncryptionCode)),
  shared: sum(code.filter(isSharedCode)),
};
for (const [part, kilobytes] of Object.entries(sizes))
  console.log(`${part}: ${kilobytes.toFixed(1)} KB of ${limits[part]} (gzip)`);
for (const [part, limit] of Object.entries(limits)) {
  if (sizes[part] > limit) {
    console.error(`budget: ${part} has ${sizes[part].toFixed(1)} KB, more than ${limit} KB`);
    process.exitCode = 1;
  }
}

// Two builds write into this folder. If they name a shared file differently, the page has it twice.
const names = new Map();
for (const name of readdirSync(new URL('assets', dist))) {
  const content = readFileSync(new URL(`assets/${name}`, dist), 'latin1');
  if (names.has(content)) {
    console.error(`budget: ${names.get(content)} and ${name} have the same content`);
    process.exitCode = 1;
  }
  names.set(content, name);
}
