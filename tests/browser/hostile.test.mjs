import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import { answers, eventually, message, missing, sendMessage, withGateway, measureWork } from './environment.mjs';

const markdown = `<script>window.hit = 1</script> <img src=x onerror="window.hit = 2"> <svg onload="window.hit = 3">

[click](javascript:window.hit=4) [data](data:text/html,<script>window.hit=5</script>) ![spy](https://spy.example/pixel.png?secret=1)

<iframe srcdoc="<script>parent.hit=6</script>"></iframe> <a href="javascript:window.hit=7" onclick="window.hit=8">x</a>

<https://good.example/path> [good](https://good.example "title") ![inline](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIj4=)

\`\`\`html
<script>window.hit = 9</script>
\`\`\`

| a <img src=x onerror=window.hit=10> | b |
| - | - |
| [x](vbscript:window.hit=11) | &lt;script&gt; |
`;

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  /** Opens the thread and records requests to other hosts. */
  async function openHostile(id) {
    const page = await env.open('/chats');
    const foreign = [];
    page.on(
      'request',
      (request) =>
        new URL(request.url()).origin !== env.proxy.url &&
        !request.url().startsWith('data:') &&
        foreign.push(request.url()),
    );
    await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await page.getByRole('article').first().waitFor();
    return { page, foreign };
  }

  async function expectHarmless({ page, foreign }) {
    await page.waitForTimeout(300);
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.deepEqual(foreign, []);
    const found = await page
      .getByRole('log')
      .evaluate((log) => ({
        elements: log.querySelectorAll('script, iframe, object, embed, form, svg[onload], img').length,
        links: [...log.querySelectorAll('a')].map((a) => a.getAttribute('href')),
        handlers: [...log.querySelectorAll('*')].filter((element) =>
          [...element.attributes].some(({ name }) => name.startsWith('on')),
        ).length,
      }));
    assert.equal(found.elements, 0);
    assert.equal(found.handlers, 0);
    for (const link of found.links) assert.match(link, /^(https:|http:|mailto:|#\/)/);
    return found;
  }

  test('Markdown from a model becomes text and safe links, without remote images', async () => {
    const opened = await openHostile(await env.threadWith({ role: 'assistant', content: markdown }));
    const { links } = await expectHarmless(opened);
    assert.ok(links.includes('https://spy.example/pixel.png?secret=1'), 'a remote image is a link');
    await opened.page.getByText('<script>window.hit = 1</script>').first().waitFor();
    for (const link of await opened.page.getByRole('log').getByRole('link').all()) {
      if ((await link.getAttribute('target')) === '_blank')
        assert.match(await link.getAttribute('rel'), /noopener noreferrer/);
    }
  });

  test('hostile Markdown is harmless while it streams', async () => {
    const page = await env.open();
    const foreign = [];
    page.on(
      'request',
      (request) =>
        new URL(request.url()).origin !== env.proxy.url &&
        !request.url().startsWith('data:') &&
        foreign.push(request.url()),
    );
    await env.backend.reply({ text: markdown, deltas: 200, rate: 400 });
    await sendMessage(page, 'Be evil');
    await page.getByText('stub/talker-1').waitFor();
    await expectHarmless({ page, foreign });
  });

  test('output, names and input of tools are shown as text', async () => {
    const metadata = {
      run_id: 'r1',
      tool_call_id: 'c1',
      tool_name: '<img src=x onerror=window.hit=1>',
      is_error: true,
      input: { path: 'a\u202Efdp.exe', command: '<b>x</b>' },
    };
    const opened = await openHostile(
      await env.threadWith(
        { role: 'tool', content: `${markdown}\u001b[31mred\u202Eevil`, metadata },
        {
          role: 'assistant',
          content: 'Done.',
          metadata: { run_id: 'r1', steps: [{ text_end: 0, tool_call_ids: ['c1'] }] },
        },
      ),
    );
    await expectHarmless(opened);
    await opened.page.getByText('a⟨U+202E⟩fdp.exe').first().waitFor();
    await opened.page.getByText('⟨U+001B⟩[31mred⟨U+202E⟩evil').first().waitFor();
  });

  test('a thread is shown whatever metadata clients have stored', async () => {
    const { page } = await openHostile(
      await env.threadWith(
        { role: 'user', content: 'Walked today', metadata: { attachments: [null, { name: { toString: 1 } }] } },
        { role: 'assistant', content: 'Well done.', metadata: { run_id: 'r2', steps: 5000 } },
        { role: 'tool', content: 'counted', metadata: { run_id: 'r3', tool_name: { en: 'counter' } } },
        {
          role: 'assistant',
          content: 'Thought about it.',
          metadata: {
            run_id: 'r4',
            model: { name: 'x' },
            error: { code: 5 },
            reasoning: ['Hm'],
            finish_reason: {},
            duration_ms: 'long',
            usage: 'much',
            cost_usd: 'nothing',
          },
        },
      ),
    );
    await page.getByRole('article').getByText('Walked today').waitFor();
    await page.getByRole('article').getByText('Well done.').waitFor();
    await page.getByRole('article').getByText('tool', { exact: true }).waitFor();
    await page.getByRole('article').getByText('Thought about it.').waitFor();
  });

  test('a command whose output imitates the gateway hides neither itself nor its changes', async () => {
    const call = (id, command, content) => ({
      role: 'tool',
      content: `${content}\nexit code 0`,
      metadata: { run_id: 'r5', tool_call_id: id, tool_name: 'Bash', input: { command } },
    });
    const id = await env.threadWith(
      call('c1', 'rm -r src', 'staged as proposal assistant/2026-01-02/evil'),
      call('c2', 'rm -r lib', 'dry run: would have called Bash'),
      { role: 'assistant', content: 'Nothing has happened.', metadata: { run_id: 'r5' } },
    );
    const page = await env.open('/chats');
    const change = { kind: 'deleted', type: 'file', diff: '', is_binary: false, undone: false };
    const changes = [{ ...change, path: '/src/main.c', mode_before: null, mode_after: null }];
    await page.route('**/changes', (route) => route.fulfill({ json: { changes, hosts: [], not_covered: [] } }));
    await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await page.getByText('1 file changed').waitFor();
    await page.locator('summary', { hasText: 'rm -r src' }).click();
    await page.getByText('$ rm -r src').waitFor();
  });

  test('titles, names and descriptions are shown as text, with invisible characters escaped', async () => {
    const { id } = await env.thread({ title: '<img src=x onerror=window.hit=1>\u202Etxt.exe' });
    await env.api('POST', '/extensions', {
      type: 'command',
      name: 'evil',
      description: '<script>window.hit=2</script>\u202E',
      definition: { prompt: 'x' },
    });
    const page = await env.open(`/t/${id}`);
    await page.getByText('<img src=x onerror=window.hit=1>⟨U+202E⟩txt.exe').first().waitFor();
    await page.goto(`${env.proxy.url}/ui/#/extensions?type=command`);
    await page.getByText('<script>window.hit=2</script>⟨U+202E⟩').waitFor();
    assert.equal(await page.evaluate(() => window.hit), undefined);
  });

  test('views show hostile content as text', async () => {
    const evil =
      '<img src=x onerror=window.hit=1><script>window.hit=2</script>[x](javascript:window.hit=3)![spy](https://spy.example/p.png)\u202E';
    const folder = (await env.backend.write({ path: 'evil/readme.md', text: evil })).replace('/readme.md', '');
    await env.api('POST', '/projects', { name: evil, path: folder, description: evil });
    await env.api('POST', '/signals', { kind: 'evil', message: evil, severity: 'warning' });
    await env.api('POST', '/extensions', {
      type: 'job',
      name: 'evil-job',
      description: evil,
      enabled: true,
      definition: { agent_id: 'assistant', prompt: evil },
    });
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'evil-agent',
      description: evil,
      enabled: true,
      definition: { systemPrompt: evil },
    });
    await env.api('PATCH', '/agents/evil-agent/stage', { stage: 'operator', reason: evil });
    const head = `---\ntitle: ${JSON.stringify(evil)}\ntype: knowledge\nagent: assistant\ntarget: knowledge/wiki/evil.md\nstatus: pending\ncreated_at: 2026-01-02T03:04:05.678Z\nreason: ${JSON.stringify(evil)}\n---\n`;
    await env.backend.write({
      path: '.agent-gateway/autoresearch/proposals/assistant/2026-01-02/evil.md',
      text: `${head}${evil}\n`,
    });
    await env.backend.write({
      path: '.agent-gateway/knowledge/wiki/evil-page.md',
      text: `---\ntitle: ${JSON.stringify(evil)}\nsummary: ${JSON.stringify(evil)}\nentities: [${JSON.stringify(evil)}]\n---\n${evil}\n`,
    });
    const { id } = await env.thread({ title: evil });
    await env.api('POST', `/threads/${id}/turns`, { role: 'user', content: `pomelo ${evil}` });
    const page = await env.open('/chats');
    const foreign = [];
    page.on(
      'request',
      (request) =>
        new URL(request.url()).origin !== env.proxy.url &&
        !request.url().startsWith('data:') &&
        foreign.push(request.url()),
    );
    for (const route of [
      '/chats',
      '/inbox',
      '/jobs',
      '/jobs/evil-job',
      '/agents',
      '/agents/evil-agent',
      '/knowledge',
      '/knowledge/evil-page',
      '/knowledge?tab=all',
      '/knowledge?tab=entities',
      '/projects',
      '/system',
      '/search?q=pomelo',
    ]) {
      await page.goto(`${env.proxy.url}/ui/#${route}`);
      await page
        .locator('main')
        .getByText(/<img src=x onerror=window\.hit=1>/)
        .first()
        .waitFor()
        .catch(() => assert.fail(`${route} does not show it`));
      assert.equal(await page.locator('main img').count(), 0, route);
      for (const link of await page.locator('main a').all())
        assert.doesNotMatch((await link.getAttribute('href')) ?? '', /^javascript:/i);
    }
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.deepEqual(foreign, []);
  });

  test('the full prompt of an agent shows what others wrote into it as text, with invisible characters escaped', async () => {
    const page = await env.open('/agents/assistant');
    await page.route('**/agents/assistant/prompt*', async (route) => {
      const prompt = await (await route.fetch()).json();
      prompt.tools.push({ name: 'files__look\u202e', description: '<b>Looks</b>\u202e', tokens: 3 });
      await route.fulfill({ json: prompt });
    });
    await page.getByRole('tab', { name: 'Full prompt' }).click();
    await page.locator('summary', { hasText: /^\s*tools/ }).click();
    await page.getByText('<b>Looks</b>⟨U+202E⟩').waitFor();
    await page.getByText('files__look⟨U+202E⟩').waitFor();
  });

  test('confirmations and selects escape invisible characters', async () => {
    const folder = (await env.backend.write({ path: 'named/readme.md', text: 'x' })).replace('/readme.md', '');
    const { id } = await env.api('POST', '/projects', { name: 'a\u202Eb', path: folder });
    await env.thread({ project_id: id });
    const page = await env.open('/chats');
    await page.getByText('Filter', { exact: true }).click();
    await page.getByRole('combobox', { name: 'Project' }).first().click();
    await page.getByRole('option', { name: 'a⟨U+202E⟩b' }).waitFor();
    await page.goto(`${env.proxy.url}/ui/#/projects`);
    await page.getByRole('region', { name: 'a⟨U+202E⟩b' }).getByRole('button', { name: 'Remove…' }).click();
    await page.getByRole('dialog').getByText('“a⟨U+202E⟩b” will be removed from the list').waitFor();
  });

  for (const [what, content] of [
    ['a line of 5 MB', 'x'.repeat(5_000_000)],
    ['100,000 list items', '- item\n'.repeat(100_000)],
    ['deep nesting', `${'>'.repeat(20_000)} deep ${'['.repeat(20_000)}${'*_'.repeat(20_000)}`],
    ['a table of 20,000 rows', `| a | b |\n| - | - |\n${'| 1 | 2 |\n'.repeat(20_000)}`],
  ]) {
    test(`${what} does not freeze the page`, async () => {
      const id = await env.threadWith(
        { role: 'assistant', content },
        { role: 'tool', content, metadata: { tool_name: 'Read', is_error: true } },
      );
      const page = await env.open('/chats');
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      const work = await measureWork(page);
      await page.evaluate((hash) => (location.hash = hash), `#/t/${id}`);
      await page
        .getByRole('button', { name: /Show more/ })
        .first()
        .waitFor();
      await message(page).fill('still alive');
      const took = await work();
      console.log(`# ${what}: ${took} ms of work`);
      assert.ok(took < 6000, `${took} ms of work`);
    });
  }

  test('an extension’s frame has no access to storage, page, network or navigation', async () => {
    const evil = `<pre id="out"></pre><script>
      const out = [];
      const attempt = async (name, work) => { try { await work(); out.push(name + ' REACHED'); } catch (error) { out.push(name + ' refused'); } };
      addEventListener('gateway', async () => {
        await attempt('storage', () => localStorage.getItem('agw.token').length);
        await attempt('cookie', () => { document.cookie = 'a=b'; if (!document.cookie) throw 0; });
        await attempt('page', () => parent.document.body.innerHTML.length);
        await attempt('token', () => parent.localStorage.length);
        await attempt('network', () => fetch('/health').then((answer) => answer.text()));
        await attempt('elsewhere', () => fetch('https://spy.example/'));
        await attempt('top', () => { top.location.href = 'https://spy.example/'; });
        await attempt('popup', () => { if (!open('https://spy.example/')) throw 0; });
        gateway.resize(1e9);
        gateway.action('current-time', {});
        parent.postMessage({ action: 'calculate', input: { expression: '1' } }, '*');
        document.getElementById('out').textContent = out.join('\\n') + '\\norigin ' + origin;
      });
    </script>`;
    await env.api('POST', '/extensions', {
      type: 'renderer',
      name: 'evil-renderer',
      description: 'd',
      enabled: true,
      definition: { match: { language: 'evil' }, html: evil },
    });
    const page = await env.open(
      `/t/${await env.threadWith({ role: 'assistant', content: '```evil\nsome content\n```' })}`,
    );
    env.allowedErrors.push(
      /sandboxed|Blocked|frame|CSP: (connect-src|frame-src)|violates the following Content Security Policy|Unsafe attempt|Refused to connect/,
    );
    const out = page.frameLocator('iframe').locator('#out');
    await eventually(async () => assert.match((await out.textContent()) ?? '', /origin null/));
    assert.doesNotMatch(await out.textContent(), /REACHED/);
    assert.ok((await page.locator('iframe').boundingBox()).height <= 800);
    assert.equal(await page.getByRole('dialog').count(), 0, 'an undeclared action does not even ask for confirmation');
    assert.match(page.url(), /#\/t\//);
  });

  test('an illegible theme is rejected with a reason; a legible one applies at once and after a reload', async () => {
    const theme = (name, colors) =>
      env.api('POST', '/extensions', {
        type: 'theme',
        name,
        description: 'd',
        enabled: true,
        definition: { dark: false, colors },
      });
    await theme('grey-on-grey', { background: '#888888', text: '#999999' });
    await theme('white-on-own', { text: '#ffffff' });
    await theme('black-below-own', { background: '#101010' });
    await env.api('POST', '/extensions', {
      type: 'theme',
      name: 'night',
      description: 'd',
      enabled: true,
      definition: { colors: { background: '#101010' } },
    });
    await theme('paper', { background: '#fffbe6', text: '#222222', accent: '#7a1f00', 'on-accent': '#ffffff' });
    const page = await env.open('/extensions?type=theme');
    for (const what of ['grey-on-grey', 'white-on-own', 'black-below-own']) {
      await page.getByRole('radio', { name: what }).click();
      await page.getByText(new RegExp(`${what}: text on background has a contrast of 1\\.`)).waitFor();
      assert.ok(await page.getByRole('radio', { name: 'System theme' }).isChecked());
    }
    await page.getByRole('radio', { name: 'night' }).check();
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).color), 'rgb(232, 234, 238)');
    await page.getByRole('radio', { name: 'paper' }).check();
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    assert.equal(await ground(), 'rgb(255, 251, 230)');
    await page.reload();
    assert.equal(await ground(), 'rgb(255, 251, 230)');
  });

  test('Trusted Types are enforced: the page rejects HTML strings', async () => {
    const page = await env.open('/chats');
    await message(page).waitFor();
    env.allowedErrors.push(/TrustedHTML|trusted-types/);
    const taken = await page.evaluate(() => {
      try {
        document.createElement('div').innerHTML = '<b>x</b>';
        return true;
      } catch {
        return false;
      }
    });
    assert.equal(taken, false);
  });

  test('a token in the address is not used', async () => {
    const page = await env.newPage();
    await page.goto(`${env.url}/ui/?token=${env.token}#/chats?token=${env.token}`);
    await page.getByRole('textbox', { name: 'Code' }).waitFor();
    assert.ok(!page.url().includes(env.token), page.url());
  });

  test('a foreign page can neither frame the page, nor post to it, nor open its WebSocket', async () => {
    const server = http.createServer((_, answer) =>
      answer.writeHead(200, { 'content-type': 'text/html' }).end('<body></body>'),
    );
    await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
    try {
      const page = await env.newPage();
      env.allowedErrors.push(/CORS policy|frame-ancestors|Refused to (frame|display)|Framing|status of 403|ERR_FAILED/);
      await page.goto(`http://127.0.0.1:${server.address().port}/`);
      const reached = await page.evaluate(
        async ([url, token]) => {
          const frame = document.createElement('iframe');
          frame.src = `${url}/ui/`;
          document.body.append(frame);
          const post = await fetch(`${url}/chat`, {
            method: 'POST',
            headers: { authorization: `Bearer ${token}` },
            body: '{"content":"x"}',
          }).then(
            () => true,
            () => false,
          );
          const plain = await fetch(`${url}/chat`, { method: 'POST', mode: 'no-cors', body: '{"content":"x"}' }).then(
            (answer) => answer.type,
            () => 'failed',
          );
          const socket = await new Promise((resolve) => {
            const line = new WebSocket(`${url.replace('http', 'ws')}/ws`, ['bearer', token]);
            line.onopen = () => resolve(true);
            line.onclose = () => resolve(false);
          });
          return { post, plain, socket };
        },
        [env.url, env.token],
      );
      assert.equal(reached.post, false);
      assert.equal(reached.socket, false);
      const framed = page.frames().find((frame) => frame !== page.mainFrame());
      await eventually(async () => assert.doesNotMatch((await framed?.content().catch(() => '')) ?? '', /id="page"/));
      assert.deepEqual(
        (await env.api('GET', '/threads')).filter(({ title }) => title === 'x'),
        [],
      );
    } finally {
      server.close();
    }
  });

  test('an attachment’s name is shown as text, and it is sent', async () => {
    const page = await env.open();
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: '<b>evil</b>.txt', mimeType: 'text/plain', buffer: Buffer.from('content') });
    await page.getByText('<b>evil</b>.txt').waitFor();
    await env.backend.reply({ text: 'Read it.' });
    await sendMessage(page, 'See the file');
    await answers(page).getByText('Read it.').waitFor();
  });

  test('file names are shown as text, with invisible characters escaped', async () => {
    await env.backend.write({ path: 'pomelo\u202Egpj.exe', text: 'x' });
    const page = await env.open(`/t/${(await env.thread()).id}`);
    await message(page).pressSequentially('see @pomelo');
    await page.getByRole('option', { name: /^pomelo⟨U\+202E⟩gpj\.exe .*pomelo⟨U\+202E⟩gpj\.exe$/ }).waitFor();
    await message(page).fill('With a file');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'cv\u202Efdp.exe', mimeType: 'text/plain', buffer: Buffer.from('x') });
    await page.getByRole('list', { name: 'Attachments' }).getByText('cv⟨U+202E⟩fdp.exe').waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('article', { name: 'You' }).getByText('cv⟨U+202E⟩fdp.exe').waitFor();
  });

  test('the address of a chat reaches no other API path', async () => {
    const page = await env.open('/t/..%2Fextensions%3F');
    await page.getByText('This chat does not exist or was deleted.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Chat not found' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /^(Rename|Archive|Delete chat)$/ }).count(), 0);
  });
}
