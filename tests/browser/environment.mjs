// The environment of a browser test: a real gateway with a scripted model (backend.py), Debian's Chromium, and a proxy
// between them whose connections can be cut.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { after, afterEach, before, beforeEach } from 'node:test';
import assert from 'node:assert/strict';
import { executable, openBrowser } from './chromium.mjs';

export const repository = new URL('../..', import.meta.url).pathname;
export const require = createRequire(`${repository}/web/package.json`);
/** Milliseconds until a wait fails. It only guards against hanging; it does not measure speed. */
const timeout = 60_000;

export const missing =
  (!existsSync(executable) && `${executable} is missing: run script/bootstrap`) ||
  (!existsSync(process.env.AGW ?? '') && 'AGW does not name a gateway');

/** Starts backend.py. Each of its methods is a method of the result and takes one object of arguments. */
function startBackend() {
  const child = spawn('/usr/bin/python3', [`${repository}/tests/browser/backend.py`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const responses = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let queue = Promise.resolve();
  const call = (name, members) => {
    queue = queue.then(async () => {
      child.stdin.write(`${JSON.stringify({ do: name, ...members })}\n`);
      const { value, done } = await responses.next();
      if (done) throw new Error('backend.py has ended');
      const { result, error } = JSON.parse(value);
      if (error) throw new Error(error);
      return result;
    });
    return queue;
  };
  return new Proxy(
    { close: () => new Promise((closed) => (child.on('exit', closed), child.stdin.end())) },
    { get: (own, name) => own[name] ?? (name === 'then' ? undefined : (members = {}) => call(name, members)) },
  );
}

/**
 * A TCP proxy whose connections can be cut. While `down`, it refuses connections; while `dropsResponses`, it discards
 * data from the gateway and cuts the connection. `stallWebSockets` keeps new WebSockets from opening until the returned
 * function is called; `freeze` silently stops forwarding on open connections, as when a phone sleeps; `closeWebSockets`
 * closes the WebSockets with a code, as the gateway would. `onRequestData`, if set, is called with data from browsers.
 */
export async function openProxy(port) {
  const sockets = new Set();
  const webSockets = new Set();
  const frozen = new WeakSet();
  const proxy = { down: false, dropsResponses: false };
  let released = Promise.resolve();
  const server = net.createServer((client) => {
    if (proxy.down) return client.destroy();
    const upstream = net.connect(proxy.port, '127.0.0.1');
    client.once('data', async (head) => {
      if (!/^upgrade: *websocket/im.test(head.toString('latin1'))) return;
      webSockets.add(client);
      upstream.pause();
      await released;
      upstream.resume();
    });
    client.on('close', () => webSockets.delete(client));
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ]) {
      sockets.add(from);
      if (from === client)
        from.on('data', (data) => {
          proxy.onRequestData?.(data.toString('latin1'));
          if (!frozen.has(client)) upstream.write(data);
        });
      else
        from.on('data', (data) => (proxy.dropsResponses ? client.destroy() : frozen.has(client) || client.write(data)));
      from.on('error', () => to.destroy());
      from.on('close', () => (sockets.delete(from), to.destroy()));
    }
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  proxy.port = port;
  proxy.url = `http://127.0.0.1:${server.address().port}`;
  proxy.cut = () => sockets.forEach((socket) => socket.destroy());
  proxy.freeze = () => sockets.forEach((socket) => frozen.add(socket));
  proxy.stallWebSockets = () => {
    let release;
    released = new Promise((resolve) => (release = resolve));
    return release;
  };
  proxy.closeWebSockets = (code) => {
    for (const client of webSockets) client.write(Buffer.from([0x88, 2, code >> 8, code & 255]));
  };
  proxy.close = () => (proxy.cut(), server.close());
  return proxy;
}

/**
 * Creates a gateway, a browser and a proxy for the tests of a file and closes them afterwards. Console errors,
 * exceptions and violations of the Content-Security-Policy on any page fail the file.
 */
export function withGateway(options) {
  const env = createEnvironment(options);
  let running = 0;
  before(env.begin);
  beforeEach(() => void running++);
  // Pages live as long as the outermost test that opened them, so subtests share them.
  afterEach(() => --running || env.closePages());
  after(async () => {
    await env.end();
    assert.deepEqual(env.pageErrors, []);
  });
  return env;
}

/** The helpers for tests and scripts, usable between `begin` and `end`. `open` opens another browser. */
export function createEnvironment({ model = 'stub', environment = {}, open = openBrowser } = {}) {
  const env = {
    pageErrors: [],
    allowedErrors: [/net::ERR_/, /WebSocket connection to/, /status of (400|401|404|408|409|429)/],
  };
  env.begin = async () => {
    env.backend = startBackend();
    env.proxy = await openProxy(0);
    Object.assign(env, await env.backend.start({ model, environment, origins: [env.proxy.url] }));
    env.proxy.port = Number(new URL(env.url).port);
    env.browser = await open();
  };
  env.end = async () => {
    await env.browser?.close();
    env.proxy?.close();
    await env.backend?.close();
  };

  /** Closes all pages, and all contexts but the reusable ones, whose connections end. */
  env.closePages = async () => {
    await Promise.all(
      (env.browser.contexts?.() ?? []).map((context) => {
        const first = reusable.get(context);
        if (!first) return context.close();
        return Promise.all(context.pages().map((page) => page !== first && page.close()));
      }),
    );
    idle.splice(0, Infinity, ...reusable.keys());
    env.proxy.cut();
  };

  env.api = async (method, path, body) => {
    const response = await fetch(env.url + path, {
      method,
      headers: { authorization: `Bearer ${env.token}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text && JSON.parse(text);
  };

  const newContext = async (options) => {
    const context = await env.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(timeout);
    return context;
  };

  /** Opens a page in a new, unpaired browser context. */
  env.newPage = async (options = {}) => watch(await (await newContext(options)).newPage());

  // A context that has shown the page before opens it in half the time, because it has the compiled scripts. So contexts
  // without options are reused, emptied. The first page of each stays, and opens the others, which then run in its process
  // instead of starting one.
  const reusable = new Map();
  const idle = [];
  const newReusableContext = async () => {
    const context = await newContext();
    const first = await context.newPage();
    await first.goto(`${env.proxy.url}/ui/icon.svg`);
    reusable.set(context, first);
    return context;
  };
  const pageInReusedContext = async () => {
    const context = idle.pop() ?? (await newReusableContext());
    await context.clearPermissions();
    const opened = context.waitForEvent('page');
    await reusable.get(context).evaluate(() => void window.open());
    const page = await opened;
    const session = await context.newCDPSession(page);
    await session.send('Storage.clearDataForOrigin', { origin: env.proxy.url, storageTypes: 'all' });
    await session.detach();
    return watch(page);
  };

  /** Makes what goes wrong on the page fail the tests. Returns the page. */
  const watch = async (page) => {
    await page.addInitScript(() =>
      document.addEventListener('securitypolicyviolation', (event) =>
        console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`),
      ),
    );
    // The stack is empty if the browser itself created the error, as for a response that ends too early.
    page.on('pageerror', (error) => env.pageErrors.push(`${page.url()}: ${error.stack || error}`));
    page.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' && !env.allowedErrors.some((pattern) => pattern.test(text)))
        env.pageErrors.push(`${page.url()}: ${text || JSON.stringify(message.location())}`);
    });
    return page;
  };

  /** Opens a route in a paired browser context of its own. */
  env.open = async (route = '/chats', { through = env.proxy.url, ...options } = {}) => {
    const isUsual = through === env.proxy.url && Object.keys(options).length === 0 && open === openBrowser;
    const page = isUsual ? await pageInReusedContext() : await env.newPage(options);
    await page.addInitScript(
      (token) => window === top && localStorage.setItem('agw.token', JSON.stringify(token)),
      env.token,
    );
    await page.goto(`${through}/ui/#${route}`);
    return page;
  };

  /** Sets the shared soul to `content` and opens the Agents page. Returns the page and the soul's field. */
  env.openSoul = async (content) => {
    await env.api('PUT', '/soul', { content });
    const page = await env.open('/agents');
    const soul = page.getByRole('textbox', { name: 'Soul' });
    await eventually(async () => assert.equal(await soul.inputValue(), content));
    return { page, soul };
  };

  env.thread = (members = {}) => env.api('POST', '/threads', members);
  env.threadWith = async (...turns) => {
    const { id } = await env.thread();
    for (const turn of turns) await env.api('POST', `/threads/${id}/turns`, turn);
    return id;
  };
  env.turns = async (id) => (await env.api('GET', `/threads/${id}/turns?limit=1000`)).reverse();
  return env;
}

