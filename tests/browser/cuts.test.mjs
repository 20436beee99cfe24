import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, message, missing, questions, say, withStage } from './stage.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const it = withStage();
  const idOf = (page) => new URL(page.url()).hash.split('/t/')[1];

  /** The page shows what the gateway has stored: each question once, and its answer to the letter. */
  async function agrees(page, asked) {
    await eventually(async () => {
      const turns = await it.turns(idOf(page));
      const shown = async (locator) => (await locator.allInnerTexts()).map((text) => text.trim());
      const stored = (role) => turns.filter((turn) => turn.role === role).map(({ content }) => content.trim());
      assert.deepEqual(await shown(questions(page).locator('.said')), stored('user'));
      assert.deepEqual(await shown(answers(page).locator('.prose')), stored('assistant'));
      assert.deepEqual(stored('user'), asked);
    });
    assert.equal(await page.getByText(/Sending…|Kept here/).count(), 0);
  }

  async function inThread() {
    const { id } = await it.thread();
    const page = await it.open(`/t/${id}`);
    await page.getByRole('log').waitFor();
    await eventually(async () => assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'New thread'));
    return page;
  }

  test.afterEach(() => Object.assign(it.line, { down: false, deaf: false }));

  test('cut before the message arrives: it is kept, said so, and sent once', async () => {
    const page = await inThread();
    it.line.down = true;
    it.line.cut();
    await say(page, 'Are you there?');
    await page.getByText('Kept here; it is sent as soon as').waitFor();
    await page.getByText('The gateway cannot be reached').waitFor();
    await it.stage.reply({ text: 'Yes.' });
    it.line.down = false;
    await answers(page).getByText('Yes.').waitFor();
    await page.getByText('The gateway cannot be reached').waitFor({ state: 'hidden' });
    await agrees(page, ['Are you there?']);
  });

  test('cut after the message arrived, before the page knows: it is not sent twice', async () => {
    const page = await inThread();
    await it.stage.reply({ text: 'Once.' });
    it.line.deaf = true;
    await say(page, 'Say it once');
    await eventually(async () => assert.equal((await it.turns(idOf(page))).length, 2));
    it.line.deaf = false;
    await answers(page).getByText('Once.').waitFor();
    await agrees(page, ['Say it once']);
  });

  test('cut in mid-answer: what was missed comes within half a second of the line', async () => {
    const page = await inThread();
    const asked = [];
    let took = Infinity;
    // A page that waits too long does so each time; once only says that the machine is busy.
    while (took >= 500 && asked.length < 5) {
      const held = await it.stage.hold({ pieces: ['One, ', 'two, '] });
      const answer = (text) => answers(page).getByText(text).nth(asked.length);
      const said = answer('One, two,');
      const whole = answer('One, two, three, four.');
      asked.push(`Count ${asked.length}`);
      await say(page, asked.at(-1));
      await said.waitFor();
      it.line.down = true;
      it.line.cut();
      await it.stage.release({ held, pieces: ['three, ', 'four.'] });
      await eventually(async () => assert.equal((await it.turns(idOf(page))).length, 2 * asked.length));
      await page.waitForTimeout(1500);
      const back = Date.now();
      it.line.down = false;
      await whole.waitFor();
      took = Date.now() - back;
    }
    assert.ok(took < 500, `${took} ms`);
    await agrees(page, asked);
  });

  test('cut in mid-answer, back while it goes on: nothing is missing in between', async () => {
    const page = await inThread();
    await it.stage.reply({ text: 'abcdefghij'.repeat(40), deltas: 100, rate: 60 });
    await say(page, 'Alphabet');
    await answers(page).getByText('abcdefghij').waitFor();
    for (let i = 0; i < 3; i++) {
      it.line.cut();
      await page.waitForTimeout(300);
    }
    await page.getByText('stub/talker-1').waitFor();
    await agrees(page, ['Alphabet']);
  });

  test('cut before the end is told: the answer is not «under way» for ever', async () => {
    const page = await inThread();
    const held = await it.stage.hold({ pieces: ['All but'] });
    await say(page, 'Nearly');
    await answers(page).getByText('All but').waitFor();
    it.line.deaf = true;
    await it.stage.release({ held, pieces: [' the end'] });
    await eventually(async () => assert.equal((await it.turns(idOf(page))).length, 2));
    it.line.deaf = false;
    await answers(page).getByText('All but the end').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    await agrees(page, ['Nearly']);
  });

  test('the gateway restarts in mid-answer: what came is kept, and the next message works', async () => {
    const page = await inThread();
    await it.stage.hold({ pieces: ['Half'] });
    await say(page, 'Interrupted');
    await answers(page).getByText('Half').waitFor();
    await it.stage.restart();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    await agrees(page, ['Interrupted']);
    await it.stage.reply({ text: 'Whole' });
    await say(page, 'Again');
    await answers(page).getByText('Whole').waitFor();
    await agrees(page, ['Interrupted', 'Again']);
  });

  test('cut off as a reader that was too slow (1013): it comes back and has all of it', async () => {
    const page = await inThread();
    const held = await it.stage.hold({ pieces: ['Slow '] });
    await say(page, 'Too slow');
    await answers(page).getByText('Slow').waitFor();
    it.line.closeEvents(1013);
    await it.stage.release({ held, pieces: ['but whole'] });
    await answers(page).getByText('Slow but whole').waitFor();
    await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'hidden' });
    await agrees(page, ['Too slow']);
  });

  test('a phone that slept in mid-answer has all of it soon after it wakes', async () => {
    const page = await inThread();
    const held = await it.stage.hold({ pieces: ['Before, '] });
    await say(page, 'Sleep');
    await answers(page).getByText('Before,').waitFor();
    it.line.freeze();
    await it.stage.release({ held, pieces: ['after.'] });
    await eventually(async () => assert.equal((await it.turns(idOf(page))).length, 2));
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await answers(page).getByText('Before, after.').waitFor();
    await agrees(page, ['Sleep']);
  });

  test('a tab that nobody sees writes nothing meanwhile, and has all of it when it is looked at', async () => {
    const page = await inThread();
    const held = await it.stage.hold({ pieces: ['Seen'] });
    await say(page, 'Look away');
    await answers(page).getByText('Seen').waitFor();
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
      window.waiting = [];
      window.frames_ = window.requestAnimationFrame;
      window.requestAnimationFrame = (frame) => window.waiting.push(frame);
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await it.stage.release({ held, pieces: [' and', ' unseen', '.'] });
    await eventually(async () => assert.equal((await it.turns(idOf(page))).length, 2));
    await page.evaluate(() => {
      delete document.hidden;
      window.requestAnimationFrame = window.frames_;
      for (const frame of window.waiting) window.requestAnimationFrame(frame);
      document.dispatchEvent(new Event('visibilitychange'));
    });
    await answers(page).getByText('Seen and unseen.').waitFor();
    await agrees(page, ['Look away']);
  });

  test('what waits to be sent survives a reload', async () => {
    const page = await inThread();
    it.line.down = true;
    it.line.cut();
    await say(page, 'Later');
    await page.getByText('Kept here; it is sent as soon as').waitFor();
    await it.stage.reply({ text: 'Now.' });
    it.line.down = false;
    await page.reload();
    await answers(page).getByText('Now.').waitFor();
    await agrees(page, ['Later']);
  });

  test('what another tab deletes goes here too', async () => {
    const page = await inThread();
    await it.stage.reply({ text: 'To be deleted' });
    await say(page, 'Delete me');
    await answers(page).getByText('To be deleted').waitFor();
    await page.getByText('stub/talker-1').waitFor();
    const [question] = await it.turns(idOf(page));
    await it.api('DELETE', `/turns/${question.id}`);
    await eventually(async () => assert.equal(await questions(page).count(), 0));
    assert.equal(await message(page).inputValue(), '');
  });

  test('more than a page of turns that came while the line was cut: none in between is missing', async () => {
    const page = await inThread();
    const add = (content) => it.api('POST', `/threads/${idOf(page)}/turns`, { role: 'user', content });
    await add('before');
    await questions(page).getByText('before').waitFor();
    it.line.down = true;
    it.line.cut();
    for (let i = 0; i < 120; i++) await add(`missed ${i}`);
    it.line.down = false;
    await questions(page).getByText('missed 119').waitFor();
    const all = ['before', ...Array.from({ length: 120 }, (_, i) => `missed ${i}`)];
    await eventually(async () => assert.deepEqual(await questions(page).locator('.said').allTextContents(), all));
  });

  test('all turns that were shown are deleted while the line was cut: those before them come', async () => {
    const page = await inThread();
    const path = `/threads/${idOf(page)}/turns`;
    const made = [];
    for (let i = 0; i < 100; i++) made.push(await it.api('POST', path, { role: 'user', content: `turn ${i}` }));
    await page.reload();
    await questions(page).getByText('turn 99').waitFor();
    it.line.down = true;
    it.line.cut();
    for (const { id } of made.slice(50)) await it.api('DELETE', `/turns/${id}`);
    it.line.down = false;
    await questions(page).getByText('turn 49').waitFor();
    await eventually(async () => assert.equal(await questions(page).count(), 50));
  });

  test('what is searched for while the gateway cannot be reached is found once it can', async () => {
    await it.threadWith({ role: 'user', content: 'a kumquat in the garden' });
    await it.stage.write({ path: '.agent-gateway/knowledge/wiki/kumquats.md', text: '# Kumquats\n\nOf the kumquat in the garden.\n' });
    for (const [place, field] of [['/search', 'Search'], ['/knowledge', 'Search pages']]) {
      const page = await it.open(place);
      const words = page.getByRole('searchbox', { name: field });
      await words.waitFor();
      it.line.down = true;
      it.line.cut();
      await words.fill('kumquat');
      await page.getByRole('alert').getByText('The gateway could not be reached').waitFor();
      it.line.down = false;
      await page.getByText('in the garden').first().waitFor();
      await page.getByRole('alert').waitFor({ state: 'detached' });
    }
  });

  test('what a form says of a line that was cut stays true once it is back', async () => {
    const page = await it.open('/extensions/new?type=capability');
    await page.getByRole('textbox', { name: 'Name' }).fill('saved-late');
    await page.getByRole('textbox', { name: 'Description' }).fill('d');
    it.line.down = true;
    it.line.cut();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').getByText('The gateway could not be reached.').waitFor();
    await page.getByText('The gateway cannot be reached').waitFor();
    it.line.down = false;
    await page.getByText('cannot be reached').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
  });

  test('the times of a schedule that is written while the gateway cannot be reached come once it can', async () => {
    const page = await it.open('/jobs/new');
    await page.getByRole('combobox', { name: 'When' }).selectOption('cron');
    await page.getByText(/09:00/).first().waitFor();
    it.line.down = true;
    it.line.cut();
    await page.getByRole('textbox', { name: 'Cron expression' }).fill('17 4 * * *');
    await page.getByText('The gateway could not be reached.').waitFor();
    it.line.down = false;
    await page.getByText(/04:17/).first().waitFor();
  });

  test('a message with the words of the one before is shown while it waits', async () => {
    const page = await inThread();
    await it.stage.reply({ text: 'Once' });
    await say(page, 'Again');
    await answers(page).getByText('Once').waitFor();
    it.line.down = true;
    it.line.cut();
    await say(page, 'Again');
    await page.getByRole('article', { name: 'Your message, not sent yet' }).getByText('Kept here').waitFor();
    await it.stage.reply({ text: 'Twice' });
    it.line.down = false;
    await answers(page).getByText('Twice').waitFor();
    await agrees(page, ['Again', 'Again']);
  });
}
