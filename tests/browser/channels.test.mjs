// Connecting messengers, and admitting people who write to them.
import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, missing, withGateway, choose } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const stranger = 43;

  test('a messenger is connected with a form, and a stranger is admitted with a code', async () => {
    const { url, token } = await env.backend.start_telegram();
    const page = await env.open('/system');
    await page.getByRole('link', { name: 'Connect a messenger' }).click();
    const form = page.getByRole('form', { name: 'Connect a messenger' });
    await form.getByLabel('Token of the bot').fill(token);
    // Rarely used fields are hidden.
    assert.ok(await form.getByLabel('Server', { exact: true }).isHidden());
    await form.getByText('Advanced').click();
    await form.getByLabel('Server', { exact: true }).fill(url);
    await choose(form.getByLabel('Unfinished answers'), 'Not shown');
    await form.getByLabel('A job has failed').check();
    await form.getByRole('button', { name: 'Connect' }).click();
    await page.getByText('connected', { exact: true }).waitFor();
    const [created] = await env.api('GET', '/extensions?type=integration');
    const definition = { kind: 'channel', service: 'telegram', token: '${secret:TELEGRAM_TOKEN}', address: url };
    assert.deepEqual(created.definition, {
      ...definition,
      agent_id: 'assistant',
      pairing: true,
      stream: 'off',
      notify: ['job.failed'],
    });
    assert.ok(!(await page.content()).includes(token));

    await env.backend.say_in_telegram({ sender: stranger, text: 'Hello?' });
    const [code] = (await env.backend.text_in_telegram({ part: 'does not know you' })).match(/\d{6}/);
    await page.getByLabel('The six digits that somebody was sent').fill(code);
    await page.getByRole('button', { name: 'Let them in' }).click();
    await page.getByText('is answered in telegram from now on').waitFor();
    await env.backend.text_in_telegram({ part: 'You are known now.' });
    await eventually(async () => {
      const [changed] = await env.api('GET', '/extensions?type=integration');
      assert.deepEqual(changed.definition.allow, [String(stranger)]);
    });
  });

  test('what was typed for a messenger is kept until it is connected, except for its secret', async () => {
    const page = await env.open('/system/channels?connect=true');
    const form = (tab) => tab.getByRole('form', { name: 'Connect a messenger' });
    const other = await page.context().newPage();
    await other.goto(page.url());
    await form(other).waitFor();
    await choose(form(page).getByLabel('Messenger'), 'Matrix');
    await form(page).getByLabel('Server', { exact: true }).fill('https://matrix.example.org');
    await form(page).getByLabel('Access token of the account').fill('secret-of-an-account');
    await form(page).getByLabel('People who are answered').fill('@ann:example.org');
    await eventually(async () =>
      assert.equal(await form(other).getByLabel('People who are answered').inputValue(), '@ann:example.org'),
    );
    await page.reload();
    assert.equal(await form(page).getByLabel('Server', { exact: true }).inputValue(), 'https://matrix.example.org');
    assert.equal(await form(page).getByLabel('People who are answered').inputValue(), '@ann:example.org');
    assert.equal(await form(page).getByLabel('Access token of the account').inputValue(), '');
    assert.ok(!(await page.evaluate(() => JSON.stringify(localStorage))).includes('secret-of-an-account'));
  });

  test('an unknown code and an unreachable server are reported', async () => {
    const page = await env.open('/system/channels?connect=true');
    await page.getByLabel('The six digits that somebody was sent').fill('000000');
    await page.getByRole('button', { name: 'Let them in' }).click();
    await page.getByText('code not found').waitFor();
    const form = page.getByRole('form', { name: 'Connect a messenger' });
    await choose(form.getByLabel('Messenger'), 'XMPP');
    await form.getByLabel('Account', { exact: true }).fill('agent');
    await form.getByLabel('Password of the account').fill('secret');
    await form.getByRole('button', { name: 'Connect' }).click();
    await form.getByRole('alert').getByText('must be an address such as name@example.org').waitFor();
    assert.ok(!(await env.api('GET', '/secrets')).some(({ name }) => name === 'XMPP_TOKEN'));
  });
}
