// The browser of the tests: Chromium's headless shell, which starts and draws in half the time of the whole browser.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

const { chromium } = createRequire(new URL('../../web/package.json', import.meta.url))('playwright-core');

const shell = '/usr/bin/chromium-headless-shell';
export const executable = process.env.CHROMIUM ?? (existsSync(shell) ? shell : '/usr/bin/chromium');
export const launchOptions = {
  executablePath: executable,
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
};

/** The browser that the files of a run share (browser_server.mjs), if its address is in the environment, else a new one. */
export const openBrowser = () =>
  process.env.AGW_TEST_BROWSER ? chromium.connect(process.env.AGW_TEST_BROWSER) : chromium.launch(launchOptions);

export { chromium };
