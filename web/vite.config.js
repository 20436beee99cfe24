import { mkdirSync, writeFileSync } from 'node:fs';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { fewerDiagrams } from './script/diagrams.js';
import { icons } from './script/icons.js';
import { staticStrings } from './script/static_strings.js';
import { terminalStyles } from './script/terminal_styles.js';

/** The gateway for `npm run dev` and `npx vite preview`. */
const gateway = process.env.GATEWAY ?? 'http://127.0.0.1:7420';
const proxy = { '^/(?!ui/)': { target: gateway, ws: true, changeOrigin: true, headers: { origin: gateway } } };

/**
 * Two bundles for the first view: `page` is what pairing needs, `chat` the rest of a chat. Other views and components
 * are loaded on demand.
 */
const page = [
  /node_modules\/(svelte|esm-env|clsx)\//,
  /src\/(main|App)/,
  /src\/views\/pair\//,
  /src\/api\/(client|socket|on_demand)/,
  /src\/base\/(storage|router|announce|toasts|escape|language)/,
  /src\/state\/session/,
  /src\/components\/(Icon|Toasts|ConfirmDialog|Dialog|confirm)\b/,
  /virtual:icons/,
  /preload-helper/,
  /rolldown.runtime/,
];
const chat = [
  /node_modules\/marked\//,
  /src\/(base|api|state)\/(?!split_matches|notifications|reseed|versions|download|base64url|integrations)/,
  /src\/markdown\/(?!highlight|Drawn|Formula|[Dd]iagram)/,
  /src\/views\/(shell|chat|threads)\/(?!Shortcut|FirstRun|NewChat|Examples|[Ss]uggestions|ThreadFilter|SelectionBar|Changes|changes|EditMessage|change_chat|VersionSwitch|PlanCard|plan|Offers|AttachmentList|upload|Artifact|versions_of_artifact|ToolBody|ToolPictures|Picture|pictures)/,
  /src\/components\/(CopyButton|ModelPicker|Time|LoadError|resource)\b/,
];
const matchesAny = (tests) => (id) => tests.some((test) => test.test(id));

/** @returns {import('vite').Plugin}
 * Tells public/first.js which files contain the chat's code, so that imported ones load at the same time, not afterwards. */
const nameChat = () => ({
  name: 'name-chat',
  transformIndexHtml(html, { bundle }) {
    const chat = Object.values(bundle ?? {}).find(({ name }) => name === 'chat');
    if (!chat) return html;
    const files = [chat.fileName, ...chat.imports.filter((file) => !html.includes(file))];
    return html.replace('first.js"', `first.js" data-chat="${files.map((file) => `/ui/${file}`).join(' ')}"`);
  },
});

/** Removes the declaration `,name={…}` from minified code. */
function withoutObject(code, name) {
  const start = code.indexOf(`,${name}={`);
  let end = code.indexOf('{', start);
  for (let depth = 0; ; end++) {
    depth += { '{': 1, '}': -1 }[code[end]] ?? 0;
    if (depth === 0) return code.slice(0, start) + code.slice(end + 1);
  }
}

/** @returns {import('vite').Plugin}
 * Removes the HTML renderer from marked, and the dialects and options that the page does not use. Bundlers cannot remove
 * them, because the module creates an instance of everything. */
const lexerOnly = () => ({
  name: 'lexer-only',
  transform(code, id) {
    if (!id.endsWith('/marked/lib/marked.esm.js')) return undefined;
    const named = (name) => new RegExp(`([\\w$]+) as ${name}\\b`).exec(code)?.[1];
    const at = code.lastIndexOf('var ', code.indexOf(`=new ${named('Marked')};`));
    const dialects = [...code.matchAll(/,(?:pedantic|breaks):([\w$]+)(?=[,}])/g)].filter(([, name]) =>
      code.includes(`,${name}={`),
    );
    const rules = /other:([\w$]+),block:([\w$]+)\.normal,inline:([\w$]+)\.normal/.exec(code);
    if (at < 0 || dialects.length !== 3 || !rules)
      throw new Error('the build of marked has changed: see lexerOnly in vite.config.js');
    const lexer = dialects
      .reduce((rest, [member, name]) => withoutObject(rest, name).replace(member, ''), code.slice(0, at))
      .replaceAll(/this\.options\.(pedantic|breaks|silent)/g, '!1')
      .replaceAll('this.options.gfm', '!0')
      .replaceAll('this.options.hooks', '(void 0)')
      .replaceAll(/this\.(?:tokenizer\.)?rules\.(other|block|inline)\b/g, '$1Rules')
      .replaceAll(/(?<==)[\w$]+(?=\([^()]*\)\.replace)/g, '/* @__PURE__ */ $&');
    const [, other, block, inline] = rules;
    const constants = `const otherRules = ${other}, blockRules = ${block}.gfm, inlineRules = ${inline}.gfm;`;
    return {
      code: `${lexer}${constants}export { ${named('Lexer')} as Lexer, ${named('defaults')} as defaults };`,
      map: null,
    };
  },
  /** Removes the patterns that only the removed code used. */
  renderChunk(code) {
    const patterns = /\{\n\tcodeRemoveIndent: [^]*?\n\};/.exec(code)?.[0];
    const used = patterns?.replaceAll(/\n\t(\w+): .*,(?=\n)/g, (line, name) => (code.includes(`.${name}`) ? line : ''));
    return used ? { code: code.replace(patterns, () => used), map: null } : null;
  },
});

