import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { icons } from './script/icons.js';

/** For `npm run dev` and `npx vite preview`: where the gateway listens. */
const gateway = process.env.GATEWAY ?? 'http://127.0.0.1:7420';
const proxy = { '^/(?!ui/)': { target: gateway, ws: true, changeOrigin: true, headers: { origin: gateway } } };

export default defineConfig({
  base: '/ui/',
  plugins: [svelte(), icons()],
  build: {
    target: 'es2022',
    manifest: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: { proxy },
  preview: { proxy },
  test: { include: ['src/**/*.test.ts'] },
});
