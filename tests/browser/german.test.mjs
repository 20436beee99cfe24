import assert from 'node:assert/strict';
import test from 'node:test';
import { missing, repository, withGateway } from './environment.mjs';

const { readCatalogue, readStrings } = await import(`${repository}/web/script/strings.mjs`);
const placeholders = (text) => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).sort();
const forms = (entry) => [entry].flat();

test('all displayed texts are arguments of t or tn', () => {
  assert.deepEqual(readStrings().untranslated, []);
});

test('the English catalogue is up to date (npm run strings)', () => {
  assert.deepEqual(readCatalogue('en'), readStrings().messages);
});

test('each text has a German translation, and each translation a text', () => {
  const english = readCatalogue('en');
  const german = readCatalogue('de');
  assert.deepEqual(
    Object.keys(english).filter((text) => !german[text]),
    [],
    'not translated',
  );
  assert.deepEqual(
    Object.keys(german).filter((text) => !english[text]),
    [],
    'not used',
  );
  for (const [text, entry] of Object.entries(english)) {
    assert.equal(forms(german[text]).length, forms(entry).length, `plurals of ${text}`);
    const wanted = forms(entry).map(placeholders);
    const known = wanted.at(-1).join();
    for (const form of forms(german[text]))
      assert.ok([...wanted.map(String), known].includes(String(placeholders(form))), `placeholders of ${text}`);
    // Texts that are written into templates as HTML (web/script/static_strings.js).
    if (!/[<>"&{}]/.test(text)) for (const form of forms(german[text])) assert.doesNotMatch(form, /[<>"&]/, text);
  }
});

const routes = [
  ['/chats', 'Neuer Chat'],
  ['/inbox', 'Eingang'],
  ['/jobs', 'Aufträge'],
  ['/jobs/compile-knowledge', 'compile-knowledge'],
  ['/agents', 'Agenten'],
  ['/agents/assistant', 'assistant'],
  ['/extensions', 'Erweiterungen'],
  ['/apps', 'Apps'],
  ['/projects', 'Projekte'],
  ['/knowledge', 'Wissen'],
  ['/experiments', 'Experimente'],
  ['/costs', 'Kosten'],
  ['/system', 'System'],
  ['/system/models', 'Modelle'],
  ['/system/channels', 'Kanäle'],
  ['/system/settings', 'Einstellungen'],
  ['/search?q=hallo', 'Suche'],
];

/** Texts with another translation and a word of at least four letters; shorter ones may be names. */
const english = new Set(
  Object.entries(readCatalogue('de')).flatMap(([text, entry]) =>
    typeof entry === 'string' && entry !== text && /[a-z]{4}/i.test(text) && !text.includes('{') ? [text] : [],
  ),
);

if (missing) test(`German (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway({ model: 'offline' });

  /** The shown texts and attributes that are still in English. */
  const englishTexts = async (page) => {
    const shown = await page.evaluate(() => {
      const found = [];
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (walker.nextNode())
        if (!walker.currentNode.parentElement.closest('code, kbd, pre, .mono, [lang], script, style'))
          found.push(walker.currentNode.data);
      for (const element of document.querySelectorAll('[aria-label], [title], [placeholder]'))
        for (const name of ['aria-label', 'title', 'placeholder']) found.push(element.getAttribute(name) ?? '');
      return found.map((text) => text.trim().replace(/\s+/g, ' '));
    });
    return shown.filter((text) => english.has(text));
  };

  const inGerman = { locale: 'de-DE', viewport: { width: 360, height: 740 } };

  test('the views are in German, and fit a width of 360 pixels', async () => {
    const page = await env.open('/chats', inGerman);
    for (const [route, heading] of routes) {
      await page.goto(`${env.proxy.url}/ui/#${route}`);
      await page.locator('main h1:visible').filter({ hasText: heading }).first().waitFor();
      await page.waitForLoadState('networkidle');
      assert.deepEqual(await englishTexts(page), [], route);
      const tooWide = await page.evaluate(() =>
        [document.documentElement, document.querySelector('main')].map((one) => one.scrollWidth - one.clientWidth),
      );
      assert.deepEqual(tooWide, [0, 0], `${route} fits`);
    }
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'de');
  });

  test('a chat is in German, with its times and numbers', async () => {
    const page = await env.open('/new', inGerman);
    await page.getByRole('textbox', { name: 'Nachricht' }).fill('What can you do?');
    await page.getByRole('button', { name: 'Senden' }).click();
    await page.getByRole('article', { name: 'Assistent' }).first().waitFor();
    await page.getByRole('button', { name: 'Neu antworten' }).first().waitFor({ state: 'attached' });
    await page.getByText('gerade eben').first().waitFor({ state: 'attached' });
    assert.deepEqual(await englishTexts(page), []);
  });

  test('the days of costs are dates in German', async () => {
    const page = await env.open('/costs', inGerman);
    assert.match(await page.locator('figure .spread span').first().innerText(), /^\d+\.\d+\.$/);
  });

  test('the language is chosen in System, and remembered', async () => {
    const page = await env.open('/system');
    await page.getByRole('radio', { name: 'Deutsch' }).check();
    await page.getByRole('group', { name: 'Sprache' }).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'de');
    await page.getByRole('radio', { name: 'English' }).check();
    await page.getByRole('group', { name: 'Language' }).waitFor();
    await page.reload();
    assert.ok(await page.getByRole('radio', { name: 'English' }).isChecked());
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'en');
  });

  test('the English page loads no translations', async () => {
    const page = await env.open('/chats');
    await page.locator('main h1:visible').first().waitFor();
    const fetched = await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name));
    assert.deepEqual(
      fetched.filter((name) => name.includes('/de-')),
      [],
    );
  });
}
