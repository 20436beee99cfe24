import assert from 'node:assert/strict';
import test from 'node:test';
import { eventually, missing, withStage } from './stage.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const it = withStage();

  /** As when the page is looked at again, which it does by itself now and then. */
  const look = (page) => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));

  test('a soul that is changed elsewhere changes here, when the page is looked at again', async () => {
    await it.api('PUT', '/soul', { content: 'Be calm.' });
    const page = await it.open('/agents');
    const soul = page.getByRole('textbox', { name: 'Soul' });
    await eventually(async () => assert.equal(await soul.inputValue(), 'Be calm.'));
    await it.api('PUT', '/soul', { content: 'Be brief.' });
    await look(page);
    await eventually(async () => assert.equal(await soul.inputValue(), 'Be brief.'));
  });

  test('a soul that is changed elsewhere takes nothing from what is written, and is asked about', async () => {
    await it.api('PUT', '/soul', { content: 'Be calm.' });
    const page = await it.open('/agents');
    const soul = page.getByRole('textbox', { name: 'Soul' });
    await eventually(async () => assert.equal(await soul.inputValue(), 'Be calm.'));
    await soul.fill('Be mine.');
    await it.api('PUT', '/soul', { content: 'Be theirs.' });
    const read = page.waitForResponse('**/soul');
    await look(page);
    await read;
    await soul.press('End');
    await soul.pressSequentially(' Always.');
    assert.equal(await soul.inputValue(), 'Be mine. Always.');
    await page.getByRole('button', { name: 'Save soul' }).click();
    const changed = page.getByRole('region', { name: 'Changed meanwhile' });
    await changed.getByText('Be theirs.').waitFor();
    assert.equal((await it.api('GET', '/soul')).content, 'Be theirs.');
  });

  test('what an agent is told is shown as it is by now', async () => {
    await it.api('PUT', '/soul', { content: 'Be calm.' });
    const { id } = await it.api('POST', '/extensions', { type: 'agent', name: 'told', description: 'd', enabled: true, definition: { systemPrompt: 'Once.' } });
    const page = await it.open('/agents/told?tab=prompt');
    const soul = page.locator('details').filter({ hasText: 'Be calm.' });
    await soul.locator('summary').click();
    await it.api('PUT', '/soul', { content: 'Be brief.' });
    await look(page);
    await page.locator('details[open]').getByText('Be brief.').waitFor();
    await it.api('PATCH', `/extensions/${id}`, { definition: { systemPrompt: 'From now on.' } });
    await page.getByText('From now on.').waitFor({ state: 'attached' });
  });

  test('the briefing tells a signal as it comes', async () => {
    const page = await it.open('/system');
    const briefing = page.getByRole('region', { name: 'Briefing' });
    await briefing.getByRole('paragraph').first().waitFor();
    await it.api('POST', '/signals', { kind: 'smoke', message: 'There is smoke', severity: 'warning' });
    await briefing.getByText('There is smoke').waitFor();
  });
}
