import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, focusedName, message, missing, sendMessage, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  const card = (page) => page.getByRole('group', { name: 'Permission request' });
  const button = (page, name) => page.getByRole('button', { name });
  const write = (path = 'notes.md', content = 'Buy milk.\n') => ({ name: 'Write', arguments: { path, content } });

  /** Starts a chat whose agent makes a call that its stage does not allow and, if it `continues`, then answers `Well.` */
  async function ask(page, { call = write(), continues = true } = {}) {
    await env.backend.reply({ text: 'I try.', tool_calls: [call] });
    if (continues) await env.backend.reply({ text: 'Well.' });
    await page.getByText('Act', { exact: true }).click();
    await sendMessage(page, 'Please do it');
    await card(page).locator('button[aria-disabled=false]').first().waitFor();
  }

  test('a call that the stage does not allow asks for permission, and runs once it is allowed', async () => {
    const page = await env.open('/new');
    await ask(page);
    await card(page).getByText('asks to write a file').waitFor();
    await card(page).getByText('+Buy milk.').waitFor();
    assert.equal(await card(page).getByRole('alert').count(), 1);
    await button(card(page), 'Allow once').click();
    await answers(page).getByText('Well.').waitFor();
    assert.equal(await card(page).count(), 0);
    await page.getByText(/Write.*done/).waitFor();
  });

  test('a request is decided by touch on a phone', async () => {
    const page = await env.open('/new', { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await env.backend.reply({ text: 'I try.', tool_calls: [write('phone.md')] });
    await env.backend.reply({ text: 'Well.' });
    await page.getByText('Act', { exact: true }).tap();
    await sendMessage(page, 'Please do it');
    await card(page).locator('button[aria-disabled=false]').first().waitFor();
    await card(page).getByText('+Buy milk.').waitFor();
    const allow = button(card(page), 'Allow once');
    const { x, y, width, height } = await allow.boundingBox();
    assert.ok(x >= 0 && x + width <= 390 && y + height <= 844, 'the button is in view');
    assert.ok(height >= 40, `${height} pixels are enough for a finger`);
    await allow.tap();
    await answers(page).getByText('Well.').waitFor();
    assert.equal(await card(page).count(), 0);
    await page.getByText(/Write.*done/).waitFor();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= 390), 'nothing is cut off');
  });

  test('a button that gets the focus on a small screen is not behind the button to the end', async () => {
    const page = await env.open('/new', { viewport: { width: 320, height: 480 } });
    await ask(page, { call: write('long.md', 'Buy milk.\n'.repeat(30)) });
    await page.getByRole('log').evaluate((box) => (box.scrollTop = 0));
    await button(page, 'The agent asks you').waitFor();
    const stage = button(card(page), 'Stage as a proposal');
    await page.getByRole('log').focus();
    while (!(await stage.evaluate((one) => one.matches(':focus')))) await page.keyboard.press('Tab');
    await eventually(async () =>
      assert.ok(
        await stage.evaluate((one) => {
          const { x, y, width, height } = one.getBoundingClientRect();
          return one.contains(document.elementFromPoint(x + width / 2, y + height / 2));
        }),
      ),
    );
    await button(card(page), 'Allow once').click();
    await answers(page).getByText('Well.').waitFor();
  });

  test('a call is denied by keyboard, with a reason that the agent reads', async () => {
    const page = await env.open('/new');
    await ask(page);
    await message(page).press('Shift+Tab');
    assert.match(await focusedName(page), /^Deny/, 'the card is next to the message');
    await page.keyboard.press('n');
    await page.keyboard.type('Use the calendar');
    await page.keyboard.press('Enter');
    await answers(page).getByText('Well.').waitFor();
    await page.getByRole('region', { name: 'Result' }).getByText('Use the calendar').waitFor();
  });

  test('a key stages the call as a proposal', async () => {
    const page = await env.open('/new');
    await ask(page);
    await message(page).evaluate((box) => box.blur());
    await eventually(async () => {
      await page.keyboard.press('p');
      assert.equal(await card(page).count(), 0);
    });
    await page.getByText('staged', { exact: false }).first().waitFor();
    assert.equal((await env.api('GET', '/proposals')).length, 1);
  });

  test('a call allowed in the chat does not ask again, is listed on the page of the agent, and can be revoked', async () => {
    const page = await env.open('/new');
    await ask(page, { call: write('list/one.md') });
    await button(card(page), 'Allow in this chat').click();
    await answers(page).getByText('Well.').waitFor();
    await env.backend.reply({ text: '', tool_calls: [write('list/two.md')] });
    await env.backend.reply({ text: 'Done without asking.' });
    await sendMessage(page, 'Once more');
    await answers(page).getByText('Done without asking.').waitFor();
    await page.goto(`${env.proxy.url}/ui/#/agents/assistant`);
    await page.getByRole('heading', { name: 'Allowed on request' }).waitFor();
    await page.getByRole('button', { name: /^Revoke Write/ }).click();
    await page.getByText('Nothing was allowed beyond').waitFor();
    assert.deepEqual(await env.api('GET', '/agents/assistant/grants'), []);
  });

  test('a card shows that it was decided elsewhere', async () => {
    const page = await env.open('/new');
    await env.backend.reply({ text: 'I try.', tool_calls: [write()] });
    const held = await env.backend.hold({ pieces: ['Hm'] });
    await page.getByText('Act', { exact: true }).click();
    await sendMessage(page, 'Please do it');
    await card(page).waitFor();
    const [waiting] = await env.api('GET', '/permissions');
    await env.api('POST', `/permissions/${waiting.id}`, { decision: 'deny' });
    await card(page).getByText('Denied by a person on another page or device.').waitFor();
    assert.equal(await button(card(page), 'Allow once').count(), 0);
    await env.backend.release({ held, pieces: ['Well.'] });
    await eventually(async () => assert.equal(await card(page).count(), 0));
  });

  for (const [decision, words] of Object.entries({ allow: 'Allowed once by', deny: 'Denied by' }))
    test(`a reason being typed is kept when another browser decides: ${decision}`, async () => {
      const page = await env.open('/new');
      await env.backend.reply({ text: 'I try.', tool_calls: [write(`${decision}.md`)] });
      const held = await env.backend.hold({ pieces: ['Hm'] });
      await page.getByText('Act', { exact: true }).click();
      await sendMessage(page, 'Please do it');
      await card(page).locator('button[aria-disabled=false]').first().waitFor();
      await button(card(page), 'Deny…').click();
      await page.getByRole('textbox', { name: 'Reason' }).fill('Use the calendar');
      const [waiting] = await env.api('GET', '/permissions');
      await env.api('POST', `/permissions/${waiting.id}`, { decision });
      await card(page).getByText(words).waitFor();
      await page.getByText('Your text is in the message box.').waitFor();
      assert.equal(await message(page).inputValue(), 'Use the calendar');
      await env.backend.release({ held, pieces: ['Well.'] });
    });

  test('a reason being typed is kept when another tab allows the call, not when it denies it for this reason', async () => {
    const page = await env.open('/new');
    const reason = (tab) => tab.getByRole('textbox', { name: 'Reason' });
    for (const decides of ['Allow once', 'Deny…']) {
      await env.backend.reply({ text: 'I try.', tool_calls: [write(`${decides[0]}.md`)] });
      const held = await env.backend.hold({ pieces: ['Hm'] });
      await page.getByText('Act', { exact: true }).click();
      await sendMessage(page, 'Please do it');
      const second = await page.context().newPage();
      await page.waitForURL(/#\/t\//);
      await second.goto(page.url());
      for (const tab of [page, second]) await card(tab).locator('button[aria-disabled=false]').first().waitFor();
      await button(card(page), 'Deny…').click();
      await reason(page).fill('Use the calendar');
      await button(card(second), decides).click();
      if (decides === 'Deny…') {
        await eventually(async () => assert.equal(await reason(second).inputValue(), 'Use the calendar'));
        await reason(second).press('Enter');
      }
      await card(page)
        .getByText(/ by a person/)
        .waitFor();
      const kept = decides === 'Deny…' ? '' : 'Use the calendar';
      await eventually(async () => assert.equal(await message(page).inputValue(), kept));
      await message(page).fill('');
      await env.backend.release({ held, pieces: ['Well.'] });
      await button(page, 'Stop').waitFor({ state: 'hidden' });
      await second.close();
    }
  });

  test('a reason that another tab has sent is not kept, although this tab learns of it after the decision', async () => {
    const page = await env.open('/new');
    await env.backend.reply({ text: 'I try.', tool_calls: [write('late.md')] });
    const held = await env.backend.hold({ pieces: ['Hm'] });
    await page.getByText('Act', { exact: true }).click();
    await sendMessage(page, 'Please do it');
    await page.waitForURL(/#\/t\//);
    const second = await page.context().newPage();
    await second.goto(page.url());
    for (const tab of [page, second]) {
      await card(tab).locator('button[aria-disabled=false]').first().waitFor();
      await button(card(tab), 'Deny…').click();
    }
    const reason = (tab) => tab.getByRole('textbox', { name: 'Reason' });
    await reason(page).fill('Use the calendar');
    await eventually(async () => assert.equal(await reason(second).inputValue(), 'Use the calendar'));
    await page.evaluate(() => {
      const late = [];
      const hold = (event) => (event.stopImmediatePropagation(), late.push(event));
      addEventListener('storage', hold, { capture: true });
      const look = () => {
        if (!document.querySelector('[data-request] [role=status]')) return setTimeout(look);
        removeEventListener('storage', hold, { capture: true });
        for (const { key, oldValue, newValue } of late)
          dispatchEvent(new StorageEvent('storage', { key, oldValue, newValue }));
        window.isTold = late.length > 0;
      };
      look();
    });
    await reason(second).press('Enter');
    await page.waitForFunction(() => window.isTold);
    await env.backend.release({ held, pieces: ['Well.'] });
    await answers(page).getByText('HmWell.').waitFor();
    await eventually(async () => assert.equal(await card(page).count(), 0));
    assert.equal(await message(page).inputValue(), '');
    assert.equal(await page.getByText('Your text is in the message box.').count(), 0);
  });

  test('an answer being typed is kept when another tab chooses one of the options', async () => {
    const page = await env.open('/new');
    const question = { question: 'Which colour?', options: ['Red', 'Blue'] };
    await env.backend.reply({ text: 'I ask.', tool_calls: [{ name: 'AskUser', arguments: question }] });
    await env.backend.reply({ text: 'Well.' });
    await sendMessage(page, 'Paint it');
    await page.waitForURL(/#\/t\//);
    const second = await page.context().newPage();
    await second.goto(page.url());
    const words = (tab) => tab.getByRole('textbox', { name: 'Or answer in your own words' });
    await words(page).fill('Green, if there is some');
    await eventually(async () => assert.equal(await words(second).inputValue(), 'Green, if there is some'));
    await second.locator('[data-request] button[aria-disabled=false]').first().waitFor();
    await button(second, 'Blue').click();
    await answers(page).getByText('Well.').waitFor();
    await page.getByText('Your text is in the message box.').waitFor();
    assert.equal(await message(page).inputValue(), 'Green, if there is some');
  });

  test('a request that was decided elsewhere goes although the end of its answer was missed', async () => {
    const page = await env.open('/new');
    await env.backend.reply({ text: 'I try.', tool_calls: [write('missed.md')] });
    const held = await env.backend.hold({ pieces: ['Hm'] });
    await page.getByText('Act', { exact: true }).click();
    await sendMessage(page, 'Please do it');
    await card(page).waitFor();
    const [waiting] = await env.api('GET', '/permissions');
    await env.api('POST', `/permissions/${waiting.id}`, { decision: 'deny' });
    await card(page).getByText('Denied by a person on another page or device.').waitFor();
    env.proxy.down = true;
    env.proxy.cut();
    await env.backend.release({ held, pieces: ['Well.'] });
    const isActive = async () => (await env.api('GET', `/threads/${waiting.thread_id}`)).active_run !== null;
    await eventually(async () => assert.ok(!(await isActive())));
    env.proxy.down = false;
    await answers(page).getByText('HmWell.').waitFor();
    await eventually(async () => assert.equal(await card(page).count(), 0));
  });

  /** Enables notifications, which `window.shown` lists with their texts. */
  async function enableNotifications(page) {
    await page.evaluate(() => {
      window.shown = [];
      window.Notification = class {
        static permission = 'granted';
        static requestPermission = () => Promise.resolve('granted');
        constructor(title, { body }) {
          window.shown.push([body, this]);
        }
      };
    });
    await page.evaluate(() => (location.hash = '#/system'));
    await page.getByRole('checkbox', { name: /Notify me/ }).check();
  }

  const setHidden = (page, hidden) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);

  test('a hidden tab notifies only while no other tab is visible', async () => {
    const hidden = await env.open('/system');
    await enableNotifications(hidden);
    await hidden.evaluate(() => (location.hash = '#/new'));
    await setHidden(hidden, true);
    const other = await hidden.context().newPage();
    await other.goto(`${env.proxy.url}/ui/#/new`);
    const { id } = await env.thread({ title: 'Asked in between' });
    const shown = () => hidden.evaluate(() => window.shown.map(([body]) => body));
    for (const page of [hidden, other]) await page.getByRole('link', { name: /Asked in between/ }).waitFor();
    await env.backend.reply({ text: 'Well.' });
    await env.api('POST', '/chat', { threadId: id, content: 'Hello' });
    for (const page of [hidden, other])
      await page.getByRole('link', { name: /Asked in between.*new answer/ }).waitFor();
    assert.deepEqual(await shown(), []);
    await setHidden(other, true);
    await env.backend.reply({ text: 'Well.' });
    await env.api('POST', '/chat', { threadId: id, content: 'Hello again' });
    await eventually(async () => assert.deepEqual(await shown(), ['An answer is ready.']));
  });

  test('a request in another chat is shown in the list, in the title, and as a notification while the page is hidden', async () => {
    const page = await env.open('/new');
    await enableNotifications(page);
    await page.evaluate(() => (location.hash = '#/new'));
    const { id } = await env.thread({ title: 'The other chat' });
    await setHidden(page, true);
    await env.backend.reply({ text: '', tool_calls: [write()] });
    await env.backend.reply({ text: 'Well.' });
    await env.api('PATCH', `/threads/${id}`, { mode: 'act' });
    await env.api('POST', '/chat', { threadId: id, content: 'Do it' });
    await page.getByRole('link', { name: /The other chat.*asks you/ }).waitFor();
    await eventually(async () => assert.match(await page.title(), /^\(\d+\)/));
    assert.deepEqual(
      await page.evaluate(() => window.shown.map(([body]) => body)),
      ['An agent asks for permission.'],
      'without the command or the path',
    );
    await page.evaluate(() => window.shown[0][1].onclick());
    await card(page).waitFor();
    await button(card(page), 'Allow once').click();
    await page.getByRole('link', { name: /The other chat/ }).waitFor();
    await eventually(async () => assert.equal(await page.getByText('asks you').count(), 0));
  });

  test('typing a message decides nothing, and the card does not take the focus', async () => {
    const page = await env.open('/new');
    await env.backend.reply({ text: 'I try it now.', deltas: 10, rate: 10, tool_calls: [write()] });
    await env.backend.reply({ text: 'Well.' });
    await page.getByText('Act', { exact: true }).click();
    await sendMessage(page, 'Please do it');
    await page.waitForURL(/#\/t\//);
    await message(page).pressSequentially('y t p n', { delay: 60 });
    await card(page).waitFor();
    assert.equal(await focusedName(page), 'Message');
    await page.waitForTimeout(700);
    await message(page).pressSequentially(' yes');
    assert.equal(await message(page).inputValue(), 'y t p n yes');
    assert.equal(await button(card(page), 'Allow once').count(), 1);
    assert.equal((await env.api('GET', '/permissions')).length, 1);
    await button(card(page), 'Deny').click();
    await button(card(page), 'Deny').click();
    await answers(page).getByText('Well.').waitFor();
  });

  test('stopping the answer ends the request', async () => {
    const page = await env.open('/new');
    await ask(page, { continues: false });
    await button(page, 'Stop').click();
    await eventually(async () => assert.equal(await card(page).count(), 0));
    assert.deepEqual(await env.api('GET', '/permissions'), []);
  });

  test('the card is shown again after a reload', async () => {
    const page = await env.open('/new');
    await ask(page);
    await page.waitForURL(/#\/t\//);
    await page.reload();
    await card(page).waitFor();
    await button(card(page), 'Allow once').click();
    await answers(page).getByText('Well.').waitFor();
  });
}
