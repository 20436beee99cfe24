import { defineConfig } from 'vite';
import page from './vite.config.js';

/** The page for chats in links. It is built separately, so that shared chunks do not make the first views of the page larger. */
export default defineConfig({
  base: page.base,
  publicDir: false,
  build: {
    target: page.build.target,
    cssTarget: page.build.cssTarget,
    emptyOutDir: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: { input: 'shared.html' },
  },
  worker: { format: 'iife' },
});
