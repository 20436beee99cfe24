import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, message, missing, questions, sendMessage, withGateway, choose } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const idOf = (page) => new URL(page.url()).hash.split('/t/')[1];

  /** Checks that the page shows exactly the turns that the gateway has stored: each question once, with its answer. */
  async function expectStored(page, asked) {
    await eventually(async () => {
      const turns = await env.turns(idOf(page));
      const shown = async (locator) => (await locator.allInnerTexts()).map((text) => text.trim());
      const stored = (role) => turns.filter((turn) => turn.role === role).map(({ content }) => content.trim());
      assert.deepEqual(await shown(questions(page).locator('.said')), stored('user'));
      assert.deepEqual(await shown(answers(page).locator('.prose')), stored('assistant'));
      assert.deepEqual(stored('user'), asked);
    });
    assert.equal(await page.getByText(/Sending…|Saved in this browser/).count(), 0);
  }

  async function openThread() {
    const { id } = await env.thread();
    const page = await env.open(`/t/${id}`);
    await page.getByRole('log').waitFor();
    await eventually(async () =>
      assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'New thread'),
    );
    return page;
  }

  test.afterEach(() => Object.assign(env.proxy, { down: false, dropsResponses: false }));

  test('cut before the message arrives: it is kept, reported, and sent once', async () => {
    const page = await openThread();
    env.proxy.down = true;
    env.proxy.cut();
    await sendMessage(page, 'Are you there?');
    await page.getByText('Saved in this browser').waitFor();
    await page.getByText('The gateway cannot be reached').waitFor();
    await env.backend.reply({ text: 'Yes.' });
    env.proxy.down = false;
    await answers(page).getByText('Yes.').waitFor();
    await page.getByText('The gateway cannot be reached').waitFor({ state: 'hidden' });
    await expectStored(page, ['Are you there?']);
  });

  test('cut after the message arrived, before the page knows: it is not sent twice', async () => {
    const page = await openThread();
    await env.backend.reply({ text: 'Once.' });
    env.proxy.dropsResponses = true;
    await sendMessage(page, 'Say it once');
    await eventually(async () => assert.equal((await env.turns(idOf(page))).length, 2));
    env.proxy.dropsResponses = false;
    await answers(page).getByText('Once.').waitFor();
    await expectStored(page, ['Say it once']);
  });

  test('cut during an answer: missed text arrives within half a second of reconnecting', async () => {
    const page = await openThread();
    const asked = [];
    let took = Infinity;
    // A page that is too slow is slow every time. A single slow attempt only means that the machine is busy.
    while (took >= 500 && asked.length < 5) {
      const held = await env.backend.hold({ pieces: ['One, ', 'two, '] });
      const answer = (text) => answers(page).getByText(text).nth(asked.length);
      const firstPart = answer('One, two,');
      const complete = answer('One, two, three, four.');
      asked.push(`Count ${asked.length}`);
      await sendMessage(page, asked.at(-1));
      await firstPart.waitFor();
      env.proxy.down = true;
      env.proxy.cut();
      await env.backend.release({ held, pieces: ['three, ', 'four.'] });
      await eventually(async () => assert.equal((await env.turns(idOf(page))).length, 2 * asked.length));
      await page.waitForTimeout(1500);
      const reconnected = Date.now();
      env.proxy.down = false;
      await complete.waitFor();
      took = Date.now() - reconnected;
    }
    assert.ok(took < 500, `${took} ms`);
    await expectStored(page, asked);
  });

  test('cut during an answer that continues: nothing is missing', async () => {
    const page = await openThread();
    await env.backend.reply({ text: 'abcdefghij'.repeat(40), deltas: 100, rate: 60 });
    await sendMessage(page, 'Alphabet');
    await answers(page).getByText('abcdefghij').waitFor();
    for (let i = 0; i < 3; i++) {
      env.proxy.cut();
      await page.waitForTimeout(300);
    }
    await page.getByText('stub/talker-1').waitFor();
    await expectStored(page, ['Alphabet']);
  });

  test('cut before the end arrives: the answer does not stay active', async () => {
    const page = await openThread();
    const held = await env.backend.hold({ pieces: ['All but'] });
    await sendMessage(page, 'Nearly');
    await answers(page).getByText('All but').waitFor();
    env.proxy.dropsResponses = true;
    await env.backend.release({ held, pieces: [' the end'] });
    await eventually(async () => assert.equal((await env.turns(idOf(page))).length, 2));
    env.proxy.dropsResponses = false;
    await answers(page).getByText('All but the end').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    await expectStored(page, ['Nearly']);
  });

  test('the gateway restarts during an answer: the partial text is kept and the next message works', async () => {
    const page = await openThread();
    await env.backend.hold({ pieces: ['Half'] });
    await sendMessage(page, 'Interrupted');
    await answers(page).getByText('Half').waitFor();
    await env.backend.restart();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    await expectStored(page, ['Interrupted']);
    await env.backend.reply({ text: 'Whole' });
    await sendMessage(page, 'Again');
    await answers(page).getByText('Whole').waitFor();
    await expectStored(page, ['Interrupted', 'Again']);
  });

  test('disconnected as a slow reader (1013): reconnects and shows the whole answer', async () => {
    const page = await openThread();
    const held = await env.backend.hold({ pieces: ['Slow '] });
    await sendMessage(page, 'Too slow');
    await answers(page).getByText('Slow').waitFor();
    env.proxy.closeWebSockets(1013);
    await env.backend.release({ held, pieces: ['but whole'] });
    await answers(page).getByText('Slow but whole').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    await expectStored(page, ['Too slow']);
  });

  test('a phone that slept during an answer catches up soon after it wakes', async () => {
    const page = await openThread();
    const held = await env.backend.hold({ pieces: ['Before, '] });
    await sendMessage(page, 'Sleep');
    await answers(page).getByText('Before,').waitFor();
    env.proxy.freeze();
    await env.backend.release({ held, pieces: ['after.'] });
    await eventually(async () => assert.equal((await env.turns(idOf(page))).length, 2));
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await answers(page).getByText('Before, after.').waitFor();
    // What screen readers say.
    await page.getByText('Answered: Before, after.').waitFor({ state: 'attached' });
    await expectStored(page, ['Sleep']);
  });

  test('a hidden tab renders nothing and is complete when it becomes visible', async () => {
    const page = await openThread();
    const held = await env.backend.hold({ pieces: ['Seen'] });
    await sendMessage(page, 'Look away');
    await answers(page).getByText('Seen').waitFor();
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
      window.waiting = [];
      window.frames_ = window.requestAnimationFrame;
      window.requestAnimationFrame = (frame) => window.waiting.push(frame);
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await env.backend.release({ held, pieces: [' and', ' unseen', '.'] });
    await eventually(async () => assert.equal((await env.turns(idOf(page))).length, 2));
    await page.evaluate(() => {
      delete document.hidden;
      window.requestAnimationFrame = window.frames_;
      for (const frame of window.waiting) window.requestAnimationFrame(frame);
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await answers(page).getByText('Seen and unseen.').waitFor();
    await expectStored(page, ['Look away']);
  });

  test('a file chosen while the gateway is stopped is attached once it is back, and sent with its message', async () => {
    const page = await openThread();
    const attach = (name) =>
      page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from('x') });
    await attach('before.txt');
    await page.getByRole('button', { name: 'Remove before.txt' }).waitFor();
    env.proxy.down = true;
    env.proxy.cut();
    await attach('notes.txt');
    await page.getByText('The gateway cannot be reached').waitFor();
    await sendMessage(page, 'See the files');
    await env.backend.reply({ text: 'Seen.' });
    env.proxy.down = false;
    await answers(page).getByText('Seen.').waitFor();
    await questions(page).getByText('notes.txt').waitFor();
    await expectStored(page, ['See the files']);
  });

  test('unsent messages survive a reload', async () => {
    const page = await openThread();
    env.proxy.down = true;
    env.proxy.cut();
    await sendMessage(page, 'Later');
    await page.getByText('Saved in this browser').waitFor();
    await env.backend.reply({ text: 'Now.' });
    env.proxy.down = false;
    await page.reload();
    await answers(page).getByText('Now.').waitFor();
    await expectStored(page, ['Later']);
  });

  test('an unsent message of a closed tab is sent by another one', async () => {
    const page = await openThread();
    const other = await page.context().newPage();
    await other.goto(`${env.proxy.url}/ui/#/new`);
    await message(other).waitFor();
    env.proxy.down = true;
    env.proxy.cut();
    await sendMessage(page, 'Left behind');
    await page.getByText('Saved in this browser').waitFor();
    const id = idOf(page);
    await page.close({ runBeforeUnload: true });
    env.proxy.down = false;
    await eventually(async () =>
      assert.deepEqual(
        (await env.turns(id)).filter(({ role }) => role === 'user').map(({ content }) => content),
        ['Left behind'],
      ),
    );
    await eventually(async () => assert.equal(await other.evaluate(() => localStorage.getItem('agw.outbox')), null));
  });

  test('turns deleted in another tab disappear', async () => {
    const page = await openThread();
    await env.backend.reply({ text: 'To be deleted' });
    await sendMessage(page, 'Delete me');
    await answers(page).getByText('To be deleted').waitFor();
    await page.getByText('stub/talker-1').waitFor();
    const [question] = await env.turns(idOf(page));
    await env.api('DELETE', `/turns/${question.id}`);
    await eventually(async () => assert.equal(await questions(page).count(), 0));
    assert.equal(await message(page).inputValue(), '');
  });

  test('more than a page of turns added while offline: none is missing', async () => {
    const page = await openThread();
    const add = (content) => env.api('POST', `/threads/${idOf(page)}/turns`, { role: 'user', content });
    await add('before');
    await questions(page).getByText('before').waitFor();
    env.proxy.down = true;
    env.proxy.cut();
    for (let i = 0; i < 120; i++) await add(`missed ${i}`);
    env.proxy.down = false;
    await questions(page).getByText('missed 119').waitFor();
    const all = ['before', ...Array.from({ length: 120 }, (_, i) => `missed ${i}`)];
    await eventually(async () => assert.deepEqual(await questions(page).locator('.said').allTextContents(), all));
  });

  test('if all shown turns are deleted while offline, earlier ones are loaded', async () => {
    const page = await openThread();
    const path = `/threads/${idOf(page)}/turns`;
    const made = [];
    for (let i = 0; i < 100; i++) made.push(await env.api('POST', path, { role: 'user', content: `turn ${i}` }));
    await page.reload();
    await questions(page).getByText('turn 99').waitFor();
    env.proxy.down = true;
    env.proxy.cut();
    for (const { id } of made.slice(50)) await env.api('DELETE', `/turns/${id}`);
    env.proxy.down = false;
    await questions(page).getByText('turn 49').waitFor();
    await eventually(async () => assert.equal(await questions(page).count(), 50));
  });

  test('a search typed while offline returns results after reconnecting', async () => {
    await env.threadWith({ role: 'user', content: 'a kumquat in the garden' });
    await env.backend.write({
      path: '.agent-gateway/knowledge/wiki/kumquats.md',
      text: '# Kumquats\n\nOf the kumquat in the garden.\n',
    });
    for (const [route, field] of [
      ['/search', 'Search'],
      ['/knowledge', 'Search pages'],
    ]) {
      const page = await env.open(route);
      const words = page.getByRole('searchbox', { name: field });
      await words.waitFor();
      env.proxy.down = true;
      env.proxy.cut();
      await words.fill('kumquat');
      await page.getByRole('alert').getByText('The gateway could not be reached').waitFor();
      env.proxy.down = false;
      await page.getByText('in the garden').first().waitFor();
      await page.getByRole('alert').waitFor({ state: 'detached' });
    }
  });

  test('code that is first needed while the gateway is stopped loads once it is back', async () => {
    const id = await env.threadWith({ role: 'user', content: 'Look' }, { role: 'assistant', content: '$x^2$' });
    // A chat without code and formulas, so that theirs are not loaded yet.
    const page = await openThread();
    await env.backend.kill();
    await page.getByText('The gateway cannot be reached').waitFor();
    const failed = page.waitForEvent('requestfailed', (request) => /Shortcuts-.*js/.test(request.url()));
    await page.keyboard.press('?');
    await failed;
    await env.backend.restart();
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await page.keyboard.press('Escape');

    // Cut while the page does not know it yet: a formula is text until its code has been loaded.
    await page.route('**/Formula-*.js', (route) => route.abort(), { times: 1 });
    await page.evaluate((thread) => (location.hash = `#/t/${thread}`), id);
    await answers(page).locator('code', { hasText: 'x^2' }).waitFor();
    await answers(page).locator('math').waitFor();
  });

  test('code that is missing on the gateway is reported, with a button that reloads the page', async () => {
    const page = await openThread();
    await page.route('**/Shortcuts-*.js', (route) => route.fulfill({ status: 404 }));
    await page.keyboard.press('?');
    await page.getByText('This part of the page could not be loaded.').waitFor();
    await page.unroute('**/Shortcuts-*.js');
    await page.getByRole('button', { name: 'Reload the page' }).click();
    await page.getByRole('log').waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  });

  test('an error in a form stays visible after reconnecting', async () => {
    const page = await env.open('/extensions/+new?type=capability');
    await page.getByRole('textbox', { name: 'Name' }).fill('saved-late');
    await page.getByRole('textbox', { name: 'Description' }).fill('d');
    env.proxy.down = true;
    env.proxy.cut();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('The gateway could not be reached.').waitFor();
    await page.getByText('The gateway cannot be reached').waitFor();
    env.proxy.down = false;
    await page.getByText('cannot be reached').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
  });

  test('the times of a schedule typed while offline are shown after reconnecting', async () => {
    const page = await env.open('/jobs/+new');
    await choose(page.getByRole('combobox', { name: 'When' }), 'At set times');
    await page.getByText(/09:00/).first().waitFor();
    env.proxy.down = true;
    env.proxy.cut();
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('17 4 * * *');
    await page.getByText('The gateway could not be reached.').waitFor();
    env.proxy.down = false;
    await page.getByText(/04:17/).first().waitFor();
  });

  test('a message with the same text as the one before is shown while it waits', async () => {
    const page = await openThread();
    await env.backend.reply({ text: 'Once' });
    await sendMessage(page, 'Again');
    await answers(page).getByText('Once').waitFor();
    env.proxy.down = true;
    env.proxy.cut();
    await sendMessage(page, 'Again');
    await page
      .getByRole('article', { name: 'Your message, not sent yet' })
      .getByText('Saved in this browser')
      .waitFor();
    await env.backend.reply({ text: 'Twice' });
    env.proxy.down = false;
    await answers(page).getByText('Twice').waitFor();
    await expectStored(page, ['Again', 'Again']);
  });
}
