import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, expectFocus, message, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const dictate = (page) => page.getByRole('button', { name: 'Dictate', exact: true });
  const question = (page) => page.getByRole('dialog', { name: 'Dictate in this browser?' });

  /** Opens a chat in a browser whose speech recognition is a fake that `say` controls. */
  async function chat({ isLocal = false } = {}) {
    const { id } = await env.thread();
    const page = await env.newPage();
    await page.addInitScript(
      ([token, local]) => {
        localStorage.setItem('agw.token', JSON.stringify(token));
        window.begun = 0;
        window.SpeechRecognition = class extends EventTarget {
          static available = local ? async () => 'available' : undefined;
          start() {
            window.begun++;
            window.recognizer = this;
          }
          stop() {
            this.onend();
            window.recognizer = null;
          }
        };
        window.say = (transcript, isFinal = true) => {
          const result = Object.assign([{ transcript }], { isFinal });
          window.recognizer.onresult({ resultIndex: 0, results: [result] });
        };
      },
      [env.token, isLocal],
    );
    await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await message(page).waitFor();
    return page;
  }
  const expectListening = (page) => page.getByText('Listening…').waitFor();

  test('dictation asks before anything is sent to a service, writes at the cursor and sends nothing', async () => {
    const page = await chat();
    await message(page).fill('Dear all');
    await dictate(page).click();
    await question(page).getByText('speech service of its maker').waitFor();
    await question(page).getByRole('button', { name: 'Cancel' }).click();
    await question(page).waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => window.begun), 0);
    assert.equal(await dictate(page).getAttribute('aria-pressed'), 'false');

    await dictate(page).click();
    await question(page).getByRole('button', { name: 'Dictate' }).click();
    await expectListening(page);
    await page.evaluate(() => window.say('water the', false));
    await page.getByText('water the').waitFor();
    assert.equal(await message(page).inputValue(), 'Dear all');
    await page.evaluate(() => window.say('water the garden'));
    assert.equal(await message(page).inputValue(), 'Dear all water the garden');
    await page.getByRole('button', { name: 'Stop dictating' }).click();
    await eventually(async () => assert.equal(await page.evaluate(() => window.recognizer), null));
    await expectFocus(page, 'Message');
    assert.deepEqual(await env.turns((await page.evaluate(() => location.hash)).split('/').at(-1)), []);

    // Dictated text is kept like typed text, and consent is not requested again.
    await page.reload();
    await eventually(async () => assert.equal(await message(page).inputValue(), 'Dear all water the garden'));
    await dictate(page).click();
    await expectListening(page);
  });

  test('a browser that recognizes speech locally needs no consent', async () => {
    const page = await chat({ isLocal: true });
    await dictate(page).click();
    await expectListening(page);
    assert.equal(await page.evaluate(() => window.recognizer.processLocally), true);
  });

  test('dictation listens while the keys are held', async () => {
    const page = await chat({ isLocal: true });
    await message(page).focus();
    for (const key of ['Control', 'Shift', 'Space']) await page.keyboard.down(key);
    await expectListening(page);
    await page.evaluate(() => window.say('one two'));
    await page.keyboard.up('Space');
    await page.getByText('Listening…').waitFor({ state: 'detached' });
    for (const key of ['Shift', 'Control']) await page.keyboard.up(key);
    assert.equal(await message(page).inputValue(), 'one two');
    assert.equal(await page.evaluate(() => window.recognizer), null);
  });

  test('dictation ends when the keys are released elsewhere', async () => {
    const page = await chat({ isLocal: true });
    await message(page).focus();
    for (const key of ['Control', 'Shift', 'Space']) await page.keyboard.down(key);
    await expectListening(page);
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.up('Space');
    await page.getByText('Listening…').waitFor({ state: 'detached' });
    for (const key of ['Shift', 'Control']) await page.keyboard.up(key);
    assert.equal(await page.evaluate(() => window.recognizer), null);
  });

  test('a denied microphone is reported', async () => {
    const page = await chat({ isLocal: true });
    await dictate(page).click();
    await expectListening(page);
    await page.evaluate(() => {
      window.recognizer.onerror({ error: 'not-allowed' });
      window.recognizer.onend();
    });
    await page.getByText('The browser did not allow the microphone.').waitFor();
    assert.equal(await dictate(page).getAttribute('aria-pressed'), 'false');
  });

  test('without speech recognition, the page offers no dictation', async () => {
    const { id } = await env.thread();
    const page = await env.newPage();
    await page.addInitScript((token) => {
      localStorage.setItem('agw.token', JSON.stringify(token));
      for (const name of ['SpeechRecognition', 'webkitSpeechRecognition']) delete window[name];
    }, env.token);
    await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await page.getByRole('button', { name: 'Attach files' }).waitFor();
    assert.equal(await dictate(page).count(), 0);
  });

  /** Opens a chat in a browser with these fake voices. `spoken` contains the texts read; `finish` ends the current one. */
  async function openReadable(content, voices) {
    const id = await env.threadWith({ role: 'assistant', content });
    const page = await env.newPage();
    await page.addInitScript(
      ([token, all]) => {
        localStorage.setItem('agw.token', JSON.stringify(token));
        window.spoken = [];
        window.SpeechSynthesisUtterance = function (text) {
          this.text = text;
        };
        const synthesis = Object.assign(new EventTarget(), {
          getVoices: () => all,
          speak: (utterance) => window.spoken.push(utterance),
          cancel: () => (window.cancelled = true),
        });
        Object.defineProperty(window, 'speechSynthesis', { value: synthesis });
        window.finish = () => window.spoken.at(-1).onend();
      },
      [env.token, voices],
    );
    await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await answers(page).hover();
    return page;
  }
  const spoken = (page) => page.evaluate(() => window.spoken.map(({ text, voice }) => `${voice.name}: ${text}`));
  const service = { name: 'Cloud', lang: 'en-US', localService: false, default: true };
  const own = { name: 'Own', lang: 'en-GB', localService: true, default: false };

  test('an answer is read aloud by a voice of the device, without its code, until it is stopped', async () => {
    const page = await openReadable('# Garden\n\nWater it **well**.\n\n- Roses\n  - red\n\n```\nx = 1\n```\n', [
      service,
      own,
    ]);
    await answers(page).getByRole('button', { name: 'Read aloud' }).click();
    const stop = answers(page).getByRole('button', { name: 'Stop reading' });
    await stop.waitFor();
    await expectFocus(page, 'Stop reading');
    for (const part of ['Garden', 'Water it well.', 'Roses', 'red']) {
      await eventually(async () => assert.equal((await spoken(page)).at(-1), `Own: ${part}`));
      if (part !== 'red') await page.evaluate(() => window.finish());
    }
    await stop.click();
    await answers(page).getByRole('button', { name: 'Read aloud' }).waitFor();
    assert.equal(await page.evaluate(() => window.cancelled), true);
    assert.equal((await spoken(page)).length, 4);
  });

  test('no text goes to a voice that is a service', async () => {
    const page = await openReadable('Hello', [service]);
    await answers(page).getByRole('button', { name: 'Read aloud' }).click();
    await page.getByText('This browser has no voice that works without a service.').waitFor();
    assert.deepEqual(await spoken(page), []);
  });
}
