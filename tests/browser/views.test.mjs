import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { eventually, missing, require, say, answers, withStage } from './stage.mjs';

const axe = missing ? '' : readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const places = [
  '/chats', '/new', '/inbox', '/jobs', '/jobs/new', '/jobs/compile-knowledge', '/agents', '/agents/assistant', '/agents/assistant?tab=identity',
  '/agents/assistant?tab=definition', '/agents/assistant?tab=prompt', '/extensions', '/extensions?type=theme', '/extensions/new?type=app',
  '/extensions/help', '/knowledge', '/knowledge?tab=health', '/experiments', '/costs', '/apps', '/projects', '/system', '/search?q=hello',
];
const sizes = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const it = withStage({ model: 'offline' });

  /** What axe finds wrong, in a line each. */
  async function faults(page) {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, any }) => `${html.slice(0, 120)} (${any[0]?.message ?? ''})`).join(' | ')}`);
  }

  const layout = (page) =>
    page.evaluate(() => {
      const sideways = document.documentElement.scrollWidth - document.documentElement.clientWidth;
      const small = [...document.querySelectorAll('a, button, select, input:not([type=hidden]), summary')]
        .filter((element) => {
          const { width, height } = element.getBoundingClientRect();
          const inText = element.tagName === 'A' && getComputedStyle(element).display === 'inline';
          return width > 1 && height > 1 && !inText && element.type !== 'checkbox' && element.type !== 'radio' && (width < 24 || height < 24);
        })
        .map((element) => element.outerHTML.slice(0, 100));
      return { sideways, small, headings: [...document.querySelectorAll('h1')].filter((h1) => h1.checkVisibility()).map((h1) => h1.textContent) };
    });

  async function settled(page) {
    await page.locator('main h1:visible').first().waitFor();
    await page.waitForLoadState('networkidle');
  }

  test('an empty gateway shows three cards and answers in the first minute, without network', async () => {
    const page = await it.open('/chats');
    for (const name of ['Ask something', 'Connect a model', 'Make a first job']) await page.getByRole('heading', { name }).waitFor();
    await page.getByRole('button', { name: /^Try:/ }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await answers(page).getByText('Offline librarian').waitFor();
  });

  for (const [size, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ['light', 'dark']) {
      test(`every view is accessible and fits: ${size}, ${colorScheme}`, async (t) => {
        const page = await it.open('/chats', { viewport, colorScheme, bypassCSP: true, reducedMotion: 'reduce', hasTouch: size === 'phone' });
        await settled(page);
        for (const place of places) {
          await t.test(place, async () => {
            await page.goto(`${it.line.url}/ui/#${place}`);
            await settled(page);
            assert.deepEqual(await faults(page), []);
            const { sideways, small, headings } = await layout(page);
            assert.equal(sideways, 0, 'no sideways scroll');
            assert.deepEqual(small, [], 'targets of 24 pixels');
            assert.equal(headings.length, 1, `one h1: ${headings}`);
          });
        }
      });

      test(`a chat is accessible and fits: ${size}, ${colorScheme}`, async () => {
        const page = await it.open('/new', { viewport, colorScheme, bypassCSP: true });
        await say(page, 'What can you do?');
        await answers(page).first().waitFor();
        await page.getByText('offline/librarian').first().waitFor();
        assert.deepEqual(await faults(page), []);
        const { sideways, small } = await layout(page);
        assert.deepEqual([sideways, small], [0, []]);
      });
    }
  }

  test('the navigation has its ten names', async () => {
    const page = await it.open();
    const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
    const names = ['Chats', 'Inbox', 'Jobs', 'Agents', 'Extensions', 'Knowledge', 'Experiments', 'Costs', 'Apps', 'System'];
    for (const name of names) await page.getByRole('link', { name, exact: true }).first().waitFor();
    assert.equal(await links.count(), names.length);
  });

  test('the page runs under its own Content-Security-Policy, in every view', async () => {
    const page = await it.open();
    for (const place of places) {
      await page.goto(`${it.line.url}/ui/#${place}`);
      await settled(page);
    }
  });

  test('no word is so long that a view moves sideways', async () => {
    const word = 'w'.repeat(50);
    const named = (type) => `${type}${word}`;
    const description = 'd'.repeat(300);
    const make = (type, definition) => it.api('POST', '/extensions', { type, name: named(type), description, enabled: true, definition });
    await make('agent', { systemPrompt: word });
    await make('command', { prompt: word });
    await make('job', { agent_id: 'assistant', prompt: description });
    await make('app', { type: 'static', path: (await it.stage.write({ path: 'long/index.html', text: 'x' })).replace('/index.html', '') });
    await it.api('POST', '/signals', { kind: word, message: description });
    const { id } = await it.api('POST', '/threads', { title: description, agent_id: named('agent') });
    await it.api('POST', `/threads/${id}/turns`, { role: 'tool', content: 'permission denied: no', metadata: { tool_name: word, is_error: true } });
    const places = ['/chats', '/new', '/jobs', `/jobs/${named('job')}`, '/agents', `/agents/${named('agent')}`, '/extensions?type=command', `/extensions/${named('command')}`,
      '/apps', '/system', `/search?q=${word}`, `/t/${id}`];
    const page = await it.open('/chats', { viewport: { width: 320, height: 700 } });
    for (const place of places) {
      await page.goto(`${it.line.url}/ui/?${encodeURIComponent(place)}#${place}`);
      await settled(page);
      const wide = await page.evaluate(() =>
        [...document.querySelectorAll('html, main, main *')]
          .filter((element) => element.scrollWidth > element.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(element).overflowX) && !element.matches('pre, textarea, [role=region]'))
          .map((element) => element.outerHTML.slice(0, 80)),
      );
      assert.deepEqual(wide, [], place);
      assert.equal((await layout(page)).sideways, 0, place);
    }
  });

  test('a page of knowledge says its title once, and skips no level of headings, however it is written', async () => {
    const written = {
      'plain': ['# Plain\n\nText.\n\n## Part\n\n### Detail\n', 'H1 Plain, H2 Part, H3 Detail'],
      'closed': ['\n# Closed #\r\n\r\n## Part\r\n', 'H1 Closed, H2 Part'],
      'dressed': ['# The *good*  `page` of [it](https://example.org) &amp; me\n\n## Part\n', 'H1 The good page of it & me, H2 Part'],
      'underlined': ['Underlined\n==========\n\nPart\n----\n', 'H1 Underlined, H2 Part'],
      'low': ['### Low\n\n#### Part\n', 'H1 Low, H2 Part'],
      'quoted': ['---\ntitle: Quoted\nsummary: s\n---\n### Part\n\n> # Said\n', 'H1 Quoted, H2 Part, H2 Said'],
      'other': ['---\ntitle: Another\nsummary: s\n---\n# Other\n\n## Part\n', 'H1 Another, H2 Other, H3 Part'],
      'late': ['---\ntitle: Late\nsummary: s\n---\nText first.\n\n## Part\n\n# Late\n', 'H1 Late, H3 Part, H2 Late'],
    };
    const page = await it.open('/knowledge');
    for (const [name, [text, headings]] of Object.entries(written)) {
      await it.stage.write({ path: `.agent-gateway/knowledge/wiki/${name}.md`, text });
      await page.evaluate((slug) => (location.hash = `#/knowledge/${slug}`), name);
      const shown = () => page.locator('main h1, .prose :is(h1, h2, h3, h4, h5, h6)').evaluateAll((all) => all.map(({ tagName, textContent }) => `${tagName} ${textContent}`).join(', '));
      await eventually(async () => assert.equal(await shown(), headings));
    }
  });

  /** Words in the tables of a page, no longer than names of tools, that are broken into lines. */
  const brokenWords = (page) =>
    page.evaluate(() => {
      const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
      const broken = [];
      while (texts.nextNode()) {
        const { data, parentElement } = texts.currentNode;
        if (!parentElement.closest('table') || !parentElement.checkVisibility()) continue;
        for (const { index, 0: word } of data.matchAll(/(?<!\p{L})\p{L}{2,15}(?!\p{L})/gu)) {
          const range = document.createRange();
          range.setStart(texts.currentNode, index);
          range.setEnd(texts.currentNode, index + word.length);
          if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) broken.push(word);
        }
      }
      return broken;
    });

  test('no word of a table is broken because what stands beside it is long', async () => {
    const text = 'a sentence that is told in many more words than are needed '.repeat(5);
    await it.api('POST', '/extensions', { type: 'command', name: 'told-at-length', description: text, enabled: true, definition: { prompt: 'p' } });
    const { id } = await it.api('POST', '/threads', { title: text.slice(0, 200) });
    await it.api('POST', `/threads/${id}/turns`, { role: 'assistant', content: text });
    await it.stage.write({ path: '.agent-gateway/knowledge/wiki/at-length.md', text: `---\ntitle: ${text.slice(0, 150)}\nsummary: s\ntags: [${text.split(' ').slice(0, 20)}]\n---\nText\n` });
    const page = await it.open('/extensions?type=command', { viewport: { width: 900, height: 800 } });
    for (const place of ['/extensions?type=command', '/jobs', '/agents/assistant?tab=activity', '/agents/assistant', '/knowledge?tab=all']) {
      await page.evaluate((hash) => (location.hash = hash), `#${place}`);
      await page.locator('table').first().waitFor();
      await settled(page);
      assert.deepEqual(await brokenWords(page), [], place);
    }
  });

  test('light and dark can be chosen against the system, at once and after a reload', async () => {
    const ground = { Light: 'rgb(255, 255, 255)', Dark: 'rgb(16, 18, 22)' };
    for (const [colorScheme, other] of [['light', 'Dark'], ['dark', 'Light']]) {
      const page = await it.open('/system', { colorScheme });
      const shown = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      await page.getByRole('radio', { name: other, exact: true }).check();
      assert.equal(await shown(), ground[other]);
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
      assert.equal(await shown(), ground[other]);
      await page.getByRole('radio', { name: 'As the system' }).check();
      assert.notEqual(await shown(), ground[other]);
    }
  });

  test('forced colours, 200 % zoom and 320 pixels lose nothing', async () => {
    for (const options of [{ forcedColors: 'active' }, { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }, { viewport: { width: 320, height: 568 } }]) {
      const page = await it.open('/new', options);
      await settled(page);
      await page.getByRole('button', { name: 'Send' }).waitFor();
      assert.equal((await layout(page)).sideways, 0);
    }
  });

  test('the list of jobs says what starts each', async () => {
    const triggers = { 'by-event': { type: 'event', event: 'thread.created', filter: { title: 'none' } }, 'by-webhook': { type: 'webhook' }, 'by-hand': undefined };
    for (const [name, trigger_def] of Object.entries(triggers)) {
      await it.api('POST', '/extensions', { type: 'job', name, description: 'Waits', enabled: true, trigger_def, definition: { agent_id: 'assistant', prompt: 'Wait.' } });
    }
    const page = await it.open('/jobs');
    const row = (name) => page.getByRole('row').filter({ hasText: name });
    await row('by-event').getByText('on thread.created').waitFor();
    await row('by-webhook').getByText('by its webhook').waitFor();
    await row('by-hand').getByText('by hand', { exact: true }).waitFor();
  });

  test('the stage of an agent is shown as it is by now, also in the list of all', async () => {
    await it.api('POST', '/extensions', { type: 'agent', name: 'climber', description: 'Climbs', enabled: true, definition: { systemPrompt: 'Climb.' } });
    const page = await it.open('/agents');
    const card = page.getByRole('region', { name: 'climber' });
    await card.getByText('apprentice').waitFor();
    await card.getByRole('link', { name: 'climber' }).click();
    await page.getByText('It is apprentice').waitFor();
    await it.api('PATCH', '/agents/climber/stage', { stage: 'operator', reason: 'It climbs well' });
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.getByText('It is operator').waitFor();
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await card.getByText('operator').waitFor();
  });
}