/** The functions of highlight.js that the page does not use: they highlight all code on a page, and add plugins. */
const unusedHighlighting = [
  'highlightAll',
  'highlightElement',
  'highlightBlock: deprecateHighlightBlock',
  'configure',
  'initHighlighting',
  'initHighlightingOnLoad',
  'unregisterLanguage',
  'listLanguages',
  'addPlugin',
  'removePlugin',
];

/** @returns {import('vite').Plugin}
 * Removes them. Bundlers cannot, because they are members of an object. */
const onlyHighlight = () => ({
  name: 'only-highlight',
  transform(code, id) {
    if (!id.endsWith('/highlight.js/lib/core.js')) return undefined;
    const members = new RegExp(`\\n {4}(${unusedHighlighting.join('|')}),?(?=\\n)`, 'g');
    if (code.match(members)?.length !== unusedHighlighting.length)
      throw new Error('highlight.js has changed: see onlyHighlight in vite.config.js');
    return { code: code.replace(members, ''), map: null };
  },
});

/** @returns {import('vite').Plugin}
 * Tells the bundler that nothing is hydrated, because no server renders the page, so that Svelte's code for it is removed. */
const withoutHydration = () => ({
  name: 'without-hydration',
  apply: 'build',
  transform(code, id) {
    if (!id.endsWith('/svelte/src/internal/client/dom/hydration.js')) return undefined;
    if (!code.includes('hydrating = value;')) throw new Error('Svelte hydrates differently now: see vite.config.js');
    return { code: code.replace('let hydrating', 'const hydrating').replace('hydrating = value;', ''), map: null };
  },
});

/** @returns {import('vite').Plugin}
 * Removes from the code that loads modules on demand what the page does not need. It looks for a nonce each time, which is
 * slow in a long chat, because each block of code does so and the whole document is searched. */
const smallerLoader = () => ({
  name: 'smaller-loader',
  transform(code, id) {
    if (!id.endsWith('vite/preload-helper.js')) return undefined;
    const parts = [
      [/const scriptRel = [^]*?\)\(\);/, 'const scriptRel = "modulepreload";'],
      [/const cspNonceMeta = .*;\s*const cspNonce = .*;/, ''],
      [/if \(cspNonce\) .*;/, ''],
      [/function allSettled\(promises\) \{[^]*?\}\)\)\)\);\s*\}/, ''],
      ['allSettled(deps', 'Promise.allSettled(deps'],
      [/function importMetaResolve\(specifier\) \{[^]*?\);\s*\}/, ''],
      ['.filter((p) => p !== void 0)', ''],
      ['importMetaResolve(depString)', 'new URL(depString, location.href)'],
    ];
    for (const [part, shorter] of parts) {
      const rest = code.replace(part, shorter);
      if (rest === code) throw new Error('Vite loads modules differently now: see vite.config.js');
      code = rest;
    }
    return { code, map: null };
  },
});

/** The packages in the page, and in the worker bundles of frames, which are built first. */
const packages = new Set(['lucide-static']);

/** @returns {import('vite').Plugin}
 * Records for script/sbom which packages are in the page. */
const recordPackages = () => ({
  name: 'record-packages',
  generateBundle(_, bundle) {
    const files = Object.values(bundle).flatMap((part) =>
      part.type === 'chunk' ? part.moduleIds : part.originalFileNames,
    );
    for (const file of files) {
      const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
      if (name) packages.add(name);
    }
    mkdirSync('../build', { recursive: true });
    writeFileSync('../build/page_packages.json', JSON.stringify([...packages].sort()));
  },
});

export default defineConfig({
  base: '/ui/',
  plugins: [
    staticStrings(),
    withoutHydration(),
    smallerLoader(),
    svelte(),
    icons(),
    lexerOnly(),
    onlyHighlight(),
    terminalStyles(),
    nameChat(),
    recordPackages(),
  ],
  build: {
    target: 'es2022',
    // Browsers with light-dark(): the fallback for older ones would follow the system instead of the user's choice.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    manifest: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Seven characters, six for styles, instead of eight: the chat's code names all other files, and hashes do not compress.
        chunkFileNames: 'assets/[name]-[hash:7].js',
        assetFileNames: 'assets/[name]-[hash:6][extname]',
        codeSplitting: {
          groups: [
            { name: 'page', test: matchesAny(page), priority: 2 },
            { name: 'chat', test: matchesAny(chat), priority: 1 },
          ],
        },
      },
    },
  },
  worker: {
    format: 'iife',
    plugins: () => [fewerDiagrams(), recordPackages()],
    // Assumes that modules of libraries have no side effects, so that unused ones are removed.
    rolldownOptions: { treeshake: { moduleSideEffects: (id) => !id.includes('/node_modules/') } },
  },
  server: { proxy },
  preview: { proxy },
  test: { include: ['src/**/*.test.ts'] },
});
