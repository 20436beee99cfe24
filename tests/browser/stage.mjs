// What a browser test stands on: a real gateway with a scripted model (stage.py), Debian's Chromium, a line that can be cut.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { after, afterEach, before, beforeEach } from 'node:test';
import assert from 'node:assert/strict';

export const repository = new URL('../..', import.meta.url).pathname;
export const require = createRequire(`${repository}/web/package.json`);
const { chromium } = require('playwright-core');
/** Milliseconds until whoever waits gives up: it guards against a hang only, and says nothing of speed. */
const patience = 60_000;
const executable = process.env.CHROMIUM ?? '/usr/bin/chromium';

export const missing =
  (!existsSync(executable) && `${executable} is missing: apt-get install chromium`) ||
  (!existsSync(process.env.AGW ?? '') && 'AGW does not name a gateway');

/** The process of stage.py; each of its methods is a method here, with one object of arguments. */
function openStage() {
  const child = spawn('/usr/bin/python3', [`${repository}/tests/browser/stage.py`], { stdio: ['pipe', 'pipe', 'inherit'] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let queue = Promise.resolve();
  const order = (name, members) => {
    queue = queue.then(async () => {
      child.stdin.write(`${JSON.stringify({ do: name, ...members })}\n`);
      const { value, done } = await answers.next();
      if (done) throw new Error('stage.py has ended');
      const { result, error } = JSON.parse(value);
      if (error) throw new Error(error);
      return result;
    });
    return queue;
  };
  return new Proxy({ close: () => new Promise((closed) => (child.on('exit', closed), child.stdin.end())) }, {
    get: (own, name) => own[name] ?? (name === 'then' ? undefined : (members = {}) => order(name, members)),
  });
}

/**
 * A TCP proxy whose connections can be cut. While it is `down` it refuses; while it is `deaf`, what the gateway answers
 * is thrown away and the connection cut. `freeze` lets nothing through what is open, and does not say so, as when a phone
 * sleeps; `closeEvents` closes the WebSockets with a code as the gateway would.
 */
export async function openLine(port) {
  const sockets = new Set();
  const webSockets = new Set();
  const frozen = new WeakSet();
  const line = { down: false, deaf: false };
  const server = net.createServer((client) => {
    if (line.down) return client.destroy();
    const upstream = net.connect(line.port, '127.0.0.1');
    client.once('data', (head) => /^upgrade: *websocket/im.test(head.toString('latin1')) && webSockets.add(client));
    client.on('close', () => webSockets.delete(client));
    for (const [from, to] of [[client, upstream], [upstream, client]]) {
      sockets.add(from);
      if (from === client) from.on('data', (data) => frozen.has(client) || upstream.write(data));
      else from.on('data', (data) => (line.deaf ? client.destroy() : frozen.has(client) || client.write(data)));
      from.on('error', () => to.destroy());
      from.on('close', () => (sockets.delete(from), to.destroy()));
    }
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  line.port = port;
  line.url = `http://127.0.0.1:${server.address().port}`;
  line.cut = () => sockets.forEach((socket) => socket.destroy());
  line.freeze = () => sockets.forEach((socket) => frozen.add(socket));
  line.closeEvents = (code) => {
    for (const client of webSockets) client.write(Buffer.from([0x88, 2, code >> 8, code & 255]));
  };
  line.close = () => (line.cut(), server.close());
  return line;
}

/**
 * Makes a gateway, a browser and a line between them for the tests of a file, and ends them with it. What any page logs
 * as an error, throws or breaks of its Content-Security-Policy fails the file.
 */
export function withStage(options) {
  const it = actor(options);
  let underWay = 0;
  before(it.begin);
  beforeEach(() => void underWay++);
  // The pages of a test, with those of the tests within it, work no longer than that.
  afterEach(() => --underWay || it.closePages());
  after(async () => {
    await it.end();
    assert.deepEqual(it.complaints, []);
  });
  return it;
}

/** What tests and scripts do with a gateway and a browser, between `begin` and `end`. */
export function actor({ model = 'stub' } = {}) {
  const it = { complaints: [], tolerated: [/net::ERR_/, /WebSocket connection to/, /status of (400|401|404|408|409|429)/] };
  it.begin = async () => {
    it.stage = openStage();
    it.line = await openLine(0);
    Object.assign(it, await it.stage.start({ model, origins: [it.line.url] }));
    it.line.port = Number(new URL(it.url).port);
    it.browser = await chromium.launch({
      executablePath: executable,
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    });
  };
  it.end = async () => {
    await it.browser?.close();
    it.line?.close();
    await it.stage?.close();
  };

  it.closePages = () => Promise.all(it.browser.contexts().map((context) => context.close()));

  it.api = async (method, path, body) => {
    const answer = await fetch(it.url + path, {
      method,
      headers: { authorization: `Bearer ${it.token}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
    return text && JSON.parse(text);
  };

  /** A page of a browser that knows nothing yet. */
  it.fresh = async (options = {}) => {
    const context = await it.browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(patience);
    const page = await context.newPage();
    await page.addInitScript(() =>
      document.addEventListener('securitypolicyviolation', (event) =>
        console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`),
      ),
    );
    page.on('pageerror', (error) => it.complaints.push(String(error.stack ?? error)));
    page.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' && !it.tolerated.some((pattern) => pattern.test(text))) it.complaints.push(text);
    });
    return page;
  };

  /** A page of a paired browser, at a place of the page. */
  it.open = async (place = '/chats', { through = it.line.url, ...options } = {}) => {
    const page = await it.fresh(options);
    await page.addInitScript((token) => window === top && localStorage.setItem('agw.token', JSON.stringify(token)), it.token);
    await page.goto(`${through}/ui/#${place}`);
    return page;
  };

  /** A page that shows a soul, and its field. */
  it.openSoul = async (content) => {
    await it.api('PUT', '/soul', { content });
    const page = await it.open('/agents');
    const soul = page.getByRole('textbox', { name: 'Soul' });
    await eventually(async () => assert.equal(await soul.inputValue(), content));
    return { page, soul };
  };

  it.thread = (members = {}) => it.api('POST', '/threads', members);
  it.threadWith = async (...turns) => {
    const { id } = await it.thread();
    for (const turn of turns) await it.api('POST', `/threads/${id}/turns`, turn);
    return id;
  };
  it.turns = async (id) => (await it.api('GET', `/threads/${id}/turns?limit=1000`)).reverse();
  return it;
}

export const message = (page) => page.getByRole('textbox', { name: 'Message' });

export async function say(page, text) {
  await message(page).fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

export const answers = (page) => page.getByRole('article', { name: 'Assistant' });
export const questions = (page) => page.getByRole('article', { name: 'You' });

/** Keeps the page from the answers to requests that are done, until what it answers is called. */
export async function holds(page, method, place) {
  let isHeld = true;
  let release;
  const held = new Promise((free) => (release = free));
  await page.route(place, async (route) => {
    if (!isHeld || route.request().method() !== method) return route.fallback();
    const response = await route.fetch();
    await held;
    await route.fulfill({ response });
  });
  return () => ((isHeld = false), release());
}

/** Answers a function that tells how many milliseconds the page's main thread has worked since, whatever else ran here. */
export async function worked(page) {
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
export async function eventually(check, within = patience) {
  const until = Date.now() + within;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((again) => setTimeout(again, 25));
    }
  }
}
