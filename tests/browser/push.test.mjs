// Notifications of a closed page: `http_ece` decrypts and verifies the gateway's requests, which are compared with those of
// `web-push`, and the service worker shows pushes from DevTools. Chromium's push service is not available here, so the page
// subscribes to the one in this file.
import assert from 'node:assert/strict';
import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto';
import http from 'node:http';
import { after, describe, test } from 'node:test';
import { eventually, missing, require, withGateway } from './environment.mjs';

const ece = require('http_ece');
const webPush = require('web-push');

/** A push service that records requests and responds with `status`. */
async function openPushService() {
  const service = { sent: [], status: 201 };
  const server = http.createServer((request, response) => {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => {
      service.sent.push({ path: request.url, headers: request.headers, body: Buffer.concat(pieces) });
      response.writeHead(service.status).end();
    });
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  server.unref(); // If the tests are skipped, nothing closes it.
  service.origin = `http://127.0.0.1:${server.address().port}`;
  service.close = () => (server.close(), server.closeAllConnections());
  return service;
}

/** A browser's keys, and its subscription as JSON. */
function newBrowser(endpoint) {
  const keys = createECDH('prime256v1');
  const auth = randomBytes(16).toString('base64url');
  const p256dh = keys.generateKeys().toString('base64url');
  const subscription = { endpoint, expirationTime: null, keys: { p256dh, auth } };
  const read = (body) =>
    JSON.parse(ece.decrypt(body, { version: 'aes128gcm', privateKey: keys, authSecret: auth }).toString());
  return { subscription, read };
}

function isSignedBy(token, key) {
  const point = Buffer.from(key, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString('base64url'));
  const publicKey = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  const [head, claims, signature] = token.split('.');
  const signed = Buffer.from(`${head}.${claims}`);
  return verify('sha256', signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
}

const service = await openPushService();

describe('push', { skip: missing }, () => {
  const env = withGateway({ environment: { AGENT_GATEWAY_TEST_PUSH_SERVICE: service.origin } });
  after(() => service.close());

  const received = async (count) => {
    await eventually(() => assert.ok(service.sent.length >= count));
    return service.sent[count - 1];
  };
  const signal = () => env.api('POST', '/signals', { kind: 'backup-late', message: 'The password is hunter2.' });
  const unsubscribeAll = async () => {
    for (const { id } of await env.api('GET', '/push/subscriptions'))
      await env.api('DELETE', `/push/subscriptions/${id}`);
    service.sent.length = 0;
  };

  test('other implementations decrypt and verify what is sent', async () => {
    await unsubscribeAll();
    const browser = newBrowser(`${service.origin}/send/1`);
    await env.api('POST', '/push/subscriptions', browser.subscription);
    await signal();
    const { headers, body } = await received(1);
    assert.equal(browser.read(body).body, 'The gateway has a signal for you.');
    const { public_key: key } = await env.api('GET', '/push/key');
    const [, token, named] = /^vapid t=([^,]+), k=(.+)$/.exec(headers.authorization);
    assert.equal(named, key);
    assert.ok(isSignedBy(token, key));

    // What web-push sends to that browser decrypts the same way, and has the same headers.
    const pair = webPush.generateVAPIDKeys();
    const theirs = webPush.generateRequestDetails(browser.subscription, JSON.stringify({ body: 'theirs' }), {
      TTL: 60,
      urgency: 'high',
      topic: 'topic',
      contentEncoding: 'aes128gcm',
      vapidDetails: { subject: 'https://example.net', ...pair },
    });
    assert.equal(browser.read(theirs.body).body, 'theirs');
    for (const name of Object.keys(theirs.headers)) assert.ok(name.toLowerCase() in headers, name);
    assert.match(theirs.headers.Authorization, /^vapid t=[\w.-]+, k=[\w-]+$/);
  });

  /** Opens a page whose browser subscribes to the push service of this file. */
  async function openSubscribing(browser) {
    const page = await env.newPage();
    await page.context().grantPermissions(['notifications'], { origin: env.proxy.url });
    await page.addInitScript(
      ({ token, subscription }) => {
        if (!localStorage.getItem('agw.token')) localStorage.setItem('agw.token', JSON.stringify(token));
        // Headless browsers deny notifications even if they were granted.
        Object.defineProperty(Notification, 'permission', { get: () => 'granted' });
        Notification.requestPermission = async () => 'granted';
        let current = null;
        const fake = { toJSON: () => subscription, unsubscribe: async () => ((current = null), true) };
        PushManager.prototype.getSubscription = async () => current;
        PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
          const text = applicationServerKey.replace(/-/g, '+').replace(/_/g, '/');
          fake.options = { applicationServerKey: Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer };
          return (current = fake);
        };
      },
      { token: env.token, subscription: browser.subscription },
    );
    await page.goto(`${env.proxy.url}/ui/#/system`);
    return page;
  }

  test('the System view subscribes this browser, with kinds and a test', async () => {
    await unsubscribeAll();
    const browser = newBrowser(`${service.origin}/send/2`);
    const page = await openSubscribing(browser);
    const card = page.getByRole('region', { name: 'Notifications' });
    const box = card.getByRole('checkbox', { name: 'Notify this browser while the page is closed' });
    await box.click();
    await card.getByRole('button', { name: 'Test' }).click();
    assert.equal(browser.read((await received(1)).body).body, 'Notifications work.');
    await page.getByText('A notification is on its way.').waitFor();

    await card.getByRole('checkbox', { name: 'The gateway has a signal' }).uncheck();
    await eventually(async () => {
      const [{ kinds, device }] = await env.api('GET', '/push/subscriptions');
      assert.ok(!kinds.includes('signal') && kinds.includes('finish') && device);
    });

    await box.click();
    await eventually(async () => assert.deepEqual(await env.api('GET', '/push/subscriptions'), []));
    await eventually(async () => assert.equal(await page.evaluate(() => localStorage.getItem('agw.device')), null));
  });

  test('nothing is pushed while the page is visible', async () => {
    await unsubscribeAll();
    const seen = newBrowser(`${service.origin}/send/3`);
    const away = newBrowser(`${service.origin}/send/4`);
    const page = await openSubscribing(seen);
    await page.getByRole('checkbox', { name: 'Notify this browser while the page is closed' }).click();
    await page.getByRole('button', { name: 'Test' }).waitFor();
    await env.api('POST', '/push/subscriptions', away.subscription);
    await signal();
    assert.equal((await received(1)).path, '/send/4');
    await page.close();
    await eventually(async () => {
      await signal();
      assert.ok(service.sent.some(({ path }) => path === '/send/3'));
    });
  });

  test('forgetting this browser ends its subscription', async () => {
    await unsubscribeAll();
    const page = await openSubscribing(newBrowser(`${service.origin}/send/5`));
    await page.getByRole('checkbox', { name: 'Notify this browser while the page is closed' }).click();
    await page.getByRole('button', { name: 'Test' }).waitFor();
    await page.getByRole('button', { name: 'Forget this browser…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
    await eventually(async () => assert.deepEqual(await env.api('GET', '/push/subscriptions'), []));
  });

  test('a page without HTTPS shows that it is required', async () => {
    const page = await env.newPage();
    await page.addInitScript((token) => {
      localStorage.setItem('agw.token', JSON.stringify(token));
      Object.defineProperty(globalThis, 'isSecureContext', { get: () => false });
    }, env.token);
    await page.goto(`${env.proxy.url}/ui/#/system`);
    await page.getByText('To be notified while this page is closed, open it at an https address.').waitFor();
  });

  test('on an iPhone, the page asks to be installed first', async () => {
    const page = await env.newPage({ userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X)' });
    await page.addInitScript((token) => {
      localStorage.setItem('agw.token', JSON.stringify(token));
      delete globalThis.PushManager;
    }, env.token);
    await page.goto(`${env.proxy.url}/ui/#/system`);
    await page.getByText(/install it first: Share, then Add to Home Screen/).waitFor();
  });

  test('the page shows that the browser blocks its notifications', async () => {
    const page = await env.newPage();
    await page.addInitScript((token) => {
      localStorage.setItem('agw.token', JSON.stringify(token));
      Object.defineProperty(Notification, 'permission', { get: () => 'denied' });
    }, env.token);
    await page.goto(`${env.proxy.url}/ui/#/system`);
    await page.getByText('Notifications of this page are blocked.').waitFor();
  });

  /** Starts the service worker, and records its notifications and windows, because headless Chromium shows none. */
  async function openWorker(page) {
    const started = page.context().waitForEvent('serviceworker');
    await page.evaluate(() => {
      const policy = globalThis.trustedTypes.createPolicy('agw-highlight', { createScriptURL: (url) => url });
      return navigator.serviceWorker.register(policy.createScriptURL('/ui/worker.js'), { scope: '/ui/' });
    });
    const worker = await started;
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
    await worker.evaluate(() => {
      self.shown = [];
      self.opened = [];
      registration.showNotification = async (title, options) => void self.shown.push({ title, ...options });
      WindowClient.prototype.focus = async function () {
        self.opened.push('focus');
        return this;
      };
      clients.openWindow = async (url) => void self.opened.push(url);
    });
    return worker;
  }

  /** Delivers a push as a push service would. */
  async function deliver(page, data) {
    const devTools = await page.context().newCDPSession(page);
    const registered = new Promise((found) =>
      devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        const current = registrations.find(({ isDeleted }) => !isDeleted);
        if (current) found(current);
      }),
    );
    await devTools.send('ServiceWorker.enable');
    const { registrationId } = await registered;
    await devTools.send('ServiceWorker.deliverPushMessage', { origin: env.proxy.url, registrationId, data });
  }

  const click = (worker, url) =>
    worker.evaluate((data) => {
      const event = new ExtendableEvent('notificationclick');
      event.notification = { data, close: () => {} };
      dispatchEvent(event);
    }, url);

  test('the worker shows a push, and a click on it opens the thread in the page', async () => {
    const id = await env.threadWith({ role: 'user', content: 'the question' });
    const page = await env.open('/chats');
    const worker = await openWorker(page);
    await deliver(
      page,
      JSON.stringify({ kind: 'finish', body: 'An answer is ready.', url: `/ui/#/t/${id}`, topic: 'x' }),
    );
    await eventually(async () => assert.equal((await worker.evaluate(() => self.shown)).length, 1));
    const [{ title, body, tag, data }] = await worker.evaluate(() => self.shown);
    assert.deepEqual([title, body, tag], ['Agent Gateway', 'An answer is ready.', 'x']);

    await page.evaluate(() => (globalThis.sameDocument = true));
    await click(worker, data);
    await page.getByRole('article', { name: 'You' }).getByText('the question').waitFor();
    assert.ok(await page.evaluate(() => globalThis.sameDocument), 'the page was not reloaded');
    assert.deepEqual(await worker.evaluate(() => self.opened), ['focus']);
  });

  test('the worker opens no other address, and caches nothing', async () => {
    const page = await env.open('/chats');
    const worker = await openWorker(page);
    await deliver(page, JSON.stringify({ body: 'x', url: 'https://evil.example/', topic: 'x' }));
    await deliver(page, 'no JSON');
    await eventually(async () => assert.equal((await worker.evaluate(() => self.shown)).length, 2));
    const shown = await worker.evaluate(() => self.shown.map(({ data }) => data));
    assert.deepEqual(shown, [`${env.proxy.url}/ui/`, `${env.proxy.url}/ui/`]);
    assert.deepEqual(await worker.evaluate(() => caches.keys()), []);
    assert.equal(await worker.evaluate(() => self.onfetch), null);
  });
});