export const message = (page) => page.getByRole('textbox', { name: 'Message' });

export async function sendMessage(page, text) {
  await message(page).fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

export const answers = (page) => page.getByRole('article', { name: 'Assistant' });
export const questions = (page) => page.getByRole('article', { name: 'You' });

/** Lets the gateway process matching requests, but holds its responses back until the returned function is called. */
export async function holdResponses(page, method, url) {
  let isHeld = true;
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route(url, async (route) => {
    if (!isHeld || route.request().method() !== method) return route.fallback();
    // If the test ends in the meantime, closing the page aborts the request, and its response is gone.
    const response = await route.fetch().catch(() => undefined);
    await released;
    if (response) await route.fulfill({ response }).catch(() => undefined);
  });
  return () => ((isHeld = false), release());
}

/** The accessible name of the focused element. */
export const focusedName = (page) =>
  page.evaluate(() => {
    const { activeElement: focused } = document;
    return focused === document.body
      ? 'nothing'
      : (focused.ariaLabel ?? focused.labels?.[0]?.textContent.trim() ?? focused.textContent.trim());
  });
export const expectFocus = (page, name) => eventually(async () => assert.equal(await focusedName(page), name));

/** Holds matching requests back until `release` is called. */
export async function holdRequests(page, url) {
  const held = [];
  let isReleased = false;
  await page.route(url, (route) => (isReleased ? route.continue() : held.push(route)));
  return {
    requested: () => eventually(() => assert.ok(held.length)),
    release: () => {
      isReleased = true;
      return Promise.all(held.map((route) => route.continue()));
    },
  };
}

/**
 * Starts measuring. The returned function returns how many milliseconds the page's main thread has worked since then,
 * regardless of the machine's load.
 */
export async function measureWork(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const now = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
  };
  const before = await now();
  return async () => Math.round((await now()) - before);
}

/** Waits until `check` does not throw. */
export async function eventually(check, within = timeout) {
  const deadline = Date.now() + within;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}

/** Chooses an option of a picker (components/Picker.svelte) by its name. */
export async function choose(picker, name) {
  await picker.click();
  await picker.page().getByRole('option', { name, exact: true }).click();
}
