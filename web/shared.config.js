import { defineConfig } from 'vite';
import page from './vite.config.js';

/** The page for chats in links. Built separately: it shares no code with the page, whose first views stay as small. */
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
