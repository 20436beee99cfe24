import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, message, missing, questions, sendMessage, withGateway } from './environment.mjs';

const phone = { width: 390, height: 844 };

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  test('a failed answer shows the reason, also after a reload', async () => {
    const page = await env.open();
    await env.backend.fail({ status: 400, body: '{"error":{"message":"the moon is in the way"}}' });
    await sendMessage(page, 'Well?');
    await answers(page)
      .getByText(/the moon is in the way/)
      .waitFor();
    await page.reload();
    await answers(page)
      .getByText(/the moon is in the way/)
      .waitFor();
  });

  test('footnote references are superscripts, with their texts below the answer', async () => {
    const content =
      'Trees rotate.[^1] Some do not.[^2] In `[^1]` nothing is a note.\n\n[^1]: **AVL** trees,\nby Adelson-Velsky.\n[^2]: Heaps.\n';
    const page = await env.open(`/t/${await env.threadWith({ role: 'assistant', content })}`);
    const marks = answers(page).locator('sup');
    await marks.first().waitFor();
    assert.deepEqual(await marks.allTextContents(), ['1', '2', '1', '2']);
    const notes = answers(page).locator('p.small');
    await notes.getByText('AVL').waitFor();
    await eventually(async () =>
      assert.deepEqual(
        (await notes.allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim()),
        ['1 AVL trees, by Adelson-Velsky.', '2 Heaps.'],
      ),
    );
    assert.equal(await answers(page).locator('code').innerText(), '[^1]');
  });

  test('definitions that are not footnotes are shown', async () => {
    const content = 'So it is.\n\n[^é]: https://one.example/\n\n[^1]:\nhttps://two.example/\n';
    const page = await env.open(`/t/${await env.threadWith({ role: 'assistant', content })}`);
    for (const name of ['https://one.example/', 'https://two.example/'])
      await answers(page).getByRole('link', { name }).waitFor();
    await answers(page).getByText('[^é]: https://one.example/').waitFor();
  });

  test('long code is one block, of which more is shown on demand and all is copied', async () => {
    const line = 'let number = 1;\n\n';
    const code = line.repeat(4_000).trim();
    const page = await env.open(
      `/t/${await env.threadWith({ role: 'assistant', content: `Here:\n\n\`\`\`js\n${code}\n\`\`\`\n\nThat is all.` })}`,
    );
    await page.evaluate(() => (navigator.clipboard.writeText = async (text) => void (window.copied = text)));
    const block = answers(page).locator('pre');
    await answers(page).getByRole('button', { name: 'Copy code' }).click();
    await eventually(async () => assert.equal(await page.evaluate(() => window.copied), code));
    const more = answers(page).getByRole('button', { name: 'Show more' });
    while (await more.count()) await more.first().click();
    await answers(page).getByText('That is all.').waitFor();
    assert.equal(await block.count(), 1);
    await eventually(async () => assert.equal((await block.textContent()).trim(), code));
  });

  test('a remote picture is a link that explains why', async () => {
    const content = 'See ![a cat](https://example.org/cat.png).';
    const page = await env.open(`/t/${await env.threadWith({ role: 'assistant', content })}`);
    const link = answers(page).getByRole('link', { name: 'Image, not loaded: a cat' });
    await link.waitFor();
    assert.equal(await link.getAttribute('href'), 'https://example.org/cat.png');
    assert.match(await link.getAttribute('title'), /server would learn .*example\.org\/cat\.png$/);
    assert.equal(await answers(page).locator('img').count(), 0);
  });

  const table = `| Status | Requirement name | Owner | Due date |\n| - | - | - | - |\n| pending | Send it to everybody | Charles Babbage | 2026-02-03 |\n`;

  test('a line break in HTML, which cells need, is one; other HTML is text', async () => {
    const content = '| a | b |\n| - | - |\n| one<br>two<br/>three | <b>bold</b> `<br>` |';
    const page = await env.open(`/t/${await env.threadWith({ role: 'assistant', content })}`);
    await page.getByRole('cell', { name: 'one two three' }).waitFor();
    assert.equal(await page.getByRole('cell').first().innerText(), 'one\ntwo\nthree');
    assert.equal(await page.getByRole('cell').last().innerText(), '<b>bold</b> <br>');
  });

  test('words in a table stay whole on a phone, and the table scrolls', async () => {
    const page = await env.open(`/t/${await env.threadWith({ role: 'assistant', content: table })}`, {
      viewport: phone,
    });
    const cell = answers(page).getByRole('cell', { name: 'Charles Babbage' });
    await cell.waitFor();
    const broken = await cell.evaluate((element) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      const words = [];
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
          const range = document.createRange();
          range.setStart(node, index);
          range.setEnd(node, index + word.length);
          if (range.getClientRects().length > 1) words.push(word);
        }
      }
      return words;
    });
    assert.deepEqual(broken, []);
    assert.equal(
      await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
      0,
    );
  });

  test('each paragraph runs in the direction of its script', async () => {
    const content =
      'שלום, world!\n\nHello, עולם!\n\n- אחת\n- שתיים\n\n> ציטוט\n\n| עמודה | b |\n| - | - |\n| ערך | c |\n';
    const id = await env.threadWith({ role: 'user', content: 'מה שלומך?\nAnd you?' }, { role: 'assistant', content });
    const page = await env.open(`/t/${id}`);
    await answers(page).getByText('Hello').waitFor();
    /** For each element, whether its first letter is at the right end of the text. */
    const runsFromRight = (locator) =>
      locator.evaluateAll((elements) =>
        elements.map((element) => {
          const node = document.createTreeWalker(element, NodeFilter.SHOW_TEXT).nextNode();
          const range = document.createRange();
          range.setStart(node, 0);
          range.setEnd(node, 1);
          const first = range.getBoundingClientRect();
          range.selectNodeContents(element);
          const all = range.getBoundingClientRect();
          return first.right > all.right - 2 && first.left > all.left + 2;
        }),
      );
    assert.deepEqual(await runsFromRight(answers(page).locator('.prose > p')), [true, false]);
    assert.equal(
      await answers(page)
        .locator('ul')
        .evaluate((ul) => getComputedStyle(ul).direction),
      'rtl',
    );
    assert.equal(
      await answers(page)
        .locator('blockquote')
        .evaluate((quote) => getComputedStyle(quote).direction),
      'rtl',
    );
    assert.equal(
      await answers(page)
        .locator('table')
        .evaluate((table) => getComputedStyle(table).direction),
      'rtl',
    );
    const question = questions(page).locator('.said');
    assert.deepEqual(await runsFromRight(question), [true]);
    assert.equal(await question.evaluate((element) => getComputedStyle(element).unicodeBidi), 'plaintext');
    assert.equal(await message(page).evaluate((box) => getComputedStyle(box).unicodeBidi), 'plaintext');
  });

  test('characters that reverse text are escaped in answers, questions and notes', async () => {
    const content = 'pay \u202E001$ and &#x202E;200$ **to \u2066me**\n\nשלום\u200F!';
    const id = await env.threadWith(
      { role: 'user', content },
      { role: 'system', content },
      { role: 'assistant', content },
    );
    const page = await env.open(`/t/${id}`);
    await answers(page).getByText('pay ⟨U+202E⟩001$ and ⟨U+202E⟩200$').waitFor();
    await questions(page).getByText('pay ⟨U+202E⟩001$').waitFor();
    await page.getByRole('article', { name: 'Note' }).getByText('pay ⟨U+202E⟩001$').waitFor();
    assert.equal(await answers(page).locator('strong').textContent(), 'to ⟨U+2066⟩me');
    assert.equal(await answers(page).locator('.prose > p').last().textContent(), 'שלום\u200F!');
  });

  test('a long word in a note wraps', async () => {
    const page = await env.open(`/t/${await env.threadWith({ role: 'system', content: 'x'.repeat(300) })}`, {
      viewport: phone,
    });
    const note = page.getByRole('article', { name: 'Note' });
    await note.waitFor();
    assert.ok(await note.locator('p').evaluate((p) => p.scrollWidth <= p.clientWidth));
  });

  test('older turns loaded at the top are not counted as new', async () => {
    const id = await env.threadWith(...Array.from({ length: 120 }, (_, i) => ({ role: 'user', content: `turn ${i}` })));
    const page = await env.open(`/t/${id}`);
    await questions(page).getByText('turn 119').waitFor();
    await page.getByRole('log').hover();
    for (let i = 0; i < 40 && (await questions(page).count()) < 120; i++) {
      await page.mouse.wheel(0, -3000);
      await page.waitForTimeout(50);
    }
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /\d+ new/ }).count(), 0);
    await env.api('POST', `/threads/${id}/turns`, { role: 'user', content: 'one more' });
    await page.getByRole('button', { name: '1 new' }).waitFor();
  });

  test('a question is loaded although many calls of its answer, which take little room, are in between', async () => {
    const call = (i) => ({ run_id: 'r', tool_call_id: `c${i}`, tool_name: 'Read', input: { path: `${i}.md` } });
    const id = await env.threadWith(
      { role: 'user', content: 'Read all of them' },
      ...Array.from({ length: 130 }, (_, i) => ({ role: 'tool', content: 'text', metadata: call(i) })),
      { role: 'assistant', content: 'Done.', metadata: { run_id: 'r' } },
    );
    const page = await env.open(`/t/${id}`);
    await page.getByText('130 reads').waitFor();
    await questions(page).getByText('Read all of them').waitFor();
    assert.equal(await page.getByText('Loading older messages…').count(), 0);
  });

  test('a deleted message does not come back with older ones, but with Undo, however old it is', async () => {
    const id = await env.threadWith(...Array.from({ length: 60 }, (_, i) => ({ role: 'user', content: `turn ${i}.` })));
    const page = await env.open(`/t/${id}`);
    await questions(page).getByText('turn 59.').waitFor();
    // Not clicked: that would scroll to it, and load the older ones before.
    await questions(page).first().getByRole('button', { name: 'Delete message' }).dispatchEvent('click');
    await questions(page).getByText('turn 10.').waitFor({ state: 'detached' });
    // While the pointer is on it, the message is not deleted yet.
    await page.getByText('Deleted.').hover();
    await page.getByRole('log').evaluate((box) => (box.scrollTop = 0));
    await questions(page).getByText('turn 0.').waitFor();
    assert.equal(await questions(page).getByText('turn 10.').count(), 0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await questions(page).getByText('turn 10.').waitFor();
    await questions(page).nth(3).getByRole('button', { name: 'Delete message' }).click();
    await questions(page).getByText('turn 3.').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo' }).click();
    await questions(page).getByText('turn 3.').waitFor();
    assert.equal(await questions(page).count(), 60);
    assert.equal((await env.turns(id)).length, 60);
  });

  test('a view opened while offline loads after reconnecting', async () => {
    const page = await env.open('/inbox');
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    env.proxy.down = true;
    env.proxy.cut();
    env.allowedErrors.push(/Failed to fetch dynamically imported module|Failed to load resource/);
    await page.evaluate(() => (location.hash = '#/experiments'));
    await page.getByText('This part of the page could not be loaded').waitFor();
    env.proxy.down = false;
    await page.getByRole('heading', { level: 1, name: 'Experiments' }).waitFor();
  });

  test('data that failed to load while offline is loaded after reconnecting', async () => {
    const { id } = await env.thread();
    const page = await env.open(`/t/${id}`);
    await page.getByRole('log').waitFor();
    await page.route(/\/extensions$/, (route) => route.abort());
    await page.evaluate(() => (location.hash = '#/extensions'));
    await page.getByRole('heading', { level: 1, name: 'Extensions' }).waitFor();
    assert.equal(await page.getByRole('row').filter({ hasText: 'remember' }).count(), 0);
    await page.unroute(/\/extensions$/);
    env.proxy.cut();
    await page.getByRole('row').filter({ hasText: 'remember' }).waitFor();
  });

  test('descriptions run in the direction of their script, in views, tables and fields', async () => {
    const description = 'מסכם את היום (בערב).';
    const definition = { systemPrompt: 'x' };
    await env.api('POST', '/extensions', { type: 'agent', name: 'evening', description, definition });
    const page = await env.open('/agents/evening');
    const direction = (locator) => locator.evaluate((element) => getComputedStyle(element).unicodeBidi);
    assert.equal(await direction(page.getByText(description)), 'plaintext');
    await page.getByRole('tab', { name: 'Definition' }).click();
    assert.equal(await direction(page.getByRole('textbox', { name: 'Description' })), 'plaintext');
    await page.goto(`${env.proxy.url}/ui/#/extensions?type=agent`);
    assert.equal(await direction(page.getByRole('cell', { name: description })), 'plaintext');
  });

  test('a partly priced model is shown with its amount', async () => {
    const page = await env.open('/chats');
    await page.route(/\/costs\?/, async (route) => {
      const answer = await route.fetch();
      const by_model = [
        { model: 'a/part', cost: 1.5 },
        { model: 'a/none', cost: 0 },
      ];
      await route.fulfill({ json: { ...(await answer.json()), by_model, unpriced: ['a/part', 'a/none'] } });
    });
    await page.evaluate(() => (location.hash = '#/costs'));
    await page.getByText('$1.50, partly unpriced').waitFor();
    await page.getByText('unpriced', { exact: true }).waitFor();
  });

  for (const [route, kind] of [
    ['/jobs/none', 'job called “none”'],
    ['/jobs/assistant', 'job called'],
    ['/agents/none', 'agent called “none”'],
    ['/agents/help', 'agent called'],
    ['/extensions/none', 'extension called “none”'],
    ['/knowledge/none', 'page called “none”'],
    ['/apps/none', 'app called “none”'],
    ['/inbox/a/2026-01-02/none', 'proposal'],
  ]) {
    test(`a missing item in the address is reported once, with a link to the list: ${route}`, async () => {
      const page = await env.open(route);
      const alert = page.getByRole('alert');
      await alert
        .getByText(`There is no such ${kind}`)
        .or(alert.getByText(`There is no ${kind}`))
        .waitFor();
      assert.equal(await alert.getByRole('link').getAttribute('href'), `#/${route.split('/')[1]}`);
      assert.equal(await page.getByRole('button', { name: /Retry|^Run$|Start a chat|Discuss/ }).count(), 0);
      assert.equal(await alert.count(), 1);
    });
  }

  test('a turn in the address is scrolled into view, also in an open chat and in a replaced answer', async () => {
    const { id } = await env.thread({ title: 'Of many turns' });
    for (let i = 0; i < 60; i++)
      await env.api('POST', `/threads/${id}/turns`, { role: i % 2 ? 'assistant' : 'user', content: `turn ${i}` });
    const { 2: other, 40: far } = await env.turns(id);
    const page = await env.open(`/t/${id}?turn=${other.id}`);
    await page.locator('article.found').getByText('turn 2', { exact: true }).waitFor();
    const isSeen = (turn) =>
      page.locator(`[data-turns~="${turn.id}"]`).evaluate((article) => {
        const { top, bottom } = article.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      });
    await eventually(async () => assert.ok(await isSeen(other)));
    await page.evaluate((hash) => (location.hash = hash), `#/t/${id}?turn=${far.id}`);
    await eventually(async () => assert.ok(await isSeen(far)));
    await page.locator('article.found').getByText('turn 40', { exact: true }).waitFor();
    assert.equal(await page.locator('article.found').count(), 1);
    await env.backend.reply({ text: 'A plum.' });
    await env.api('POST', '/chat', { threadId: id, content: 'Fruit?' });
    const answer = await eventually(async () => {
      const found = (await env.turns(id)).find(({ content }) => content === 'A plum.');
      assert.ok(found);
      return found;
    });
    await env.backend.reply({ text: 'A pear.' });
    await env.api('POST', `/turns/${answer.id}/regenerate`);
    await page.getByText('A pear.', { exact: true }).waitFor();
    await eventually(async () => assert.equal(await page.getByText('A plum.').count(), 0));
    await page.evaluate((hash) => (location.hash = hash), `#/t/${id}?turn=${answer.id}`);
    await page.locator('article.found').getByText('A plum.').waitFor();
  });

  test('relative times are updated and have the exact time as a tooltip', async () => {
    const page = await env.newPage();
    await page.clock.install();
    await page.addInitScript((token) => localStorage.setItem('agw.token', JSON.stringify(token)), env.token);
    await page.goto(`${env.proxy.url}/ui/#/t/${await env.threadWith({ role: 'user', content: 'What time is it?' })}`);
    const time = questions(page).locator('time');
    await time.getByText('just now').waitFor();
    await page.clock.fastForward('02:00:30');
    await time.getByText('2 hours ago').waitFor();
    assert.match(await time.getAttribute('title'), /\d{4}.*\d:\d\d.* \S+/);
  });

  test('an invalid period in the address shows today', async () => {
    const page = await env.open('/costs?period=bogus');
    await page.getByRole('heading', { name: 'By agent, today' }).waitFor();
  });

  test('a first connection that takes long is not reported as lost', async () => {
    const release = env.proxy.stallWebSockets();
    const page = await env.newPage();
    await page.clock.install();
    await page.addInitScript((token) => localStorage.setItem('agw.token', JSON.stringify(token)), env.token);
    await page.goto(`${env.proxy.url}/ui/#/new`);
    await message(page).waitFor();
    const notice = page.getByText('The gateway cannot be reached');
    await page.clock.runFor(3000);
    assert.equal(await notice.count(), 0);
    await page.clock.runFor(4000);
    await notice.waitFor();
    release();
    await notice.waitFor({ state: 'hidden' });
  });

  test('a lost connection is announced once, not every second', async () => {
    const page = await env.open('/new');
    await message(page).waitFor();
    env.proxy.down = true;
    env.proxy.cut();
    await page.getByText(/Retrying in \d+ s|Connecting…/).waitFor();
    const status = page.getByRole('status').filter({ hasText: 'The gateway cannot be reached' });
    assert.equal(await status.textContent(), 'The gateway cannot be reached. What you write is saved.');
    env.proxy.down = false;
    await status.waitFor({ state: 'hidden' });
  });

  test('code that is loaded before the document is parsed waits for it', async () => {
    const page = await env.open('/system');
    await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
    let chat = '';
    await page.route('**/ui/?held', async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      chat = /data-chat="([^" ]+)/.exec(text)[1];
      await route.fulfill({
        response,
        body: text.replace('</head>', '<script src="/ui/first.js?held"></script></head>'),
      });
    });
    await page.route('**/first.js?held', async (route) => {
      await page.evaluate(
        (code) =>
          import(code).then(
            () => {},
            () => {},
          ),
        chat,
      );
      await route.fulfill({ contentType: 'text/javascript', body: '' });
    });
    await page.goto(`${env.proxy.url}/ui/?held#/t/${await env.threadWith({ role: 'user', content: 'Here I am' })}`);
    await questions(page).getByText('Here I am').waitFor();
  });

  test('code of a knowledge page is not changed, and links next to it work', async () => {
    const content = 'See [[other]].\n\n```sh\nif [[ok]]; then\n```\n\nAs in `[[here]]`, and [[other|there]].\n';
    await env.backend.write({
      path: '.agent-gateway/knowledge/wiki/codes.md',
      text: `---\ntitle: Codes\nsummary: s\n---\n${content}`,
    });
    const page = await env.open('/knowledge/codes');
    await page.getByRole('link', { name: 'there' }).waitFor();
    assert.deepEqual(await page.locator('.prose a').allTextContents(), ['other', 'there']);
    assert.equal(await page.locator('.prose p code').textContent(), '[[here]]');
    assert.equal(await page.locator('.prose pre').textContent(), 'if [[ok]]; then');
  });

  test('an address in a footnote is shown', async () => {
    const page = await env.open(
      `/t/${await env.threadWith({ role: 'assistant', content: 'So it is.[^1]\n\n[^1]: https://source.example/page\n' })}`,
    );
    await page.getByRole('link', { name: 'https://source.example/page' }).waitFor();
    await answers(page).locator('p.small', { hasText: '1 https://source.example/page' }).waitFor();
  });
}
