import assert from 'node:assert/strict';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { chromium, launchOptions } from './chromium.mjs';
import { eventually, expectFocus, missing, withGateway } from './environment.mjs';

if (missing) test(`the browser panel (skipped: ${missing})`, { skip: true });
else {
  // A browser of its own, because all pages of a browser share its clipboard, and browser_use.test.mjs uses it too.
  const env = withGateway({ open: () => chromium.launch(launchOptions) });

  const panel = (page) => page.getByRole('region', { name: 'Browser', exact: true });
  const button = (page, name) => panel(page).getByRole('button', { name, exact: true });
  const address = (page) => panel(page).getByRole('textbox', { name: 'Address' });
  const picture = (page) => panel(page).getByRole('application').getByRole('img');
  const input = (page) => panel(page).getByRole('textbox', { name: 'Input for the website' });

  const empty = { id: 'a', title: '', url: 'about:blank', isLoading: false };
  const docs = { id: 'b', title: 'Docs', url: 'http://localhost:5173/docs', isLoading: false };
  const tabs = (all, activeId, members) => ({
    type: 'tabs',
    tabs: all,
    activeId,
    canGoBack: false,
    canGoForward: false,
    ...members,
  });

  /** Takes the place of the gateway on the sockets of browsers. Shows an empty tab until a test says something else. */
  async function gatewayOf(page) {
    const gateway = { sent: [], sockets: [], say: (message) => gateway.sockets.at(-1).send(JSON.stringify(message)) };
    const data = (await page.screenshot({ type: 'jpeg', clip: { x: 0, y: 0, width: 200, height: 100 } })).toString(
      'base64',
    );
    gateway.paint = (seq, size) => gateway.say({ ...size, type: 'frame', seq, data });
    gateway.of = (type) => gateway.sent.filter((message) => message.type === type);
    await page.routeWebSocket(/\/browsers$/, (socket) => {
      gateway.sockets.push(socket);
      socket.onMessage((text) => {
        const message = JSON.parse(text);
        gateway.sent.push(message);
        if (message.type !== 'open') return;
        gateway.say({ type: 'opened', isNew: true });
        gateway.say(tabs([empty], 'a'));
        gateway.paint(1, message);
      });
    });
    return gateway;
  }

  async function openPanel(page) {
    await page.getByRole('main').getByRole('button', { name: 'More', exact: true }).first().click();
    await page.getByRole('menuitem', { name: 'Browser' }).click();
    await panel(page).first().waitFor();
  }

  /** Opens the panel in a new chat, with the gateway's end of its connection. */
  async function opened(options) {
    const { id } = await env.thread({ title: 'Roses' });
    const page = await env.open('/chats', options);
    const gateway = await gatewayOf(page);
    await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await page.reload();
    await openPanel(page);
    await eventually(() => assert.deepEqual(gateway.of('shown'), [{ type: 'shown', seq: 1 }]));
    return { page, gateway, id };
  }

  test('the panel opens the browser of the chat, and an empty tab waits for an address', async () => {
    const { page, gateway, id } = await opened();
    const { width, height } = await panel(page).getByRole('application').boundingBox();
    assert.deepEqual(gateway.of('open'), [
      { type: 'open', threadId: id, width: Math.round(width), height: Math.round(height) },
    ]);
    await expectFocus(page, 'Address');
    assert.equal(await address(page).inputValue(), '');
    await expectAccessible(page);
    await page.keyboard.type('localhost:5173/docs');
    await page.keyboard.press('Enter');
    await eventually(() => assert.deepEqual(gateway.of('go'), [{ type: 'go', to: 'localhost:5173/docs' }]));
    await expectFocus(page, 'Input for the website');
  });

  test('tabs, the history and the address follow the browser', async () => {
    const { page, gateway } = await opened();
    gateway.say(tabs([empty, { ...docs, isLoading: true }], 'b', { canGoBack: true }));
    await eventually(async () => assert.equal(await address(page).inputValue(), docs.url));
    await button(page, 'Stop loading').click();
    await button(page, 'Back').click();
    assert.equal(await button(page, 'Forward').getAttribute('aria-disabled'), 'true');
    await button(page, 'New tab').first().click();
    await button(page, 'Close Docs').click();
    await eventually(() =>
      assert.deepEqual(
        gateway.sent.filter(({ type }) => ['go', 'tab'].includes(type)),
        [
          { type: 'go', to: 'stop' },
          { type: 'go', to: 'back' },
          { type: 'tab', action: 'select', id: 'a' },
          { type: 'tab', action: 'close', id: 'b' },
        ],
      ),
    );
    await expectAccessible(page);
  });

  test('keys arrive in order, with their text and modifiers', async () => {
    const { page, gateway } = await opened();
    await input(page).focus();
    await page.keyboard.type('Hello, World');
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await page.keyboard.insertText('漢字');
    await eventually(() => assert.ok(gateway.of('text').length));
    const downs = gateway.of('key').filter(({ action }) => action === 'down');
    assert.equal(downs.map(({ text }) => text ?? '').join(''), 'Hello, World\r');
    assert.deepEqual(
      downs.slice(-5).map(({ key, modifiers }) => [key, modifiers]),
      [
        ['Control', 2],
        ['a', 2],
        ['Enter', 0],
        ['Escape', 0],
        ['Tab', 0],
      ],
    );
    assert.deepEqual(gateway.of('text'), [{ type: 'text', text: '漢字' }]);
    assert.equal(gateway.of('key').length, 2 * downs.length);
    await expectFocus(page, 'Input for the website');
  });

  test('F6 moves to the address, and Shift F6 past the picture', async () => {
    const { page } = await opened();
    await input(page).focus();
    await page.keyboard.press('F6');
    await expectFocus(page, 'Address');
    await page.keyboard.press('Tab');
    await expectFocus(page, 'Input for the website');
    await page.keyboard.press('Shift+F6');
    await expectFocus(page, 'State of the browser');
    await page.keyboard.press('Escape');
    await panel(page).waitFor({ state: 'detached' });
  });

  test('the clipboard is shared with the site', async () => {
    const { page, gateway } = await opened({ permissions: ['clipboard-read', 'clipboard-write'] });
    await page.evaluate(() => navigator.clipboard.writeText('two\nlines'));
    await input(page).focus();
    await page.keyboard.press('Control+v');
    await eventually(() => assert.deepEqual(gateway.of('text'), [{ type: 'text', text: 'two\nlines' }]));
    await page.keyboard.press('Control+c');
    await eventually(() => assert.equal(gateway.of('copy').length, 1));
    gateway.say({ type: 'copied', text: 'from the site' });
    await eventually(async () =>
      assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'from the site'),
    );
  });

  test('the mouse clicks, drags and scrolls where the picture is', async () => {
    const { page, gateway } = await opened();
    const { x, y, width } = await panel(page).getByRole('application').boundingBox();
    // The view of another person, twice as wide as this panel.
    gateway.paint(2, { width: Math.round(2 * width), height: 200 });
    await eventually(() => assert.equal(gateway.of('shown').length, 2));
    await page.mouse.dblclick(x + 20, y + 10);
    await page.mouse.move(x + 30, y + 20);
    await page.mouse.down({ button: 'right' });
    await page.mouse.up({ button: 'right' });
    await page.mouse.wheel(0, 120);
    await eventually(() => assert.ok(gateway.of('mouse').some(({ action }) => action === 'wheel')));
    const seen = gateway.of('mouse').filter(({ action }) => action !== 'move');
    assert.deepEqual(
      seen.map(({ action, button: which, clicks, x: left, y: top, deltaY }) => [
        action,
        which ?? deltaY,
        clicks,
        // The width of the panel is no whole number.
        Math.round(left / 10),
        Math.round(top / 10),
      ]),
      [
        ['down', 'left', 1, 4, 2],
        ['up', 'left', 1, 4, 2],
        ['down', 'left', 2, 4, 2],
        ['up', 'left', 2, 4, 2],
        ['down', 'right', 1, 6, 4],
        ['up', 'right', 1, 6, 4],
        ['wheel', 120, undefined, 6, 4],
      ],
    );
    await expectFocus(page, 'Input for the website');
  });

  test('a question of the site is answered in the panel', async () => {
    const { page, gateway } = await opened();
    gateway.say(tabs([docs], 'b'));
    gateway.say({ type: 'dialog', kind: 'prompt', message: 'Your name?', default: 'me' });
    await panel(page).getByRole('alert').getByText('localhost:5173 says: Your name?').waitFor();
    await expectFocus(page, 'Answer');
    await expectAccessible(page);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('you');
    await page.keyboard.press('Enter');
    await eventually(() => assert.deepEqual(gateway.of('dialog'), [{ type: 'dialog', accept: true, text: 'you' }]));
    await expectFocus(page, 'Input for the website');
  });

  test('a refused host can be allowed, if the gateway says so', async () => {
    const { page, gateway } = await opened();
    gateway.say({ type: 'refused', host: 'localhost:1', reason: 'it is the gateway', canAllow: false });
    gateway.say({ type: 'refused', host: 'localhost:5173', reason: 'it is on this machine', canAllow: true });
    await panel(page).getByText('No connection to localhost:1: it is the gateway').waitFor();
    assert.equal(
      await panel(page)
        .getByRole('button', { name: /^Allow/ })
        .count(),
      0,
    );
    await button(page, 'Dismiss').click();
    await button(page, 'Allow localhost:5173 here').click();
    await eventually(() => assert.deepEqual(gateway.of('allow'), [{ type: 'allow', host: 'localhost:5173' }]));
  });

  test('what an agent does is shown, and why the browser ended', async () => {
    const { page, gateway } = await opened();
    const status = panel(page).getByRole('status');
    gateway.say({ type: 'agent', action: 'assistant: clicks “Sign in”' });
    await status.getByText('assistant: clicks “Sign in”').waitFor();
    gateway.say({ type: 'closed', reason: 'idle' });
    await status.getByText('because nobody used it for 30 minutes').waitFor();
    await button(page, 'Open again').click();
    await button(page, 'End').click();
    await panel(page).waitFor({ state: 'detached' });
    await eventually(() => assert.deepEqual(gateway.sent.at(-1), { type: 'close' }));
  });

  test('each of two chats has a browser of its own', async () => {
    const { page, gateway, id } = await opened();
    const other = await env.thread({ title: 'Tulips' });
    await page.evaluate((chat) => localStorage.setItem('agw.beside', JSON.stringify(chat)), other.id);
    await page.reload();
    gateway.sent.length = 0;
    await openPanel(page);
    const beside = page.getByRole('region', { name: 'Chat beside' });
    await beside.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Browser' }).click();
    await eventually(() =>
      assert.deepEqual(
        gateway.of('open').map(({ threadId }) => threadId),
        [id, other.id],
      ),
    );
    await beside.getByRole('button', { name: 'End', exact: true }).click();
    await eventually(async () => assert.equal(await panel(page).count(), 1));
  });

  test('on a phone the panel replaces the chat, a finger clicks and scrolls', async () => {
    const { page, gateway } = await opened({ viewport: { width: 360, height: 640 }, hasTouch: true });
    const box = await panel(page).boundingBox();
    assert.deepEqual([box.x, box.width], [0, 360]);
    await expectAccessible(page);
    const screen = await panel(page).getByRole('application').boundingBox();
    await page.touchscreen.tap(screen.x + 50, screen.y + 60);
    await eventually(() =>
      assert.deepEqual(
        gateway.of('mouse').map(({ action, x, y }) => [action, x, y]),
        [
          ['move', 50, 60],
          ['down', 50, 60],
          ['up', 50, 60],
        ],
      ),
    );
    const session = await page.context().newCDPSession(page);
    const touch = (type, y) =>
      session.send('Input.dispatchTouchEvent', { type, touchPoints: y ? [{ x: screen.x + 50, y: screen.y + y }] : [] });
    await touch('touchStart', 200);
    await touch('touchMove', 150);
    await touch('touchMove', 100);
    await touch('touchEnd');
    await eventually(() =>
      assert.equal(
        gateway
          .of('mouse')
          .slice(3)
          .reduce((sum, { deltaY }) => sum + deltaY, 0),
        100,
      ),
    );
    assert.ok(await picture(page).isVisible());
  });
}
