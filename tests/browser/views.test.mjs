import assert from 'node:assert/strict';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { eventually, missing, sendMessage, answers, withGateway, choose } from './environment.mjs';

const routes = [
  '/chats',
  '/new',
  '/inbox',
  '/jobs',
  '/jobs?tab=week',
  '/jobs/+new',
  '/jobs/compile-knowledge',
  '/agents',
  '/agents/assistant',
  '/agents/assistant?tab=identity',
  '/agents/assistant?tab=definition',
  '/agents/assistant?tab=prompt',
  '/extensions',
  '/extensions?type=theme',
  '/extensions/+new?type=app',
  '/extensions/help',
  '/knowledge',
  '/knowledge?tab=health',
  '/knowledge?tab=graph',
  '/experiments',
  '/costs',
  '/apps',
  '/projects',
  '/system',
  '/system/models',
  '/system/models?connect=true',
  '/system/channels',
  '/system/settings',
  '/system/channels?connect=true',
  '/search?q=hello',
];
const sizes = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } };

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway({ model: 'offline' });

  const layout = (page) =>
    page.evaluate(() => {
      const sideways = document.documentElement.scrollWidth - document.documentElement.clientWidth;
      const downwards = document.documentElement.scrollHeight - document.documentElement.clientHeight;
      const small = [...document.querySelectorAll('a, button, select, input:not([type=hidden]), summary')]
        .filter((element) => {
          const { width, height } = element.getBoundingClientRect();
          const inText = element.tagName === 'A' && getComputedStyle(element).display === 'inline';
          return (
            width > 1 &&
            height > 1 &&
            !inText &&
            element.type !== 'checkbox' &&
            element.type !== 'radio' &&
            (width < 24 || height < 24)
          );
        })
        .map((element) => element.outerHTML.slice(0, 100));
      return {
        sideways,
        downwards,
        small,
        headings: [...document.querySelectorAll('h1')].filter((h1) => h1.checkVisibility()).map((h1) => h1.textContent),
      };
    });

  async function waitUntilSettled(page) {
    await page.locator('main h1:visible').first().waitFor();
    await page.waitForLoadState('networkidle');
  }

  test('an empty gateway shows three cards and answers offline', async () => {
    const page = await env.open('/chats');
    for (const name of ['Ask something', 'Connect a model', 'Create your first job'])
      await page.getByRole('heading', { name }).waitFor();
    await page.getByRole('list', { name: 'Examples' }).getByRole('button').first().click();
    await answers(page).getByText('Offline librarian').waitFor();
  });

  for (const [size, viewport] of Object.entries(sizes)) {
    test(`every view is accessible and fits: ${size}`, async (t) => {
      const page = await env.open('/chats', {
        viewport,
        bypassCSP: true,
        reducedMotion: 'reduce',
        hasTouch: size === 'phone',
      });
      await waitUntilSettled(page);
      for (const route of routes) {
        await t.test(route, async () => {
          await page.goto(`${env.proxy.url}/ui/#${route}`);
          await waitUntilSettled(page);
          await expectAccessible(page);
          const { sideways, downwards, small, headings } = await layout(page);
          assert.equal(sideways, 0, 'nothing scrolls sideways');
          assert.equal(downwards, 0, 'only views scroll, never the page');
          assert.deepEqual(small, [], 'targets of 24 pixels');
          assert.equal(headings.length, 1, `one h1: ${headings}`);
        });
      }
    });

    test(`a chat is accessible and fits: ${size}`, async () => {
      const page = await env.open('/new', { viewport, bypassCSP: true });
      await sendMessage(page, 'What can you do?');
      await answers(page).first().waitFor();
      await page.getByText('offline/librarian').first().waitFor();
      await expectAccessible(page);
      const { sideways, downwards, small } = await layout(page);
      assert.deepEqual([sideways, downwards, small], [0, 0, []]);
    });
  }

  test('the navigation has ten entries', async () => {
    const page = await env.open();
    const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link');
    const names = [
      'Chats',
      'Inbox',
      'Jobs',
      'Agents',
      'Extensions',
      'Knowledge',
      'Experiments',
      'Costs',
      'Apps',
      'System',
    ];
    for (const name of names) await page.getByRole('link', { name, exact: true }).first().waitFor();
    assert.equal(await links.count(), names.length);
  });

  test('the navigation is in three groups, with System apart', async () => {
    const page = await env.open();
    const text = (await page.getByRole('navigation', { name: 'Views' }).innerText()).split(/\s+/);
    const expected =
      'Work Chats Inbox Jobs Make Agents Extensions Apps Know Knowledge Experiments Costs System Commands';
    assert.deepEqual(
      text.filter((word) => !/^\d+$/.test(word)),
      expected.split(' '),
    );
  });

  test('a heading that the page focuses has no focus ring, an element that the user focuses has one', async () => {
    const page = await env.open('/jobs');
    await page.getByRole('heading', { name: 'Jobs', level: 1 }).waitFor();
    await page.keyboard.press('Tab');
    await page.evaluate(() => document.querySelector('main h1').focus());
    const outline = () => page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(await outline(), 'none');
    await page.keyboard.press('Tab');
    assert.equal(await outline(), 'solid');
  });

  test('buttons and lists stay legible under a theme that sets every colour', async () => {
    const colors = {
      background: '#fdf6e3',
      surface: '#eee8d5',
      border: '#657b83',
      text: '#073642',
      muted: '#3d5158',
      accent: '#004f8f',
      'on-accent': '#ffffff',
    };
    await env.api('POST', '/extensions', {
      type: 'theme',
      name: 'paper',
      description: 'd',
      enabled: true,
      definition: { colors },
    });
    const page = await env.open('/system', { bypassCSP: true });
    await page.getByRole('radio', { name: 'paper' }).check();
    await page.waitForFunction(() => document.documentElement.style.getPropertyValue('--soft') === '#eee8d5');
    await expectAccessible(page);
  });

  test('every view runs under the Content-Security-Policy', async () => {
    const page = await env.open();
    for (const route of routes) {
      await page.goto(`${env.proxy.url}/ui/#${route}`);
      await waitUntilSettled(page);
    }
  });

  test('long words do not make any view scroll sideways', async () => {
    const word = 'w'.repeat(50);
    const named = (type) => `${type}${word}`;
    const description = 'd'.repeat(300);
    const make = (type, definition) =>
      env.api('POST', '/extensions', { type, name: named(type), description, enabled: true, definition });
    await make('agent', { systemPrompt: word });
    await make('command', { prompt: word });
    await make('job', { agent_id: 'assistant', prompt: description });
    await make('app', {
      type: 'static',
      path: (await env.backend.write({ path: 'long/index.html', text: 'x' })).replace('/index.html', ''),
    });
    await env.api('POST', '/signals', { kind: word, message: description });
    const { id } = await env.api('POST', '/threads', { title: description, agent_id: named('agent') });
    await env.api('POST', `/threads/${id}/turns`, {
      role: 'tool',
      content: 'permission denied: no',
      metadata: { tool_name: word, is_error: true },
    });
    const routes = [
      '/chats',
      '/new',
      '/jobs',
      `/jobs/${named('job')}`,
      '/agents',
      `/agents/${named('agent')}`,
      '/extensions?type=command',
      `/extensions/${named('command')}`,
      '/apps',
      '/system',
      `/search?q=${word}`,
      `/t/${id}`,
    ];
    const page = await env.open('/chats', { viewport: { width: 320, height: 700 } });
    for (const route of routes) {
      await page.goto(`${env.proxy.url}/ui/?${encodeURIComponent(route)}#${route}`);
      await waitUntilSettled(page);
      const wide = await page.evaluate(() =>
        [...document.querySelectorAll('html, main, main *')]
          .filter(
            (element) =>
              element.scrollWidth > element.clientWidth + 1 &&
              /auto|scroll/.test(getComputedStyle(element).overflowX) &&
              !element.matches('pre, textarea, [role=region]'),
          )
          .map((element) => element.outerHTML.slice(0, 80)),
      );
      assert.deepEqual(wide, [], route);
      assert.equal((await layout(page)).sideways, 0, route);
    }
  });

  test('a knowledge page shows its title once and skips no heading level, however it is written', async () => {
    const written = {
      plain: ['# Plain\n\nText.\n\n## Part\n\n### Detail\n', 'H1 Plain, H2 Part, H3 Detail'],
      closed: ['\n# Closed #\r\n\r\n## Part\r\n', 'H1 Closed, H2 Part'],
      dressed: [
        '# The *good*  `page` of [it](https://example.org) &amp; me\n\n## Part\n',
        'H1 The good page of it & me, H2 Part',
      ],
      underlined: ['Underlined\n==========\n\nPart\n----\n', 'H1 Underlined, H2 Part'],
      low: ['### Low\n\n#### Part\n', 'H1 Low, H2 Part'],
      quoted: ['---\ntitle: Quoted\nsummary: s\n---\n### Part\n\n> # Said\n', 'H1 Quoted, H2 Part, H2 Said'],
      other: ['---\ntitle: Another\nsummary: s\n---\n# Other\n\n## Part\n', 'H1 Another, H2 Other, H3 Part'],
      late: ['---\ntitle: Late\nsummary: s\n---\nText first.\n\n## Part\n\n# Late\n', 'H1 Late, H3 Part, H2 Late'],
    };
    const page = await env.open('/knowledge');
    for (const [name, [text, headings]] of Object.entries(written)) {
      await env.backend.write({ path: `.agent-gateway/knowledge/wiki/${name}.md`, text });
      await page.evaluate((slug) => (location.hash = `#/knowledge/${slug}`), name);
      const shown = () =>
        page
          .locator('main h1, .prose :is(h1, h2, h3, h4, h5, h6)')
          .evaluateAll((all) => all.map(({ tagName, textContent }) => `${tagName} ${textContent}`).join(', '));
      await eventually(async () => assert.equal(await shown(), headings));
    }
  });

  /** Words in tables that are broken across lines, if they are not longer than the name of a tool. */
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

  test('words in a table are not broken because of long neighbouring text', async () => {
    const text = 'a sentence that is told in many more words than are needed '.repeat(5);
    await env.api('POST', '/extensions', {
      type: 'command',
      name: 'told-at-length',
      description: text,
      enabled: true,
      definition: { prompt: 'p' },
    });
    const { id } = await env.api('POST', '/threads', { title: text.slice(0, 200) });
    await env.api('POST', `/threads/${id}/turns`, { role: 'assistant', content: text });
    await env.backend.write({
      path: '.agent-gateway/knowledge/wiki/at-length.md',
      text: `---\ntitle: ${text.slice(0, 150)}\nsummary: s\ntags: [${text.split(' ').slice(0, 20)}]\n---\nText\n`,
    });
    const page = await env.open('/extensions?type=command', { viewport: { width: 900, height: 800 } });
    for (const route of [
      '/extensions?type=command',
      '/jobs',
      '/agents/assistant?tab=activity',
      '/agents/assistant',
      '/knowledge?tab=all',
    ]) {
      await page.evaluate((hash) => (location.hash = hash), `#${route}`);
      await page.locator('table').first().waitFor();
      await waitUntilSettled(page);
      assert.deepEqual(await brokenWords(page), [], route);
    }
  });

  test('typed text has the text colour in every kind of field', async () => {
    const page = await env.open('/jobs/+new');
    await choose(page.getByRole('combobox', { name: 'When' }), 'At set times');
    await page.getByRole('textbox', { name: 'Cron expression' }).waitFor();
    const colours = await page
      .locator('main :is(input:not([type=checkbox]), select, textarea)')
      .evaluateAll((fields) => fields.map((field) => getComputedStyle(field).color));
    const text = await page.evaluate(() => getComputedStyle(document.body).color);
    assert.ok(colours.length > 5, `${colours.length} fields`);
    assert.deepEqual(new Set(colours), new Set([text]));
  });

  test('light and dark can be chosen against the system, at once and after a reload', async () => {
    const ground = { Light: 'rgb(255, 255, 255)', Dark: 'rgb(16, 18, 22)' };
    for (const [colorScheme, other] of [
      ['light', 'Dark'],
      ['dark', 'Light'],
    ]) {
      const page = await env.open('/system', { colorScheme });
      const shown = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      await page.getByRole('radio', { name: other, exact: true }).check();
      assert.equal(await shown(), ground[other]);
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
      assert.equal(await shown(), ground[other]);
      await page.getByRole('radio', { name: 'System theme' }).check();
      assert.notEqual(await shown(), ground[other]);
    }
  });

  test('a long diff scrolls in its view and never the page', async () => {
    const lines = Array.from({ length: 120 }, (_, i) => `line ${i}\n`).join('');
    const head =
      '---\ntitle: Long\ntype: knowledge\nagent: assistant\ntarget: knowledge/wiki/long-diff.md\nstatus: pending\ncreated_at: 2026-01-02T03:04:05.678Z\nreason: r\n---\n';
    await env.backend.write({
      path: '.agent-gateway/autoresearch/proposals/assistant/2026-01-02/long-diff.md',
      text: head + lines,
    });
    const page = await env.open('/inbox/assistant/2026-01-02/long-diff');
    await page.getByText('line 119').waitFor();
    assert.equal((await layout(page)).downwards, 0);
    await env.api('POST', '/proposals/assistant/2026-01-02/long-diff/reject', {});
  });

  test('forced colours, 200 % zoom and 320 pixels clip nothing', async () => {
    for (const options of [
      { forcedColors: 'active' },
      { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 },
      { viewport: { width: 320, height: 568 } },
    ]) {
      const page = await env.open('/new', options);
      await waitUntilSettled(page);
      await page.getByRole('button', { name: 'Send' }).waitFor();
      assert.equal((await layout(page)).sideways, 0);
    }
  });

  test('forced colours show the current view and chat, the chosen mode and the marked entry of a list', async () => {
    const { id } = await env.thread({ title: 'The open one' });
    await env.thread({ title: 'Another' });
    const page = await env.open(`/t/${id}`, { forcedColors: 'active' });
    const isOutlined = async (found) =>
      eventually(async () => assert.equal(await found.evaluate((one) => getComputedStyle(one).outlineStyle), 'solid'));
    await isOutlined(page.getByRole('link', { name: /^The open one/ }));
    await isOutlined(page.getByRole('link', { name: 'Chats', exact: true }));
    await isOutlined(page.locator('.modes label').filter({ has: page.getByRole('radio', { checked: true }) }));
    assert.equal(
      await page.getByRole('link', { name: /^Another/ }).evaluate((one) => getComputedStyle(one).outlineStyle),
      'none',
    );
    await page.keyboard.press('Control+k');
    await isOutlined(page.getByRole('option', { selected: true }));
    await page.keyboard.press('Escape');
    await page.goto(`${env.proxy.url}/ui/#/new`);
    await page.getByRole('combobox', { name: 'Project' }).press('Enter');
    await isOutlined(page.locator('[role=option].marked'));
    assert.equal(
      await page
        .locator('[role=option]')
        .evaluateAll((all) => all.filter((one) => getComputedStyle(one).outlineStyle === 'solid').length),
      1,
    );
  });

  test('the list of jobs shows the trigger of each', async () => {
    const triggers = {
      'by-event': { type: 'event', event: 'thread.created', filter: { title: 'none' } },
      'by-webhook': { type: 'webhook' },
      'by-hand': undefined,
    };
    for (const [name, trigger_def] of Object.entries(triggers)) {
      await env.api('POST', '/extensions', {
        type: 'job',
        name,
        description: 'Waits',
        enabled: true,
        trigger_def,
        definition: { agent_id: 'assistant', prompt: 'Wait.' },
      });
    }
    const page = await env.open('/jobs');
    const row = (name) => page.getByRole('row').filter({ hasText: name });
    await row('by-event').getByText('on thread.created').waitFor();
    await row('by-webhook').getByText('by webhook').waitFor();
    await row('by-hand').getByText('manually', { exact: true }).waitFor();
  });

  test('an agent’s stage is up to date on its page and in the list', async () => {
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'climber',
      description: 'Climbs',
      enabled: true,
      definition: { systemPrompt: 'Climb.' },
    });
    const page = await env.open('/agents');
    const card = page.getByRole('region', { name: 'climber' });
    await card.getByText('apprentice').waitFor();
    await card.getByRole('link', { name: 'climber' }).click();
    await page.getByText('Stage: apprentice').waitFor();
    await env.api('PATCH', '/agents/climber/stage', { stage: 'operator', reason: 'It climbs well' });
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.getByText('Stage: operator').waitFor();
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await card.getByText('operator').waitFor();
  });
}
