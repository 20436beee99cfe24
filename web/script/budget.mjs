// Fails the build if the page exceeds its size limits, in gzipped kilobytes: for pairing, for a chat, for all that is not on
// demand, for what draws formulas and diagrams, which only chats with one fetch, for the screen of terminals, and for the page for
// shared chats.
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const limits = { pairing: 40, chat: 90, all: 313, formulas: 62, diagrams: 320, terminal: 73, shared: 6 };
const dist = new URL('../dist/', import.meta.url);
const size = (name) => gzipSync(readFileSync(new URL(name, dist))).length / 1024;
const sum = (names) => [...names].reduce((total, name) => total + size(name), 0);

const manifest = JSON.parse(readFileSync(new URL('.vite/manifest.json', dist)));
rmSync(new URL('.vite', dist), { recursive: true });

function needed(key, found = new Set()) {
  const { file, imports = [] } = manifest[key];
  if (found.has(file)) return found;
  found.add(file);
  for (const other of imports) needed(other, found);
  return found;
}

const named = (name) => Object.keys(manifest).find((key) => manifest[key].name === name);

// All that is fetched for the first view (see styles.mjs).
const style = readdirSync(new URL('assets', dist)).find((name) => /^style-.*\.css$/.test(name));
const pairing = new Set(['index.html', 'first.js', ...needed(named('page')), `assets/${style}`]);
const chat = new Set([...pairing, ...needed(named('chat'))]);
const code = readdirSync(dist, { recursive: true }).filter((name) => /\.(js|css|html)$/.test(name));
const isDiagrams = (name) => /\bmermaid_frame-[^/]*\.js$/.test(name);
const isFormulas = (name) => /\bFormula-[^/]*\.(js|css)$/.test(name);
const isTerminal = (name) => /\bshells[.-][^/]*\.(js|css)$/.test(name);
const isShared = (name) => /^(assets\/)?shared[._-][^/]*\.(js|css|html)$/.test(name);
const apart = [isDiagrams, isFormulas, isTerminal, isShared];
const all = code.filter((name) => !apart.some((isOne) => isOne(name)));
const weights = {
  pairing: sum(pairing),
  chat: sum(chat),
  all: sum(all),
  formulas: sum(code.filter(isFormulas)),
  diagrams: sum(code.filter(isDiagrams)),
  terminal: sum(code.filter(isTerminal)),
  shared: sum(code.filter(isShared)),
};
for (const [what, weight] of Object.entries(weights))
  console.log(`${what}: ${weight.toFixed(1)} KB of ${limits[what]} (gzip)`);
for (const [what, limit] of Object.entries(limits)) {
  if (weights[what] > limit) {
    console.error(`budget: ${what} weighs ${weights[what].toFixed(1)} KB, more than ${limit} KB`);
    process.exitCode = 1;
  }
}
