import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { icons } from './script/icons.js';

/** For `npm run dev` and `npx vite preview`: where the gateway listens. */
const gateway = process.env.GATEWAY ?? 'http://127.0.0.1:7420';
const proxy = { '^/(?!ui/)': { target: gateway, ws: true, changeOrigin: true, headers: { origin: gateway } } };

/**
 * Two files of code before there is something to read: `page` is what pairing needs, `chat` the rest of a chat. What a
 * view or a part fetches when it is opened stands in files of its own.
 */
const page = [/node_modules\/(svelte|esm-env|clsx)\//, /src\/(main|App)/, /src\/views\/pair\//, /src\/api\/(client|line)/,
  /src\/base\/(storage|route|announce|toasts|visible)/, /src\/state\/session/, /src\/parts\/(Icon|Toasts|Ask|Dialog|ask)\b/, /virtual:icons/, /preload-helper/];
const chat = [/node_modules\/marked\//, /src\/(base|api|state)\//, /src\/markdown\/(?!highlight)/, /src\/look\/theme/,
  /src\/views\/(shell|chat|threads)\//, /src\/parts\/(CopyButton|LongText|Time|Unread|Frame|frame_actions|resource)\b/];
const among = (tests) => (id) => tests.some((test) => test.test(id));

/** @returns {import('vite').Plugin}
 * Tells public/first.js which files the chat's code is in: those that it imports are not found out about only when it is there. */
const nameChat = () => ({
  name: 'name-chat',
  transformIndexHtml(html, { bundle }) {
    const chat = Object.values(bundle ?? {}).find(({ name }) => name === 'chat');
    if (!chat) return html;
    const files = [chat.fileName, ...chat.imports.filter((file) => !html.includes(file))];
    return html.replace('first.js"', `first.js" data-chat="${files.map((file) => `/ui/${file}`).join(' ')}"`);
  },
});

export default defineConfig({
  base: '/ui/',
  plugins: [svelte(), icons(), nameChat()],
  build: {
    target: 'es2022',
    // Those that know light-dark(): written out for older ones, it would follow the system and no choice of a person.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    manifest: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'page', test: among(page), priority: 2 },
            { name: 'chat', test: among(chat), priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy },
  preview: { proxy },
  test: { include: ['src/**/*.test.ts'] },
});
