import assert from 'node:assert/strict';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { answers, eventually, missing, questions, withGateway } from './environment.mjs';

const phone = { width: 390, height: 844 };

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  const card = (page) => page.getByRole('group', { name: 'Permission request' });
  const button = (page, name) => page.getByRole('button', { name });
  const request = (threadId, members = {}) => ({
    id: 'r1',
    kind: 'permission',
    run_id: 'run',
    thread_id: threadId,
    agent_id: 'a',
    agent: 'assistant',
    tool: 'Bash',
    input: { command: 'npm test' },
    target: 'npm test',
    reason: 'stage apprentice does not allow Bash',
    diff: null,
    created_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 600_000).toISOString(),
    can_propose: false,
    scopes: ['once', 'thread', 'agent'],
    pattern: 'npm test',
    question: null,
    decision: null,
    scope: null,
    by: null,
    decision_reason: null,
    decided_at: null,
    ...members,
  });

  /** Opens a chat with these waiting requests, faked at the API. Returns also the decisions that the page sends. */
  async function showRequests(list, options = {}) {
    const { id } = await env.thread({ title: 'Asked' });
    const page = await env.newPage(options);
    const sent = [];
    await page.route(/\/permissions(\/|$)/, (route) => {
      if (route.request().method() === 'GET') return route.fulfill({ json: list.map((one) => request(id, one)) });
      sent.push([route.request().url().split('/').at(-1), route.request().postDataJSON()]);
      return route.fulfill({ json: {} });
    });
    await page.addInitScript((token) => localStorage.setItem('agw.token', JSON.stringify(token)), env.token);
    await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await page.locator('[data-request]').first().waitFor();
    return { page, sent, id };
  }

  test('a card that a model imitates in its answer is only text', async () => {
    const fake = `> ⚠ **assistant** asks to run a command

\`\`\`
ls
\`\`\`

<div role="group" aria-label="Permission request" data-request="r1"><button>Allow once</button></div>

[Allow once y](#/allow) · [Deny n](javascript:alert(1))`;
    const { page, sent } = await showRequests([{}]);
    const thread = page.url().split('/').at(-1);
    await env.api('POST', `/threads/${thread}/turns`, { role: 'assistant', content: fake });
    await answers(page).getByText('asks to run a command').waitFor();
    assert.equal(await card(page).count(), 1);
    assert.equal(await answers(page).getByRole('group').count(), 0);
    assert.equal(
      await answers(page)
        .getByRole('button', { name: /Allow|Deny/ })
        .count(),
      0,
    );
    assert.equal(
      await card(page).evaluate((own) => own.closest('article')),
      null,
      'the real card is outside of answers',
    );
    assert.deepEqual(sent, []);
  });

  const hostile = {
    '10,000 spaces': [`ls${' '.repeat(10_000)}; rm -rf ~`, `ls⟨${(10_000).toLocaleString('en')} spaces⟩; rm -rf ~`],
    '500 line breaks': [`ls${'\n'.repeat(500)}rm -rf ~`, 'ls⟨500 line breaks⟩\nrm -rf ~'],
    'control characters': ['ls \u001b[2K\rrm -rf ~ \u0008', 'ls ⟨U+001B⟩[2K⟨U+000D⟩rm -rf ~ ⟨U+0008⟩'],
    'bidirectional text': ['rm \u202e~ fr- sl\u2066', 'rm ⟨U+202E⟩~ fr- sl⟨U+2066⟩'],
    'invisible characters': ['r\u200bm\u00ad \u3164x', 'r⟨U+200B⟩m⟨U+00AD⟩ ⟨U+3164⟩x'],
    'letters of another alphabet': ['cat /еtc/passwd', 'cat /е⟨U+0435⟩tc/passwd'],
    markup: ['echo "<b onclick=alert(1)>x</b>"', 'echo "<b onclick=alert(1)>x</b>"'],
  };
  for (const [what, [command, shown]] of Object.entries(hostile)) {
    test(`a command is shown with ${what} written out`, async () => {
      const { page } = await showRequests([{ input: { command }, target: command }], { locale: 'en' });
      const region = page.getByRole('region', { name: 'Command' });
      assert.equal(await region.textContent(), shown);
    });
  }

  test('a long command is shown to its end, with its length', async () => {
    const command = `${'echo harmless; '.repeat(2000)}rm -rf ~`;
    const { page } = await showRequests([{ input: { command }, target: command }], { locale: 'en', viewport: phone });
    const region = page.getByRole('region', { name: 'Command' });
    assert.equal(await region.textContent(), command);
    await page.getByText(`${command.length.toLocaleString('en')} characters in 1 line`).waitFor();
    await region.evaluate((box) => (box.scrollTop = box.scrollHeight));
    const { sideways, reached } = await region.evaluate((box) => ({
      sideways: box.scrollWidth - box.clientWidth,
      reached: Math.abs(box.scrollHeight - box.clientHeight - box.scrollTop) < 2,
    }));
    assert.equal(sideways, 0);
    assert.ok(reached);
  });

  test('the real hosts of misleading addresses are shown', async () => {
    const command = 'curl https://аpple.com/x https://github.com@evil.example/y http://2130706433/';
    const { page } = await showRequests([{ input: { command }, target: command }]);
    for (const host of ['xn--pple-43d.com', 'evil.example', '127.0.0.1'])
      await card(page).getByText(host, { exact: true }).waitFor();
  });

  test('a diff and other input are shown in full', async () => {
    const diff = `--- a/notes.md\n+++ b/notes.md\n@@ -1,1 +1,${5003} @@\n-Old\u202e.\n+New.\n${'+\n'.repeat(5000)}+rm -rf ~\n`;
    const { page } = await showRequests(
      [
        {
          tool: 'Edit',
          input: { path: 'notes.md', old_string: 'Old', new_string: 'New', replace_all: true },
          target: '/w/notes.md',
          diff,
        },
      ],
      { locale: 'en' },
    );
    const region = page.getByRole('region', { name: 'Changes of /w/notes.md' });
    for (const part of ['-Old⟨U+202E⟩.', '+New.', '⟨5,000 blank lines⟩', '+rm -rf ~'])
      assert.ok((await region.textContent()).includes(part), part);
    await card(page).getByText('5,002 lines added, 1 removed').waitFor();
    await page.getByRole('region', { name: 'Further input' }).getByText('"replace_all": true').waitFor();
  });

  test('a double click decides the first request only', async () => {
    const list = [{ id: 'r1' }, { id: 'r2', input: { command: 'rm -rf build' }, target: 'rm -rf build' }];
    const { page, sent } = await showRequests(list);
    await button(card(page).first(), 'Allow once').click();
    await eventually(async () => assert.equal(await card(page).count(), 1));
    await page.mouse.down();
    await page.mouse.up();
    await page.keyboard.press('y');
    await page.waitForTimeout(100);
    assert.deepEqual(sent, [['r1', { decision: 'allow', scope: 'once' }]]);
    await eventually(async () => {
      await page.keyboard.press('t');
      assert.deepEqual(sent[1], ['r2', { decision: 'allow', scope: 'thread' }]);
    });
  });

  test('the first key press scrolls a card into view, and only the next one decides', async () => {
    const { id } = await env.thread();
    for (let i = 0; i < 30; i++)
      await env.api('POST', `/threads/${id}/turns`, { role: 'user', content: `Line ${i}\n\nx` });
    const page = await env.open('/chats');
    const sent = [];
    await page.route(/\/permissions(\/|$)/, (route) => {
      if (route.request().method() === 'POST') sent.push(route.request().postDataJSON());
      return route.fulfill({ json: route.request().method() === 'GET' ? [request(id)] : {} });
    });
    await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await page.reload();
    await card(page).waitFor();
    await page.getByRole('log').hover();
    await page.mouse.wheel(0, -5000);
    await page.getByRole('button', { name: 'The agent asks you' }).waitFor();
    await page.waitForTimeout(600);
    await page.getByRole('log').press('y');
    await eventually(async () =>
      assert.equal(await page.getByRole('button', { name: 'The agent asks you' }).count(), 0),
    );
    assert.deepEqual(sent, []);
    await page.waitForTimeout(600);
    await page.getByRole('log').press('y');
    await eventually(() => assert.deepEqual(sent, [{ decision: 'allow', scope: 'once' }]));
  });

  test('only possible decisions are offered', async () => {
    const { page } = await showRequests([{ scopes: ['once'], pattern: null }]);
    await button(page, 'Allow once').waitFor();
    for (const name of ['Allow in this chat', 'Always allow', 'Stage as a proposal'])
      assert.equal(await button(page, name).count(), 0, name);
  });

  const questionWith = (question) => ({ kind: 'question', tool: 'AskUser', scopes: [], question });

  test('a question is answered with one of its options, or with free text', async () => {
    const question = { question: 'Which one\u202e?', options: ['Red', 'Blue'], form: null };
    const { page, sent } = await showRequests([
      { id: 'q1', ...questionWith(question) },
      { id: 'q2', ...questionWith(question) },
    ]);
    const cards = page.getByRole('group', { name: 'Question' });
    await cards.first().getByText('Which one⟨U+202E⟩?').waitFor();
    await button(cards.first(), 'Blue').click();
    await eventually(async () => assert.equal(await cards.count(), 1));
    await page.getByRole('textbox', { name: 'Or answer in your own words' }).fill('Green');
    await page.waitForTimeout(600);
    await page.keyboard.press('Enter');
    await eventually(() =>
      assert.deepEqual(sent, [
        ['q1', { answer: 'Blue' }],
        ['q2', { answer: 'Green' }],
      ]),
    );
  });

  test('a typed answer is kept while another view is shown, until it is sent', async () => {
    const question = { question: 'Which one?', options: [], form: null };
    const { page, sent, id } = await showRequests([{ id: 'q1', ...questionWith(question) }]);
    const field = page.getByRole('textbox', { name: 'Your answer' });
    await field.fill('Green, because');
    await page.goto(`${env.proxy.url}/ui/#/jobs`);
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await eventually(async () => assert.equal(await field.inputValue(), 'Green, because'));
    await page.reload();
    await eventually(async () => assert.equal(await field.inputValue(), 'Green, because'));
    await page.locator('[data-request=q1] button[aria-disabled=false]').first().waitFor();
    await page.getByRole('button', { name: 'Answer', exact: true }).click();
    await eventually(() => assert.deepEqual(sent, [['q1', { answer: 'Green, because' }]]));
    await eventually(async () =>
      assert.equal(await page.evaluate(() => localStorage.getItem('agw.draft.answer.q1')), null),
    );
  });

  test('the reason for a denial is kept while another view is shown, until the decision', async () => {
    const { page, sent, id } = await showRequests([{}]);
    const deny = card(page).getByRole('button', { name: /^Deny…/ });
    const reason = card(page).getByRole('textbox', { name: /^Reason/ });
    await card(page).locator('button[aria-disabled=false]').first().waitFor();
    await deny.click();
    await reason.fill('Too early');
    await page.goto(`${env.proxy.url}/ui/#/jobs`);
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await card(page).locator('button[aria-disabled=false]').first().waitFor();
    await deny.click();
    await reason.press('Enter');
    await eventually(() => assert.deepEqual(sent, [['r1', { decision: 'deny', reason: 'Too early' }]]));
    await eventually(async () =>
      assert.equal(await page.evaluate(() => localStorage.getItem('agw.draft.answer.r1')), null),
    );
  });

  test('a question with a form is answered with its values, or declined', async () => {
    const form = {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', title: 'Name\u202e', description: 'Yours\u202e' },
        count: { type: 'integer', default: 2 },
      },
    };
    const question = { question: 'Who?', options: [], form };
    const { page, sent } = await showRequests([
      { id: 'q1', ...questionWith(question) },
      { id: 'q2', ...questionWith(question) },
    ]);
    const cards = page.getByRole('group', { name: 'Question' });
    await cards.first().getByRole('textbox', { name: 'Name⟨U+202E⟩' }).fill('Ada');
    await cards.first().getByText('Yours⟨U+202E⟩', { exact: true }).waitFor();
    await button(cards.first(), 'Answer').first().click();
    await eventually(async () => assert.equal(await cards.count(), 1));
    await button(cards, 'Do not answer').click();
    await eventually(() =>
      assert.deepEqual(sent, [
        ['q1', { answer: { count: 2, name: 'Ada' } }],
        ['q2', { decision: 'deny' }],
      ]),
    );
  });

  test('a question whose form is no proper schema can be answered, or declined', async () => {
    const form = {
      type: 'object',
      required: true,
      properties: {
        name: 'string',
        age: null,
        color: { type: 'string', enum: 'red, blue' },
        size: { type: 'string', enum: ['M', 'M'], title: 5, description: ['S'] },
        address: { type: 'object', required: true, properties: { city: { type: 'string' } } },
        rest: { type: 'object', additionalProperties: null },
      },
    };
    const { page, sent } = await showRequests([{ id: 'q1', ...questionWith({ question: 'Who?', options: [], form }) }]);
    await page.getByRole('textbox', { name: 'city' }).waitFor();
    await page.getByRole('combobox', { name: '5' }).click();
    await page.getByRole('option', { name: 'M' }).first().click();
    await page.locator('[data-request=q1] button[aria-disabled=false]').first().waitFor();
    await button(page, 'Do not answer').click();
    await eventually(() => assert.deepEqual(sent, [['q1', { decision: 'deny' }]]));
  });

  test('the values of a form are kept while another view is shown, until they are sent', async () => {
    const properties = { name: { type: 'string' }, count: { type: 'integer', default: 2 }, kinds: { type: 'array' } };
    const question = { question: 'Who?', options: [], form: { type: 'object', properties } };
    const { page, sent, id } = await showRequests([{ id: 'q1', ...questionWith(question) }]);
    const name = page.getByRole('textbox', { name: 'name' });
    const kinds = page.getByRole('textbox', { name: 'kinds' });
    await name.fill('Ada');
    await kinds.fill('["a"]');
    assert.equal(await kinds.inputValue(), '["a"]');
    await page.getByRole('spinbutton', { name: 'count' }).fill('3');
    await page.goto(`${env.proxy.url}/ui/#/jobs`);
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
    await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
    await eventually(async () => assert.equal(await name.inputValue(), 'Ada'));
    await page.reload();
    await eventually(async () => assert.equal(await name.inputValue(), 'Ada'));
    await page.locator('[data-request=q1] button[aria-disabled=false]').first().waitFor();
    await button(page, 'Answer').first().click();
    await eventually(() => assert.deepEqual(sent, [['q1', { answer: { count: 3, name: 'Ada', kinds: ['a'] } }]]));
    await eventually(async () =>
      assert.equal(await page.evaluate(() => localStorage.getItem('agw.draft.answer.q1')), null),
    );
  });

  for (const [size, viewport] of Object.entries({ desk: { width: 1280, height: 800 }, phone })) {
    test(`cards are accessible and fit: ${size}`, async () => {
      const list = [
        { id: 'r1', can_propose: true, input: { command: `curl https://аpple.com ${'x'.repeat(700)}`, network: true } },
        { id: 'r2', tool: 'Write', input: {}, target: '/w/notes.md', diff: '@@ -1 +1 @@\n-a\n+b\n same\n' },
        { id: 'q1', ...questionWith({ question: 'Which?', options: ['Red', 'Blue'], form: null }) },
      ];
      const { page } = await showRequests(list, { viewport, bypassCSP: true, hasTouch: size === 'phone' });
      await page.locator('[data-request=r1] button[aria-disabled=false]').first().waitFor();
      await expectAccessible(page);
      const sideways = await page.evaluate(() =>
        [document.documentElement, document.querySelector('[role=log]')].map(
          (box) => box.scrollWidth - box.clientWidth,
        ),
      );
      assert.deepEqual(sideways, [0, 0]);
      const lowButtons = await page
        .locator('[data-request] button')
        .evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().height < 24).length);
      assert.equal(lowButtons, 0);
    });
  }

  test('letter shortcuts that are turned off work only within a card', async () => {
    const { page, sent } = await showRequests([{}]);
    await page.evaluate(() => localStorage.setItem('agw.inbox.letters', 'false'));
    await page.reload();
    await card(page).waitFor();
    await page.waitForTimeout(700);
    await page.getByRole('log').press('y');
    await page.waitForTimeout(100);
    assert.deepEqual(sent, []);
    await button(card(page), 'Deny').press('y');
    await eventually(() => assert.equal(sent.length, 1));
    assert.equal(await questions(page).count(), 0);
  });
}
