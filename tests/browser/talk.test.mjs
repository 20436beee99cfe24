import assert from 'node:assert/strict';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { answers, eventually, expectFocus, message, missing, questions, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const talk = (page) => page.getByRole('button', { name: 'Talk', exact: true });
  const talkBar = (page) => page.getByRole('group', { name: 'Talk' });
  const isListening = (page) => page.evaluate(() => window.recognizer !== null);
  const say = (page, words, isFinal = true) => page.evaluate((all) => window.say(...all), [words, isFinal]);
  const spoken = (page) => page.evaluate(() => window.spoken.map(({ text }) => text));
  const expectSpoken = (page, ...texts) => eventually(async () => assert.deepEqual(await spoken(page), texts));
  const finish = (page) => page.evaluate(() => window.spoken.at(-1).onend());

  /** Replaces the browser's microphone and voice by fakes that `say` and `finish` control. */
  function installFakes([token, { isLocal = true, recognizes = true }]) {
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
    await page.addInitScript(installFakes, [env.token, options]);
    await page.goto(`${env.proxy.url}/ui/#${route}`);
    await message(page).waitFor();
    return page;
  }

  async function startTalk(options) {
    const { id } = await env.thread();
    const page = await open(`/t/${id}`, options);
    await talk(page).click();
    await talkBar(page).getByText('Listening…').waitFor();
    return page;
  }

  test('speech is sent after a pause, and the answer is read aloud while it streams', async () => {
    const held = await env.backend.hold({ pieces: ['Water the **roses**. They '] });
    const page = await startTalk();
    await say(page, 'how do I', false);
    await talkBar(page).getByText('how do I').waitFor();
    assert.equal(await questions(page).count(), 0);
    await say(page, 'how do I water roses');
    await questions(page).getByText('how do I water roses').waitFor();
    await expectSpoken(page, 'Water the roses.');
    await talkBar(page).getByText('Reading the answer').waitFor();
    await finish(page);
    await talkBar(page).getByText('Thinking…').waitFor();
    await env.backend.release({ held, pieces: ['like it.\n\n```\nx = 1\n```\n'] });
    await expectSpoken(page, 'Water the roses.', 'They like it.');
    await finish(page);
    await talkBar(page).getByText('Listening…').waitFor();
    assert.ok(await isListening(page));
    assert.equal(await message(page).inputValue(), '');
  });

  test('the microphone is off while the agent thinks', async () => {
    const held = await env.backend.hold({ pieces: [] });
    const page = await startTalk();
    await say(page, 'hello there');
    await talkBar(page).getByText('Thinking…').waitFor();
    assert.equal(await isListening(page), false);
    await env.backend.release({ held, pieces: ['Hello.'] });
    await expectSpoken(page, 'Hello.');
    assert.ok(await isListening(page));
  });

  test('the microphone is off while the agent continues after everything was read', async () => {
    const held = await env.backend.hold({ pieces: ['Water the roses. They '] });
    const page = await startTalk();
    await say(page, 'how do I water roses');
    await expectSpoken(page, 'Water the roses.');
    assert.ok(await isListening(page));
    await finish(page);
    await talkBar(page).getByText('Thinking…').waitFor();
    await eventually(async () => assert.equal(await isListening(page), false), 5000);
    await env.backend.release({ held, pieces: ['like it.'] });
    await expectSpoken(page, 'Water the roses.', 'They like it.');
    assert.ok(await isListening(page));
    await finish(page);
    await talkBar(page).getByText('Listening…').waitFor();
    assert.ok(await isListening(page));
  });

  test('speaking interrupts the reading and the answer, but the page’s own voice does not', async () => {
    await env.backend.hold({ pieces: ['Water the roses in the evening. They '] });
    const page = await startTalk();
    await say(page, 'how do I water');
    await expectSpoken(page, 'Water the roses in the evening.');
    await say(page, 'water the roses');
    await talkBar(page).getByText('Reading the answer').waitFor();
    await env.backend.reply({ text: 'Tulips too.' });
    await say(page, 'no I mean tulips');
    await talkBar(page).getByText('no I mean tulips').waitFor();
    assert.equal(await page.evaluate(() => window.cancelled), 1);
    await expectSpoken(page, 'Water the roses in the evening.', 'Tulips too.');
    await answers(page).first().getByText('Stopped.').waitFor();
    assert.equal(await questions(page).count(), 2);
  });

  test('one button stops the reading, another one ends the talk', async () => {
    await env.backend.reply({ text: 'A long story. It goes on.' });
    const page = await startTalk();
    await say(page, 'tell me a story');
    await expectSpoken(page, 'A long story.');
    await talkBar(page).getByRole('button', { name: 'Stop reading' }).click();
    await talkBar(page).getByText('Listening…').waitFor();
    assert.ok(await isListening(page));
    await talkBar(page).getByRole('button', { name: 'Stop talking' }).click();
    await talkBar(page).waitFor({ state: 'detached' });
    assert.equal(await isListening(page), false);
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
        page.evaluate(() => dispatchEvent(new StorageEvent('storage', { key: 'agw.forgotten' }))),
      ]),
  };
  for (const [when, happens] of Object.entries(ends))
    test(`the microphone is off ${when}`, async () => {
      const page = await startTalk();
      assert.ok(await isListening(page));
      await happens(page);
      await eventually(async () => assert.equal(await isListening(page), false));
      await talkBar(page).waitFor({ state: 'detached' });
    });

  test('reading an answer with its button ends the talk, because the microphone would hear it', async () => {
    const id = await env.threadWith({ role: 'assistant', content: 'An older answer.' });
    const page = await open(`/t/${id}`);
    await talk(page).click();
    await talkBar(page).getByText('Listening…').waitFor();
    await answers(page).hover();
    await answers(page).getByRole('button', { name: 'Read aloud' }).click();
    await talkBar(page).waitFor({ state: 'detached' });
    assert.equal(await isListening(page), false);
    await expectSpoken(page, 'An older answer.');
  });

  test('a failed answer ends the talk', async () => {
    await env.backend.fail({ status: 400 });
    const page = await startTalk();
    await say(page, 'hello there');
    await talkBar(page).waitFor({ state: 'detached' });
    assert.equal(await isListening(page), false);
    await answers(page).getByRole('alert').waitFor();
  });

  test('the page asks before a service gets any sound', async () => {
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
    await talkBar(page).getByText('Listening…').waitFor();
  });

  test('a talk that begins in a new chat continues in it', async () => {
    await env.backend.reply({ text: 'Hello to you.' });
    const page = await open('/new');
    await talk(page).click();
    await talkBar(page).getByText('Listening…').waitFor();
    await say(page, 'hello there');
    await page.waitForURL(/#\/t\//);
    await expectSpoken(page, 'Hello to you.');
    await finish(page);
    await talkBar(page).getByText('Listening…').waitFor();
    assert.ok(await isListening(page));
    await page.reload();
    await answers(page).getByText('Hello to you.').waitFor();
    assert.equal(await talkBar(page).count(), 0);
    assert.equal(await page.evaluate(() => window.begun), 0);
  });

  test('a talk that continues in its chat does not start in another tab', async () => {
    await env.backend.reply({ text: 'Hello to you.' });
    const page = await env.newPage();
    // Delays the opening of the chat.
    await page.addInitScript(() => addEventListener('hashchange', (event) => event.stopImmediatePropagation()));
    await page.addInitScript(installFakes, [env.token, {}]);
    await page.goto(`${env.proxy.url}/ui/#/new`);
    await talk(page).click();
    await talkBar(page).getByText('Listening…').waitFor();
    await say(page, 'hello there');
    await page.waitForURL(/#\/t\//);

    const other = await page.context().newPage();
    await other.addInitScript(installFakes, [env.token, {}]);
    await other.goto(page.url());
    await answers(other).getByText('Hello to you.').waitFor();
    assert.equal(await talk(other).getAttribute('aria-pressed'), 'false');
    assert.equal(await talkBar(other).count(), 0);
    assert.equal(await other.evaluate(() => window.begun), 0);
  });

  test('the page shows that the browser has no speech recognition', async () => {
    const { id } = await env.thread();
    const page = await open(`/t/${id}`, { recognizes: false });
    await talk(page).click();
    await page.getByText('This browser cannot recognize speech').waitFor();
    await page.getByRole('button', { name: 'Close', exact: true }).click();
    await expectFocus(page, 'Talk');
  });

  for (const width of [1280, 390])
    test(`a talk is accessible and fits (${width} px)`, async () => {
      const page = await startTalk();
      await page.setViewportSize({ width, height: 800 });
      await expectAccessible(page);
    });
}
