// Connecting a model, managing services, and choosing models.
import assert from 'node:assert/strict';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { answers, eventually, expectFocus, message, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway({ model: 'offline' });
  const listed = [
    { id: 'small-1', context_window: 32000 },
    { id: 'large-2', context_window: 200000 },
  ];
  const key = 'sk-live-0123456789abcdef';
  const button = (page, name) => page.getByRole('button', { name, exact: true });

  /** Replaces OpenRouter's address by the stub's in the gateway's list of services. */
  async function redirectToStub(page) {
    await page.route('**/model-services', async (route) => {
      const response = await route.fetch();
      const services = await response.json();
      for (const service of services) if (service.name === 'openrouter') service.base_url = env.service;
      await route.fulfill({ response, json: services });
    });
  }

  async function reset() {
    await env.api('PATCH', '/settings', { default_model: null });
    for (const { id, definition } of await env.api('GET', '/extensions?type=integration'))
      if (definition.kind === 'model') await env.api('DELETE', `/extensions/${id}?force=true`);
    for (const { name } of await env.api('GET', '/secrets')) await env.api('DELETE', `/secrets/${name}`);
    for (const { id } of await env.api('GET', '/threads')) await env.api('DELETE', `/threads/${id}`);
    await env.backend.list_models({ models: listed });
  }

  const service = (members = {}) =>
    env.api('POST', '/extensions', {
      type: 'integration',
      name: 'bench',
      description: 'd',
      enabled: true,
      definition: { kind: 'model', api: 'openai-chat', base_url: env.service, ...members },
    });

  const sizes = Object.entries({ desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } });

  for (const [size, viewport] of sizes) {
    test(`a new user with a key gets from the first page to a streamed answer in four clicks: ${size}`, async () => {
      await reset();
      const page = await env.newPage({ viewport });
      await redirectToStub(page);
      const begun = Date.now();
      await page.goto(`${env.url}/ui/#code=${(await env.api('GET', '/pair/refresh')).code}`);
      let clicks = 0;
      const click = (target) => (clicks++, target.click());
      await page.getByRole('heading', { name: 'Connect a model' }).waitFor();
      await click(page.getByRole('list', { name: 'Services' }).getByRole('button', { name: /^OpenRouter/ }));
      await expectFocus(page, 'Key');
      await page.keyboard.insertText(key);
      await click(button(page, 'Check'));
      await page.getByText('It works: 2 models.').waitFor();
      await click(button(page, 'Use this model'));
      await page.getByText('OpenRouter is connected.').waitFor();
      await expectFocus(page, 'Message');
      await page.keyboard.insertText('Hello');
      const held = await env.backend.hold({ pieces: ['Hello from '] });
      await click(button(page, 'Send'));
      await answers(page).getByText('Hello from').waitFor();
      assert.equal(clicks, 4);
      assert.ok(Date.now() - begun < 60_000);
      await env.backend.release({ held, pieces: ['a model.'] });
      await answers(page).getByText('Hello from a model.').waitFor();
      await answers(page).getByText('openrouter/small-1').waitFor();
      assert.deepEqual(await env.api('GET', '/secrets'), [{ name: 'OPENROUTER_KEY' }]);
      const shown = await page.evaluate(() => document.documentElement.outerHTML + JSON.stringify(localStorage));
      assert.ok(!shown.includes(key), 'the key is nowhere on the page');
    });
  }

  test('less common services are one click or a few letters away', async () => {
    await reset();
    const page = await env.open('/system/models?connect=true');
    const services = page.getByRole('list', { name: 'Services' });
    await services.getByRole('button', { name: /^Anthropic/ }).waitFor();
    assert.equal(await services.getByRole('button', { name: /^Hugging Face/ }).count(), 0);
    await services.getByRole('button', { name: /^\d+ more services/ }).click();
    await expectFocus(page, 'Hugging Face With your key');
    assert.equal(await services.getByRole('button', { name: /more service/ }).count(), 0);
    await services.getByRole('button', { name: /^Qwen \(Alibaba/ }).click();
    await page.getByText('The address is that of Singapore.').waitFor();
    await button(page, '‹ All services').click();
    await expectFocus(page, 'Qwen (Alibaba Cloud) With your key');

    const search = page.getByRole('searchbox', { name: 'Search services' });
    await search.fill('ollama');
    await eventually(async () =>
      assert.deepEqual(await services.getByRole('button').allInnerTexts(), [
        'Ollama Cloud\nWith your key',
        'Ollama\nSelf-hosted',
        'Another service\nBy its address',
      ]),
    );
    await services.getByRole('button', { name: 'Ollama Self-hosted' }).click();
    await button(page, '‹ All services').click();
    await expectFocus(page, 'Ollama Self-hosted');
    await search.fill(' KIMI');
    await search.press('Enter');
    await page.getByRole('form', { name: 'Connect Moonshot AI (Kimi)' }).waitFor();
  });

  test('by keyboard alone a model is connected, another default chosen, and a message sent', async () => {
    await reset();
    const page = await env.open('/chats');
    await redirectToStub(page);
    await page.reload();
    const card = page.getByRole('list', { name: 'Services' }).getByRole('button', { name: /^OpenRouter/ });
    await card.waitFor();
    for (let i = 0; i < 80 && !(await card.evaluate((element) => element === document.activeElement)); i++)
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expectFocus(page, 'Key');
    await page.keyboard.type('sk-wrong');
    await env.backend.list_models({ models: 401 });
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText(/key/).waitFor();
    assert.deepEqual(await env.api('GET', '/secrets'), [], 'a refused key is not stored');
    await expectFocus(page, 'Key');
    await env.backend.list_models({ models: listed });
    await page.keyboard.press('Enter');
    await expectFocus(page, 'Use this model');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await expectFocus(page, 'Search models');
    await page.keyboard.type('large');
    await page.keyboard.press('Enter');
    await expectFocus(page, 'Default model: large-2');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expectFocus(page, 'Message');
    assert.equal((await env.api('GET', '/settings')).default_model, 'openrouter/large-2');
    await env.backend.reply({ text: 'Typed only.' });
    await page.keyboard.type('Hello');
    await page.keyboard.press('Enter');
    await answers(page).getByText('Typed only.').waitFor();
  });

  test('services found on this machine come first and need no key', async () => {
    await reset();
    const page = await env.newPage();
    await page.addInitScript((token) => localStorage.setItem('agw.token', JSON.stringify(token)), env.token);
    const definition = { kind: 'model', api: 'openai-chat', base_url: env.service };
    const entry = { context_window: null, max_output: null, vision: null, tools: null, prices: null };
    const found = [{ name: 'vllm', label: 'vLLM', definition, models: [{ id: 'small-1', ...entry }] }];
    await page.route('**/model-services/detect', (route) => route.fulfill({ json: found }));
    await page.goto(`${env.url}/ui/#/new`);
    const local = page.getByRole('list', { name: 'On this machine' });
    await local.getByRole('button', { name: 'vLLM On this machine, 1 model' }).click();
    await button(page, 'Use this model').click();
    await page.getByText('vLLM is connected.').waitFor();
    assert.equal((await env.api('GET', '/settings')).default_model, 'vllm/small-1');
    assert.deepEqual(await env.api('GET', '/secrets'), []);
  });

  test('a service is checked, gets another key, and is removed although an agent names it', async () => {
    await reset();
    await env.api('PUT', '/secrets/BENCH_KEY', { value: key });
    await service({ api_key: '${secret:BENCH_KEY}' });
    const member = { type: 'agent', description: 'd', enabled: true, name: 'namer' };
    await env.api('POST', '/extensions', { ...member, definition: { systemPrompt: 'x', model: 'bench/small-1' } });
    const page = await env.open('/system/models');
    await button(page, 'Check bench').click();
    await page.getByText('It works: 2 models.').waitFor();
    await env.backend.list_models({ models: 401 });
    await button(page, 'Change key of bench').click();
    await page.getByLabel('New key of bench').fill('sk-other');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText(/key/).waitFor();
    await button(page, 'Remove bench').click();
    await button(page, 'Remove').click();
    await page.getByText('namer use its models').waitFor();
    assert.ok(await env.api('GET', '/extensions/bench'));
    await button(page, 'Remove').click();
    await page.getByText('bench is removed.').waitFor();
    await eventually(async () =>
      assert.ok((await env.api('GET', '/extensions')).every(({ name }) => name !== 'bench')),
    );
    await button(page, 'Delete BENCH_KEY').click();
    await button(page, 'Delete').click();
    await page.getByText('No secrets are stored.').waitFor();
  });

  test('the picker shows prices and features of models, and a model is chosen there', async () => {
    await reset();
    const prices = { input: 3, output: 15 };
    const models = [{ id: 'large-2', context_window: 200000, vision: true, tools: true, prices }];
    await service({ models });
    const page = await env.open('/new');
    await message(page).fill('x');
    await page.getByRole('button', { name: /^Model: / }).click();
    const options = page.getByRole('listbox', { name: 'Models' }).getByRole('option');
    await options.getByText('200k context · $3 in, $15 out · pictures · tools').waitFor();
    await page.getByRole('combobox', { name: 'Search models' }).fill('pictures large');
    await eventually(async () => assert.equal(await options.count(), 1));
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Model: bench/large-2' }).waitFor();
    await env.backend.reply({ text: 'From the large one.' });
    await message(page).press('Enter');
    await answers(page).getByText('bench/large-2').waitFor();

    await page.evaluate(() => (location.hash = '#/agents/+new'));
    await page.getByRole('textbox', { name: /^Name/ }).fill('chooser');
    await page.getByRole('textbox', { name: 'Description' }).fill('d');
    await page
      .getByRole('textbox', { name: /systemPrompt|System prompt|Prompt/ })
      .first()
      .fill('x');
    assert.equal(await page.getByRole('textbox', { name: /^(Model|Fallback models)/ }).count(), 0);
    await page.getByRole('button', { name: 'Model: Default' }).click();
    await page.getByRole('option', { name: /^bench\/small-1/ }).click();
    await page.getByText('Advanced', { exact: true }).click();
    await page.getByRole('button', { name: 'Fallback models: Add a model' }).click();
    await page.getByRole('option', { name: /^bench\/large-2/ }).click();
    await button(page, 'Save').click();
    await page.getByText('Saved.').waitFor();
    const { definition } = await env.api('GET', '/extensions/chooser');
    assert.deepEqual([definition.model, definition.fallback_models], ['bench/small-1', ['bench/large-2']]);

    await page.evaluate(() => (location.hash = '#/system/models'));
    await page.getByRole('button', { name: /^Default model: / }).click();
    await page.getByRole('option', { name: /^bench\/large-2/ }).click();
    await eventually(async () =>
      assert.deepEqual(await env.api('GET', '/settings'), { default_model: 'bench/large-2', source: 'settings' }),
    );
  });

  test('fifty thousand models of a service are searched in the picker', async () => {
    await reset();
    await env.backend.list_models({
      models: Array.from({ length: 50_000 }, (_, number) => ({ id: `vendor-${number % 20}/model-${number}` })),
    });
    await service();
    const page = await env.open('/new');
    await page.getByRole('button', { name: /^Model: / }).click();
    await page.getByRole('combobox', { name: 'Search models' }).fill('model-49321');
    const options = page.getByRole('listbox', { name: 'Models' }).getByRole('option');
    await options.getByText('bench/vendor-1/model-49321').waitFor();
    assert.equal(await options.count(), 1);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Model: bench/vendor-1/model-49321' }).waitFor();
  });

  test('names of models cannot reorder or hide text in the list', async () => {
    await reset();
    await env.backend.list_models({ models: [{ id: 'a\u202Egnp.exe' }, { id: '<img src=x onerror=alert(1)>' }] });
    await service();
    const page = await env.open('/system/models');
    await page.getByText('bench/a⟨U+202E⟩gnp.exe', { exact: true }).waitFor();
    await page.getByText('bench/<img src=x onerror=alert(1)>').waitFor();
    assert.equal(await page.locator('img[src=x]').count(), 0);
  });

  test('the costs include the savings by caches', async () => {
    const page = await env.newPage();
    await page.addInitScript((token) => localStorage.setItem('agw.token', JSON.stringify(token)), env.token);
    await page.route('**/costs?*', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), saved: 1.25 } });
    });
    await page.goto(`${env.url}/ui/#/costs?period=week`);
    await page.getByText('Prompt caches saved $1.25 in 7 days.').waitFor();
  });

  for (const [size, viewport] of sizes) {
    test(`connecting and choosing models is accessible: ${size}`, async () => {
      await reset();
      const page = await env.open('/new', { viewport, bypassCSP: true, reducedMotion: 'reduce' });
      await redirectToStub(page);
      await page.reload();
      await page.getByRole('list', { name: 'Services' }).waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: /^OpenRouter/ }).click();
      await page.getByText('Address, name and further models').click();
      await page.getByLabel('Key').fill(key);
      await expectAccessible(page);
      await button(page, 'Check').click();
      await button(page, 'Use this model').waitFor();
      await expectAccessible(page);
      await page.getByRole('button', { name: /^Default model: / }).click();
      await page.getByRole('listbox', { name: 'Models' }).waitFor();
      await expectAccessible(page);
      await page.keyboard.press('Escape');
      await service({ api_key: '${secret:BENCH_KEY}' });
      await page.evaluate(() => (location.hash = '#/system/models?connect=true'));
      await page.getByRole('heading', { name: 'Secrets' }).waitFor();
      await button(page, 'Check bench').waitFor();
      await page.waitForLoadState('networkidle');
      await expectAccessible(page);
      assert.equal(
        await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
        0,
      );
    });
  }
}
