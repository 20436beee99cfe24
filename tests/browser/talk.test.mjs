import assert from 'node:assert/strict';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { answers, eventually, expectFocus, message, missing, questions, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const talk = (page) => page.getByRole('button', { name: 'Talk', exact: true });
  const bar = (page) => page.getByRole('group', { name: 'Talk' });
  const hears = (page) => page.evaluate(() => window.recognizer !== null);
  const say = (page, words, isFinal = true) => page.evaluate((all) => window.say(...all), [words, isFinal]);
  const spoken = (page) => page.evaluate(() => window.spoken.map(({ text }) => text));
  const reads = (page, ...texts) => eventually(async () => assert.deepEqual(await spoken(page), texts));
  const finish = (page) => page.evaluate(() => window.spoken.at(-1).onend());

  /** A browser whose microphone and voice are moved by `say` and `finish`, as browsers move theirs. */
  function instruments([token, { isLocal = true, recognizes = true }]) {
    localStorage.setItem('agw.token', JSON.stringify(token));
    window.begun = 0;
    window.recognizer = null;
    window.SpeechRecognition = class extends EventTarget {
      static available = isLocal ? async () => 'available' : undefined;
      start() {
        window.begun++;
        window.recognizer = this;
      }
      abort() {
        if (window.recognizer === this) window.recognizer = null;
        queueMicrotask(() => {
          this.onerror({ error: 'aborted' });
          this.onend();
        });
      }
    };
    if (!recognizes) for (const name of ['SpeechRecognition', 'webkitSpeechRecognition']) delete window[name];
    window.say = (transcript, isFinal) =>
      window.recognizer.onresult({ resultIndex: 0, results: [Object.assign([{ transcript }], { isFinal })] });
    window.spoken = [];
    window.SpeechSynthesisUtterance = function (text) {
      this.text = text;
    };
    const voice = { name: 'Own', lang: 'en-GB', localService: true, default: true };
    const synthesis = Object.assign(new EventTarget(), {
      getVoices: () => [voice],
      speak: (utterance) => window.spoken.push(utterance),
      cancel: () => (window.cancelled = window.spoken.length),
    });
    Object.defineProperty(window, 'speechSynthesis', { value: synthesis });
  }

  async function open(route, options = {}) {
    const page = await env.newPage(options);
    await page.addInitScript(instruments, [env.token, options]);
    await page.goto(`${env.proxy.url}/ui/#${route}`);
    await message(page).waitFor();
    return page;
  }

  async function talking(options) {
    const { id } = await env.thread();
    const page = await open(`/t/${id}`, options);
    await talk(page).click();
    await bar(page).getByText('Listening…').waitFor();
    return page;
  }

  test('what is said is sent after a pause, and the answer is read while it is written', async () => {
    const held = await env.backend.hold({ pieces: ['Water the **roses**. They '] });
    const page = await talking();
    await say(page, 'how do I', false);
    await bar(page).getByText('how do I').waitFor();
    assert.equal(await questions(page).count(), 0);
    await say(page, 'how do I water roses');
    await questions(page).getByText('how do I water roses').waitFor();
    await reads(page, 'Water the roses.');
    await bar(page).getByText('Reading the answer').waitFor();
    await finish(page);
    await bar(page).getByText('Thinking…').waitFor();
    await env.backend.release({ held, pieces: ['like it.\n\n```\nx = 1\n```\n'] });
    await reads(page, 'Water the roses.', 'They like it.');
    await finish(page);
    await bar(page).getByText('Listening…').waitFor();
    assert.ok(await hears(page));
    assert.equal(await message(page).inputValue(), '');
  });

  test('the microphone is off while the agent thinks', async () => {
    const held = await env.backend.hold({ pieces: [] });
    const page = await talking();
    await say(page, 'hello there');
    await bar(page).getByText('Thinking…').waitFor();
    assert.equal(await hears(page), false);
    await env.backend.release({ held, pieces: ['Hello.'] });
    await reads(page, 'Hello.');
    assert.ok(await hears(page));
  });

  test('the microphone is off once all is read and the agent works on', async () => {
    const held = await env.backend.hold({ pieces: ['Water the roses. They '] });
    const page = await talking();
    await say(page, 'how do I water roses');
    await reads(page, 'Water the roses.');
    assert.ok(await hears(page));
    await finish(page);
    await bar(page).getByText('Thinking…').waitFor();
    await eventually(async () => assert.equal(await hears(page), false), 5000);
    await env.backend.release({ held, pieces: ['like it.'] });
    await reads(page, 'Water the roses.', 'They like it.');
    assert.ok(await hears(page));
    await finish(page);
    await bar(page).getByText('Listening…').waitFor();
    assert.ok(await hears(page));
  });

  test('speaking interrupts the reading and the answer, the page’s own voice does not', async () => {
    await env.backend.hold({ pieces: ['Water the roses in the evening. They '] });
    const page = await talking();
    await say(page, 'how do I water');
    await reads(page, 'Water the roses in the evening.');
    await say(page, 'water the roses');
    await bar(page).getByText('Reading the answer').waitFor();
    await env.backend.reply({ text: 'Tulips too.' });
    await say(page, 'no I mean tulips');
    await bar(page).getByText('no I mean tulips').waitFor();
    assert.equal(await page.evaluate(() => window.cancelled), 1);
    await reads(page, 'Water the roses in the evening.', 'Tulips too.');
    await answers(page).first().getByText('Stopped.').waitFor();
    assert.equal(await questions(page).count(), 2);
  });

  test('the reading is stopped by a button, and all of it by another', async () => {
    await env.backend.reply({ text: 'A long story. It goes on.' });
    const page = await talking();
    await say(page, 'tell me a story');
    await reads(page, 'A long story.');
    await bar(page).getByRole('button', { name: 'Stop reading' }).click();
    await bar(page).getByText('Listening…').waitFor();
    assert.ok(await hears(page));
    await bar(page).getByRole('button', { name: 'Stop talking' }).click();
    await bar(page).waitFor({ state: 'detached' });
    assert.equal(await hears(page), false);
    assert.equal(await talk(page).getAttribute('aria-pressed'), 'false');
    await expectFocus(page, 'Talk');
    assert.deepEqual(await spoken(page), ['A long story.']);
  });

  const ends = {
    'when the chat is left': (page) => page.evaluate(() => (location.hash = '#/inbox')),
    'when the page is hidden': (page) =>
      page.evaluate(() => {
        Object.defineProperty(document, 'hidden', { value: true, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }),
    'when the browser refuses the microphone': (page) =>
      page.evaluate(() => window.recognizer.onerror({ error: 'not-allowed' })),
    'when another tab forgets this browser': (page) =>
      Promise.all([
        page.waitForEvent('load'),
        page.evaluate(() => new BroadcastChannel('agw.session').postMessage('forgotten')),
      ]),
  };
  for (const [when, happens] of Object.entries(ends))
    test(`the microphone is off ${when}`, async () => {
      const page = await talking();
      assert.ok(await hears(page));
      await happens(page);
      await eventually(async () => assert.equal(await hears(page), false));
      await bar(page).waitFor({ state: 'detached' });
    });

  test('reading an answer by its button ends it, as the microphone would hear that', async () => {
    const id = await env.threadWith({ role: 'assistant', content: 'An older answer.' });
    const page = await open(`/t/${id}`);
    await talk(page).click();
    await bar(page).getByText('Listening…').waitFor();
    await answers(page).hover();
    await answers(page).getByRole('button', { name: 'Read aloud' }).click();
    await bar(page).waitFor({ state: 'detached' });
    assert.equal(await hears(page), false);
    await reads(page, 'An older answer.');
  });

  test('an answer that fails ends it', async () => {
    await env.backend.fail({ status: 400 });
    const page = await talking();
    await say(page, 'hello there');
    await bar(page).waitFor({ state: 'detached' });
    assert.equal(await hears(page), false);
    await answers(page).getByRole('alert').waitFor();
  });

  test('it asks before a service hears anything', async () => {
    const { id } = await env.thread();
    const page = await open(`/t/${id}`, { isLocal: false });
    await talk(page).click();
    const question = page.getByRole('dialog', { name: 'Talk in this browser?' });
    await question.getByText('speech service of its maker').waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    assert.equal(await talk(page).getAttribute('aria-pressed'), 'false');
    assert.equal(await page.evaluate(() => window.begun), 0);
    await talk(page).click();
    await question.getByRole('button', { name: 'Talk' }).click();
    await bar(page).getByText('Listening…').waitFor();
  });

  test('a talk that begins as a new chat goes on in it', async () => {
    await env.backend.reply({ text: 'Hello to you.' });
    const page = await open('/new');
    await talk(page).click();
    await bar(page).getByText('Listening…').waitFor();
    await say(page, 'hello there');
    await page.waitForURL(/#\/t\//);
    await reads(page, 'Hello to you.');
    await finish(page);
    await bar(page).getByText('Listening…').waitFor();
    assert.ok(await hears(page));
    await page.reload();
    await answers(page).getByText('Hello to you.').waitFor();
    assert.equal(await bar(page).count(), 0);
    assert.equal(await page.evaluate(() => window.begun), 0);
  });

  test('a talk that goes on in its chat begins in no other tab', async () => {
    await env.backend.reply({ text: 'Hello to you.' });
    const page = await env.newPage();
    // The chat is opened late.
    await page.addInitScript(() => addEventListener('hashchange', (event) => event.stopImmediatePropagation()));
    await page.addInitScript(instruments, [env.token, {}]);
    await page.goto(`${env.proxy.url}/ui/#/new`);
    await talk(page).click();
    await bar(page).getByText('Listening…').waitFor();
    await say(page, 'hello there');
    await page.waitForURL(/#\/t\//);

    const other = await page.context().newPage();
    await other.addInitScript(instruments, [env.token, {}]);
    await other.goto(page.url());
    await answers(other).getByText('Hello to you.').waitFor();
    assert.equal(await talk(other).getAttribute('aria-pressed'), 'false');
    assert.equal(await bar(other).count(), 0);
    assert.equal(await other.evaluate(() => window.begun), 0);
  });

  test('a browser without speech recognition says so', async () => {
    const { id } = await env.thread();
    const page = await open(`/t/${id}`, { recognizes: false });
    await talk(page).click();
    await page.getByText('This browser cannot recognize speech').waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await expectFocus(page, 'Talk');
  });

  for (const width of [1280, 390])
    test(`it is accessible and fits (${width} px)`, async () => {
      const page = await talking();
      await page.setViewportSize({ width, height: 800 });
      await expectAccessible(page);
    });
}
