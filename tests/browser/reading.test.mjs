import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, message, missing, questions, say, withStage } from './stage.mjs';

const phone = { width: 390, height: 844 };

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const it = withStage();

  test('an answer that failed says why, also after a reload', async () => {
    const page = await it.open();
    await it.stage.fail({ status: 400, body: '{"error":{"message":"the moon is in the way"}}' });
    await say(page, 'Well?');
    await answers(page).getByText(/the moon is in the way/).waitFor();
    await page.reload();
    await answers(page).getByText(/the moon is in the way/).waitFor();
  });

  const table = `| Status | Requirement name | Owner | Due date |\n| - | - | - | - |\n| pending | Send it to everybody | Charles Babbage | 2026-02-03 |\n`;

  test('the words of a table stay whole on a phone; the table is moved instead', async () => {
    const page = await it.open(`/t/${await it.threadWith({ role: 'assistant', content: table })}`, { viewport: phone });
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
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
  });

  test('text runs in the direction of its script, each paragraph by itself', async () => {
    const content = 'שלום, world!\n\nHello, עולם!\n\n- אחת\n- שתיים\n\n> ציטוט\n\n| עמודה | b |\n| - | - |\n| ערך | c |\n';
    const id = await it.threadWith({ role: 'user', content: 'מה שלומך?\nAnd you?' }, { role: 'assistant', content });
    const page = await it.open(`/t/${id}`);
    await answers(page).getByText('Hello').waitFor();
    /** Whether the first letter of each stands at the right of its text. */
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
    assert.equal(await answers(page).locator('ul').evaluate((ul) => getComputedStyle(ul).direction), 'rtl');
    assert.equal(await answers(page).locator('blockquote').evaluate((quote) => getComputedStyle(quote).direction), 'rtl');
    assert.equal(await answers(page).locator('table').evaluate((table) => getComputedStyle(table).direction), 'rtl');
    const said = questions(page).locator('.said');
    assert.deepEqual(await runsFromRight(said), [true]);
    assert.equal(await said.evaluate((element) => getComputedStyle(element).unicodeBidi), 'plaintext');
    assert.equal(await message(page).evaluate((box) => getComputedStyle(box).unicodeBidi), 'plaintext');
  });

  test('characters that reverse text are written out in answers, questions and notes', async () => {
    const content = 'pay \u202E001$ and &#x202E;200$ **to \u2066me**\n\nשלום\u200F!';
    const id = await it.threadWith({ role: 'user', content }, { role: 'system', content }, { role: 'assistant', content });
    const page = await it.open(`/t/${id}`);
    await answers(page).getByText('pay ⟨U+202E⟩001$ and ⟨U+202E⟩200$').waitFor();
    await questions(page).getByText('pay ⟨U+202E⟩001$').waitFor();
    await page.getByRole('article', { name: 'Note' }).getByText('pay ⟨U+202E⟩001$').waitFor();
    assert.equal(await answers(page).locator('strong').textContent(), 'to ⟨U+2066⟩me');
    assert.equal(await answers(page).locator('.prose > p').last().textContent(), 'שלום\u200F!');
  });

  test('a long word in a note is broken', async () => {
    const page = await it.open(`/t/${await it.threadWith({ role: 'system', content: 'x'.repeat(300) })}`, { viewport: phone });
    const note = page.getByRole('article', { name: 'Note' });
    await note.waitFor();
    assert.ok(await note.locator('p').evaluate((p) => p.scrollWidth <= p.clientWidth));
  });

  test('turns that are read at the top are not new', async () => {
    const id = await it.threadWith(...Array.from({ length: 120 }, (_, i) => ({ role: 'user', content: `turn ${i}` })));
    const page = await it.open(`/t/${id}`);
    await questions(page).getByText('turn 119').waitFor();
    await page.getByRole('log').hover();
    for (let i = 0; i < 40 && (await questions(page).count()) < 120; i++) {
      await page.mouse.wheel(0, -3000);
      await page.waitForTimeout(50);
    }
    await page.getByRole('button', { name: 'To the end' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /\d+ new/ }).count(), 0);
    await it.api('POST', `/threads/${id}/turns`, { role: 'user', content: 'one more' });
    await page.getByRole('button', { name: '1 new' }).waitFor();
  });

  test('a chat that is deleted in one tab goes from the other', async () => {
    const { id } = await it.thread({ title: 'Short-lived' });
    const one = await it.open(`/t/${id}`);
    const two = await one.context().newPage();
    await two.goto(`${it.line.url}/ui/#/t/${id}`);
    for (const page of [one, two]) await page.getByRole('heading', { level: 1, name: 'Short-lived' }).waitFor();
    await two.locator('aside').getByRole('link', { name: /Short-lived/ }).waitFor();
    await message(two).fill('half written');
    await one.getByRole('button', { name: 'Delete chat' }).click();
    await one.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await two.getByText('This chat does not exist, or was deleted.').waitFor();
    await eventually(async () => assert.equal(await two.locator('aside').getByRole('link', { name: /Short-lived/ }).count(), 0));
    assert.equal(await message(two).inputValue(), 'half written');
  });

  test('a view that was opened while the line was down is there when it is back', async () => {
    const page = await it.open('/inbox');
    await page.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    it.line.down = true;
    it.line.cut();
    it.tolerated.push(/Failed to fetch dynamically imported module|Failed to load resource/);
    await page.evaluate(() => (location.hash = '#/experiments'));
    await page.getByText('This part of the page could not be fetched').waitFor();
    it.line.down = false;
    await page.getByRole('heading', { level: 1, name: 'Experiments' }).waitFor();
  });

  test('what could not be read while the line was down is read when it is back', async () => {
    const { id } = await it.thread();
    const page = await it.open(`/t/${id}`);
    await page.getByRole('log').waitFor();
    await page.route(/\/extensions$/, (route) => route.abort());
    await page.evaluate(() => (location.hash = '#/extensions'));
    await page.getByRole('heading', { level: 1, name: 'Extensions' }).waitFor();
    assert.equal(await page.getByRole('row').filter({ hasText: 'remember' }).count(), 0);
    await page.unroute(/\/extensions$/);
    it.line.cut();
    await page.getByRole('row').filter({ hasText: 'remember' }).waitFor();
  });

  test('a model of which only a part has a price is shown with its amount', async () => {
    const page = await it.open('/chats');
    await page.route(/\/costs\?/, async (route) => {
      const answer = await route.fetch();
      const by_model = [{ model: 'a/part', cost: 1.5 }, { model: 'a/none', cost: 0 }];
      await route.fulfill({ json: { ...(await answer.json()), by_model, unpriced: ['a/part', 'a/none'] } });
    });
    await page.evaluate(() => (location.hash = '#/costs'));
    await page.getByText('$1.50, partly unpriced').waitFor();
    await page.getByText('unpriced', { exact: true }).waitFor();
  });

  for (const [place, kind] of [['/jobs/none', 'job called «none»'], ['/jobs/assistant', 'job called'], ['/agents/none', 'agent called «none»'], ['/agents/help', 'agent called'],
    ['/extensions/none', 'extension called «none»'], ['/knowledge/none', 'page called «none»'], ['/apps/none', 'app called «none»'], ['/inbox/a/2026-01-02/none', 'proposal']]) {
    test(`what an address names and is not there is told in one sentence, with the way back: ${place}`, async () => {
      const page = await it.open(place);
      const told = page.getByRole('alert');
      await told.getByText(`There is no such ${kind}`).or(told.getByText(`There is no ${kind}`)).waitFor();
      assert.equal(await told.getByRole('link').getAttribute('href'), `#/${place.split('/')[1]}`);
      assert.equal(await page.getByRole('button', { name: /Retry|^Run$|Talk/ }).count(), 0);
      assert.equal(await told.count(), 1);
    });
  }

  test('a turn that an address names is in sight, also in the chat that is open, and in an answer that was replaced', async () => {
    const { id } = await it.thread({ title: 'Of many turns' });
    for (let i = 0; i < 60; i++) await it.api('POST', `/threads/${id}/turns`, { role: i % 2 ? 'assistant' : 'user', content: `turn ${i}` });
    const { 2: other, 40: far } = await it.turns(id);
    const page = await it.open(`/t/${id}?turn=${other.id}`);
    await page.locator('article.found').getByText('turn 2', { exact: true }).waitFor();
    const isSeen = (turn) => page.locator(`[data-turns~="${turn.id}"]`).evaluate((article) => {
      const { top, bottom } = article.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });
    await eventually(async () => assert.ok(await isSeen(other)));
    await page.evaluate((hash) => (location.hash = hash), `#/t/${id}?turn=${far.id}`);
    await eventually(async () => assert.ok(await isSeen(far)));
    await page.locator('article.found').getByText('turn 40', { exact: true }).waitFor();
    assert.equal(await page.locator('article.found').count(), 1);
    await it.stage.reply({ text: 'A plum.' });
    await it.api('POST', '/chat', { threadId: id, content: 'Fruit?' });
    const answer = await eventually(async () => {
      const found = (await it.turns(id)).find(({ content }) => content === 'A plum.');
      assert.ok(found);
      return found;
    });
    await it.stage.reply({ text: 'A pear.' });
    await it.api('POST', `/turns/${answer.id}/regenerate`);
    await page.getByText('A pear.', { exact: true }).waitFor();
    await eventually(async () => assert.equal(await page.getByText('A plum.').count(), 0));
    await page.evaluate((hash) => (location.hash = hash), `#/t/${id}?turn=${answer.id}`);
    await page.locator('article.found').getByText('A plum.').waitFor();
  });

  test('no category of knowledge is so long that the page moves sideways', async () => {
    const head = `---\ntitle: Long\ncategory: ${'w'.repeat(200)}\nsummary: s\n---\n# Long\n`;
    await it.stage.write({ path: '.agent-gateway/knowledge/wiki/long.md', text: head });
    const page = await it.open('/knowledge', { viewport: phone });
    await page.getByText('w'.repeat(200)).waitFor();
    assert.equal(await page.locator('main .view').evaluate((view) => view.scrollWidth - view.clientWidth), 0);
  });

  test('who opens another view, or one of a list, by keys goes on at its heading', async () => {
    const page = await it.open('/chats');
    const held = () => page.evaluate(() => `${document.activeElement.tagName} ${document.activeElement.textContent.trim()}`);
    await page.getByRole('link', { name: 'Jobs', exact: true }).press('Enter');
    await eventually(async () => assert.equal(await held(), 'H1 Jobs'));
    await page.getByRole('link', { name: 'compile-knowledge' }).press('Enter');
    await eventually(async () => assert.equal(await held(), 'H1 compile-knowledge'));
    await page.getByRole('link', { name: 'All jobs' }).press('Enter');
    await eventually(async () => assert.equal(await held(), 'H1 Jobs'));
  });

  test('the title of the page names the chat', async () => {
    const { id } = await it.thread({ title: 'Pomelo' });
    const page = await it.open(`/t/${id}`);
    await eventually(async () => assert.match(await page.title(), /^(\(\d+\) )?Pomelo · Agent Gateway$/));
    await page.evaluate(() => (location.hash = '#/new'));
    await eventually(async () => assert.match(await page.title(), /New chat · Agent Gateway$/));
  });

  test('the choices of a message can be read on a phone, and at 200 %', async () => {
    await it.api('POST', '/extensions', { type: 'agent', name: 'gardener', description: 'd', enabled: true, definition: { systemPrompt: 'x' } });
    const { id } = await it.thread();
    for (const options of [{ viewport: phone, hasTouch: true, isMobile: true }, { viewport: { width: 640, height: 400 } }]) {
      for (const place of ['/new', `/t/${id}`]) {
        const page = await it.open(place, options);
        await page.getByRole('combobox', { name: 'Model' }).waitFor();
        if (place !== '/new') await page.locator('form').getByRole('combobox', { name: 'Agent' }).waitFor();
        for (const box of await page.locator('form .model select').all()) assert.ok((await box.boundingBox()).width > 100, `${place}: ${(await box.boundingBox()).width}`);
      }
    }
    const page = await it.open('/agents/gardener', { viewport: phone });
    const because = page.getByRole('textbox', { name: 'Because' });
    await because.waitFor();
    assert.ok((await because.boundingBox()).width > 180);
  });

  test('times go on while the page is looked at, and say the exact one', async () => {
    const page = await it.fresh();
    await page.clock.install();
    await page.addInitScript((token) => localStorage.setItem('agw.token', JSON.stringify(token)), it.token);
    await page.goto(`${it.line.url}/ui/#/t/${await it.threadWith({ role: 'user', content: 'What time is it?' })}`);
    const time = questions(page).locator('time');
    await time.getByText('just now').waitFor();
    await page.clock.fastForward('02:00:30');
    await time.getByText('2 hours ago').waitFor();
    assert.match(await time.getAttribute('title'), /\d{4}.*\d:\d\d.* \S+/);
  });

  test('Escape leaves what is written in the head of a chat, and the keyboard stays there', async () => {
    const page = await it.open(`/t/${(await it.thread({ title: 'As it was' })).id}`);
    const heading = page.getByRole('heading', { level: 1, name: 'As it was' });
    await heading.waitFor();
    for (const [button, box] of [['Rename', 'Title'], ['Add a note', 'Note']]) {
      await page.getByRole('button', { name: button, exact: true }).click();
      await page.getByRole('textbox', { name: box }).fill('something else');
      await page.keyboard.press('Escape');
      await page.getByRole('textbox', { name: box }).waitFor({ state: 'hidden' });
      assert.equal(await heading.evaluate((h1) => h1 === document.activeElement), true, box);
    }
  });

  test('what cannot be read says why, in every list', async () => {
    const page = await it.open('/system');
    await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
    it.tolerated.push(/status of 500/);
    await page.route((url) => !url.pathname.startsWith('/ui'), (route) => route.fulfill({ status: 500, json: { error: 'the disk is on fire' } }));
    for (const place of ['/chats', '/inbox', '/jobs', '/agents', '/extensions', '/knowledge', '/experiments', '/costs', '/apps', '/system', '/search?q=hello']) {
      await page.goto(`${it.line.url}/ui/?${encodeURIComponent(place)}#${place}`);
      await page.locator('main').getByText('the disk is on fire').first().waitFor().catch(() => assert.fail(place));
      await page.locator('main').getByRole('button', { name: 'Retry' }).first().waitFor();
    }
  });

  test('an address with a period that is none shows today', async () => {
    const page = await it.open('/costs?period=bogus');
    await page.getByRole('heading', { name: 'By agent, today' }).waitFor();
  });

  test('who listens is told once that the gateway cannot be reached, not each second', async () => {
    const page = await it.open('/new');
    await message(page).waitFor();
    it.line.down = true;
    it.line.cut();
    await page.getByText(/Trying again in \d+ s|Connecting…/).waitFor();
    const told = page.getByRole('status').filter({ hasText: 'The gateway cannot be reached' });
    assert.equal(await told.textContent(), 'The gateway cannot be reached. What you write is kept.');
    it.line.down = false;
    await told.waitFor({ state: 'hidden' });
  });

  test('code that is there before the whole document has come waits for it', async () => {
    const page = await it.open('/system');
    await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
    let chat = '';
    await page.route('**/ui/?held', async (route) => {
      const response = await route.fetch();
      const text = await response.text();
      chat = /data-chat="([^" ]+)/.exec(text)[1];
      await route.fulfill({ response, body: text.replace('</head>', '<script src="/ui/first.js?held"></script></head>') });
    });
    await page.route('**/first.js?held', async (route) => {
      await page.evaluate((code) => import(code).then(() => {}, () => {}), chat);
      await route.fulfill({ contentType: 'text/javascript', body: '' });
    });
    await page.goto(`${it.line.url}/ui/?held#/t/${await it.threadWith({ role: 'user', content: 'Here I am' })}`);
    await questions(page).getByText('Here I am').waitFor();
  });

  test('a chat that is renamed keeps its heading for who listens', async () => {
    const page = await it.open(`/t/${(await it.thread({ title: 'Named' })).id}`);
    await page.getByRole('heading', { level: 1, name: 'Named' }).waitFor();
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    await page.getByRole('textbox', { name: 'Title' }).waitFor();
    assert.equal(await page.getByRole('heading', { level: 1, name: 'Named' }).count(), 1);
  });

  test('an extension that is deleted elsewhere says so, and keeps what is being written', async () => {
    await it.api('POST', '/extensions', { type: 'command', name: 'short-lived', description: 'x', definition: { prompt: 'x' } });
    const page = await it.open('/extensions/short-lived');
    await page.getByLabel('Description').fill('written here');
    await it.api('DELETE', '/extensions/short-lived');
    await page.getByText('extension not found').waitFor();
    assert.equal(await page.getByLabel('Description').inputValue(), 'written here');
    const save = page.getByRole('button', { name: 'Save', exact: true });
    await save.click();
    await page.getByText('It was deleted elsewhere. Save makes it anew.').waitFor();
    await save.click();
    await page.getByRole('status').getByText('Saved.').waitFor();
    assert.equal((await it.api('GET', '/extensions/short-lived')).description, 'written here');
  });

  test('code of a knowledge page stays as it is, links beside it lead on', async () => {
    const content = 'See [[other]].\n\n```sh\nif [[ok]]; then\n```\n\nAs in `[[here]]`, and [[other|there]].\n';
    await it.stage.write({ path: '.agent-gateway/knowledge/wiki/codes.md', text: `---\ntitle: Codes\nsummary: s\n---\n${content}` });
    const page = await it.open('/knowledge/codes');
    await page.getByRole('link', { name: 'there' }).waitFor();
    assert.deepEqual(await page.locator('.prose a').allTextContents(), ['other', 'there']);
    assert.equal(await page.locator('.prose p code').textContent(), '[[here]]');
    assert.equal(await page.locator('.prose pre').textContent(), 'if [[ok]]; then');
  });

  test('more than a thousand chats can all be reached from the list', async () => {
    const page = await it.open('/system');
    await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
    const thread = await it.thread({ title: 'One of many' });
    const all = Array.from({ length: 1003 }, (_, i) => ({ ...thread, id: `chat-${i}`, title: `chat ${i}` }));
    await page.route((url) => url.pathname === '/threads', (route) => {
      const limit = new URL(route.request().url()).searchParams.get('limit');
      return route.fulfill({ json: limit ? all.slice(0, Number(limit)) : all });
    });
    await page.goto(`${it.line.url}/ui/?many#/chats?q=1002`);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.locator('aside').getByRole('link', { name: /chat 1002/ }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0);
  });

  test('projects that change elsewhere change here, when the page is looked at again', async () => {
    const path = await it.stage.write({ path: 'meadow/readme.md', text: 'x' });
    const page = await it.open('/projects');
    await page.getByText('No project yet').waitFor();
    const project = await it.api('POST', '/projects', { name: 'Meadow', path: path.replace('/readme.md', '') });
    const look = () => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await look();
    await page.getByRole('heading', { name: 'Meadow' }).waitFor();
    await it.thread({ title: 'Mowing', project_id: project.id });
    await page.getByRole('link', { name: 'Chats', exact: true }).click();
    await page.locator('aside').getByRole('heading', { name: 'Meadow' }).waitFor();
    await it.api('PATCH', `/projects/${project.id}`, { name: 'Pasture' });
    await look();
    await page.locator('aside').getByRole('heading', { name: 'Pasture' }).waitFor();
    await it.api('DELETE', `/projects/${project.id}`);
  });

  test('the address that a footnote names is shown', async () => {
    const page = await it.open(`/t/${await it.threadWith({ role: 'assistant', content: 'So it is.[^1]\n\n[^1]: https://source.example/page\n' })}`);
    await page.getByRole('link', { name: 'https://source.example/page' }).waitFor();
    await page.getByText('[^1]: https://source.example/page').waitFor();
  });

  test('who renames a chat or adds a note by keys goes on from there', async () => {
    const page = await it.open(`/t/${(await it.thread({ title: 'Before' })).id}`);
    const held = () => page.evaluate(() => document.activeElement.textContent.trim());
    const heading = page.getByRole('heading', { level: 1 });
    await heading.getByText('Before').waitFor();
    await page.getByRole('button', { name: 'Rename', exact: true }).press('Enter');
    await page.getByRole('textbox', { name: 'Title' }).fill('After');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await held(), 'After'));
    await page.getByRole('button', { name: 'Add a note' }).press('Enter');
    await page.getByRole('textbox', { name: 'Note' }).fill('Be brief');
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: 'Note' }).waitFor();
    await eventually(async () => assert.equal(await held(), 'After'));
    await page.getByRole('button', { name: 'Rename After' }).press('Enter');
    await page.getByRole('textbox', { name: 'Title' }).fill('At last');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.match(await held(), /^At last/));
  });

  test('who renames an older chat by keys goes on from there, although it moves', async () => {
    await it.thread({ title: 'Long ago' });
    for (const title of ['Once', 'Then', 'Since', 'Again', 'Soon', 'Lately']) await it.thread({ title });
    const page = await it.open('/chats');
    const rows = page.locator('aside li');
    await rows.filter({ hasText: 'Lately' }).waitFor();
    await page.getByRole('button', { name: 'Rename Long ago' }).press('Enter');
    await page.getByRole('textbox', { name: 'Title' }).fill('Just now');
    await page.keyboard.press('Enter');
    const place = async (title) => (await rows.allTextContents()).findIndex((text) => text.includes(title));
    await eventually(async () => assert.equal(await place('Just now'), (await place('Lately')) - 1));
    await eventually(async () => assert.match(await page.evaluate(() => document.activeElement.textContent.trim()), /^Just now/));
  });

  test('a list that is not shown asks for no projects, and one that is asks again after a cut', async () => {
    const path = await it.stage.write({ path: 'orchard/readme.md', text: 'x' });
    const project = await it.api('POST', '/projects', { name: 'Orchard', path: path.replace('/readme.md', '') });
    await it.thread({ title: 'In the orchard', project_id: project.id });
    const page = await it.open('/new', { viewport: { width: 390, height: 800 } });
    let asked = 0;
    page.on('request', (request) => (asked += new URL(request.url()).pathname === '/projects'));
    const read = page.waitForResponse(/\/threads\?/);
    await page.reload();
    await read;
    await message(page).waitFor();
    await page.evaluate(() => new Promise((settled) => setTimeout(settled, 50)));
    assert.equal(asked, 0);
    await page.evaluate(() => (location.hash = '#/chats'));
    await page.getByRole('heading', { name: 'Orchard' }).waitFor();
    const before = asked;
    it.line.cut();
    await eventually(() => assert.ok(asked > before));
  });

  for (const name of ['Message', 'Title']) {
    test(`a note that is stored late leaves the keyboard in ${name}`, async () => {
      const page = await it.open(`/t/${(await it.thread({ title: 'Kept' })).id}`);
      await page.getByRole('heading', { level: 1, name: 'Kept' }).waitFor();
      let store;
      const held = new Promise((done) => (store = done));
      await page.route('**/turns', async (route) => {
        await held;
        await route.continue();
      });
      await page.getByRole('button', { name: 'Add a note' }).press('Enter');
      const asked = page.waitForRequest('**/turns');
      await page.getByRole('textbox', { name: 'Note' }).fill('Be brief');
      await page.keyboard.press('Enter');
      await asked;
      if (name === 'Title') await page.getByRole('button', { name: 'Rename', exact: true }).click();
      const box = page.getByRole('textbox', { name });
      await box.focus();
      store();
      await page.getByRole('textbox', { name: 'Note' }).waitFor({ state: 'detached' });
      await page.keyboard.type('on and on');
      assert.equal(await box.inputValue(), 'on and on');
    });
  }

  test('suggestions go when the message is left, and are taken by the pointer', async () => {
    const page = await it.open(`/t/${(await it.thread()).id}`);
    const offered = page.getByRole('listbox', { name: 'Suggestions' });
    await message(page).fill('/');
    await offered.waitFor();
    await page.getByRole('button', { name: 'Rename', exact: true }).focus();
    await offered.waitFor({ state: 'hidden' });
    await message(page).fill('/s');
    await offered.getByRole('option').first().click();
    await eventually(async () => assert.match(await message(page).inputValue(), /^\/\S+ $/));
  });

  test('suggestions that come after the message was left stay away', async () => {
    const page = await it.open(`/t/${(await it.thread()).id}`);
    let answer;
    const held = new Promise((done) => (answer = done));
    const found = { name: 'late.md', path: '/late.md', isDirectory: false };
    await page.route('**/filesystem/search?*', async (route) => {
      await held;
      await route.fulfill({ json: { results: [found] } });
    });
    const asked = page.waitForRequest('**/filesystem/search?*');
    await message(page).fill('@late');
    await asked;
    await page.getByRole('button', { name: 'Rename', exact: true }).focus();
    const answered = page.waitForResponse('**/filesystem/search?*');
    answer();
    await answered;
    await page.evaluate(() => new Promise((settled) => setTimeout(settled, 50)));
    assert.equal(await page.getByRole('listbox', { name: 'Suggestions' }).count(), 0);
  });
}
