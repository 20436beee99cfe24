// The browser of the tests: Chromium's headless shell, which starts and renders in half the time of the full browser.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

const { chromium } = createRequire(new URL('../../web/package.json', import.meta.url))('playwright-core');

const shell = '/usr/bin/chromium-headless-shell';
export const executable = process.env.CHROMIUM ?? (existsSync(shell) ? shell : '/usr/bin/chromium');
export const launchOptions = {
  executablePath: executable,
  // The limit keeps Chromium from starting a spare process for each page, a sixth of the work of opening one.
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--renderer-process-limit=1'],
};

/** Connects to the browser that all test files share (browser_server.mjs) if the environment has its address, else starts one. */
export const openBrowser = () =>
  process.env.AGW_TEST_BROWSER ? chromium.connect(process.env.AGW_TEST_BROWSER) : chromium.launch(launchOptions);

export { chromium };
