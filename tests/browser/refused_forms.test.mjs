// Forms that are refused, by the browser or by the gateway, and forms that are sent twice.
import assert from 'node:assert/strict';
import test from 'node:test';
import { choose, eventually, holdRequests, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const button = (page, name) => page.getByRole('button', { name, exact: true });
  const isFocused = (field) => eventually(async () => assert.ok(await field.evaluate((box) => box.matches(':focus'))));

  test('a refused form focuses the field that is wrong', async () => {
    const page = await env.open('/agents/+new');
    await page.getByRole('textbox', { name: 'Name' }).first().fill('assistant');
    await page.getByRole('textbox', { name: 'Description' }).first().fill('d');
    await button(page, 'Save').click();
    await page.getByText('This name is taken.').first().waitFor();
    await isFocused(page.getByRole('textbox', { name: 'Name' }).first());
    await page.goto(`${env.proxy.url}/ui/#/system/settings`);
    const days = page.getByLabel('retention.days', { exact: true });
    await days.fill('0');
    await button(page, 'Save').click();
    await page.getByRole('alert').waitFor();
    await isFocused(days);
  });

  test('a wrong field that is folded away is unfolded and focused', async () => {
    const page = await env.open('/system/models?connect=true');
    await page.getByRole('button', { name: 'Another service' }).click();
    const fold = page.getByText('Address, name and further models');
    await page.getByLabel('Address', { exact: true }).fill('http://127.0.0.1:1/v1');
    for (const [label, wrong, right] of [
      ['Name, which begins the names of its models', 'Two words', 'words'],
      ['Address', '', 'http://127.0.0.1:1/v1'],
    ]) {
      const field = page.getByLabel(label);
      await field.fill(wrong);
      await fold.click();
      await field.waitFor({ state: 'hidden' });
      await page.keyboard.press('Tab');
      await page.getByRole('form').getByRole('button', { name: 'Check' }).click();
      await isFocused(field);
      await field.fill(right);
    }
  });

  test('a form that is submitted twice is sent once', async () => {
    const page = await env.open('/system/models');
    const sent = [];
    page.on('request', (request) => request.method() === 'GET' || sent.push(request.url()));
    const submitTwice = async (name, path) => {
      const requests = await holdRequests(page, path);
      await button(page, name).click();
      await requests.requested();
      await button(page, name).click({ force: true });
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
      await requests.release();
    };
    await page.getByLabel('Name', { exact: true }).fill('MY_KEY');
    await page.getByLabel('Value', { exact: true }).fill('secret');
    await submitTwice('Store secret', '**/secrets/MY_KEY');
    await page.getByText('MY_KEY is stored.').waitFor();
    assert.equal(sent.splice(0).length, 1);
    await page.goto(`${env.proxy.url}/ui/#/system/channels`);
    await page.getByLabel('The six digits that somebody was sent').fill('000000');
    await submitTwice('Let them in', '**/channels/pair');
    await page.getByText('code not found').waitFor();
    assert.equal(sent.splice(0).length, 1);
    await page.goto(`${env.proxy.url}/ui/#/agents/assistant`);
    await choose(page.getByRole('combobox', { name: 'Change to' }), 'operator');
    await page.getByLabel('Reason').fill('It works well.');
    await submitTwice('Change stage', '**/agents/assistant/stage');
    await page.getByText('Stage: operator').waitFor();
    assert.equal(sent.filter((url) => url.endsWith('/stage')).length, 1);
  });
}
