import { defineConfig } from 'vite';
import page from './vite.config.js';

const { output: names } = page.build.rolldownOptions;

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
    rolldownOptions: {
      input: 'shared.html',
      // As in the page, so that both share the file of a language and the code that decrypts.
      output: { chunkFileNames: names.chunkFileNames, assetFileNames: names.assetFileNames },
    },
  },
  worker: { format: 'iife' },
});
