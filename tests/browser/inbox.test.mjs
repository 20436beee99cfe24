import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { eventually, holdRequests, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  async function addProposal(
    name,
    { title = name, target = `knowledge/wiki/${name}.md`, content = '# New\n\nText.\n' } = {},
  ) {
    const head = `---\ntitle: ${title}\ntype: knowledge\nagent: assistant\ntarget: ${target}\nstatus: pending\ncreated_at: 2026-01-02T03:04:05.678Z\nreason: It was missing.\n---\n`;
    await env.backend.write({
      path: `.agent-gateway/autoresearch/proposals/assistant/2026-01-02/${name}.md`,
      text: head + content,
    });
  }

  test('a proposal is read as a diff and applied from the inbox', async () => {
    await addProposal('first');
    const page = await env.open('/inbox');
    await page.getByText('It was missing.').waitFor();
    await page.getByText('+added# New').or(page.getByText('# New')).first().waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await eventually(() =>
      assert.equal(readFileSync(`${env.data}/knowledge/wiki/first.md`, 'utf8').includes('# New'), true),
    );
    await page.getByText('Your inbox is empty').waitFor();
  });

  test('decided proposals are listed, and an applied change is reverted', async () => {
    await env.backend.write({ path: '.agent-gateway/knowledge/wiki/river.md', text: '# River\n\nOld.\n' });
    await addProposal('river', { title: 'A better river', content: '# River\n\nNew.\n' });
    const page = await env.open('/inbox/assistant/2026-01-02/river');
    const file = `${env.data}/knowledge/wiki/river.md`;
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await eventually(() => assert.match(readFileSync(file, 'utf8'), /New/));
    await page.getByRole('button', { name: 'Undo A better river' }).click();
    await eventually(() => assert.match(readFileSync(file, 'utf8'), /Old/));
    await page.getByRole('region', { name: 'Decided' }).getByText('Undo: A better river').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Undo A better river' }).count(), 0);
  });

  test('a change is not reverted over a later one', async () => {
    await env.backend.write({ path: '.agent-gateway/knowledge/wiki/lake.md', text: '# Lake\n\nOld.\n' });
    await addProposal('lake', { title: 'A better lake', content: '# Lake\n\nNew.\n' });
    const page = await env.open('/inbox/assistant/2026-01-02/lake');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    const undo = page.getByRole('button', { name: 'Undo A better lake' });
    await undo.waitFor();
    await env.backend.write({ path: '.agent-gateway/knowledge/wiki/lake.md', text: '# Lake\n\nMine.\n' });
    await undo.click();
    await page.getByText('The file was changed since').waitFor();
    assert.match(readFileSync(`${env.data}/knowledge/wiki/lake.md`, 'utf8'), /Mine/);
  });

  test('one click rejects a proposal, which can be proposed again', async () => {
    await addProposal('pond', { title: 'A pond', content: '# Pond\n' });
    const page = await env.open('/inbox/assistant/2026-01-02/pond');
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('button', { name: 'Propose again: A pond' }).click();
    await page.getByRole('list', { name: 'Proposals, oldest first' }).getByText('A pond').waitFor();
    for (const { agent, date, name, title } of await env.api('GET', '/proposals'))
      if (title === 'A pond') await env.api('POST', `/proposals/${agent}/${date}/${name}/reject`, {});
  });

  test('an applied proposal keeps its title and its changes', async () => {
    await addProposal('kept', { title: 'A page about otters', content: '# Otters\n' });
    const page = await env.open('/inbox/assistant/2026-01-02/kept');
    await page.getByRole('heading', { name: 'A page about otters' }).waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Applied.').first().waitFor();
    await page.getByRole('heading', { name: 'A page about otters' }).waitFor();
    await page.getByText('# Otters').first().waitFor();
    assert.equal(await page.getByText('Nothing changes.').count(), 0);
    await page.reload();
    await page.getByRole('heading', { name: 'A page about otters' }).waitFor();
    await page.getByText('# Otters').first().waitFor();
    assert.equal(await page.getByText('Nothing changes.').count(), 0);
  });

  test('a proposal is edited before it is applied', async () => {
    await addProposal('second');
    const page = await env.open('/inbox');
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await page.getByRole('textbox', { name: 'New content' }).fill('# Better\n');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await eventually(() => assert.match(readFileSync(`${env.data}/knowledge/wiki/second.md`, 'utf8'), /# Better/));
  });

  test('a proposal is rejected with a reason, by keyboard only', async () => {
    await addProposal('third');
    await addProposal('fourth');
    const page = await env.open('/inbox');
    const rows = page.getByRole('list', { name: /Proposals/ }).getByRole('button');
    await rows.first().focus();
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('r');
    await page.keyboard.type('not now');
    await page.keyboard.press('Enter');
    await eventually(async () => assert.equal(await rows.count(), 1));
    const [experiment] = await env.api('GET', '/autoresearch/experiments?limit=1');
    assert.deepEqual([experiment.verdict, experiment.reason], ['discard', 'not now']);
    assert.equal(
      existsSync(`${env.data}/knowledge/wiki/third.md`) && existsSync(`${env.data}/knowledge/wiki/fourth.md`),
      false,
    );
  });

  test('text typed after r becomes the reason although the proposal is still loading', async () => {
    await addProposal('slow');
    const page = await env.open();
    const reading = await holdRequests(page, '**/proposals/assistant/2026-01-02/slow');
    await page.goto(`${env.proxy.url}/ui/#/inbox/assistant/2026-01-02/slow`);
    await page
      .getByRole('list', { name: /Proposals/ })
      .getByRole('button', { name: /slow/ })
      .focus();
    await page.keyboard.press('r');
    await page.keyboard.type('a jarring idea');
    await reading.requested();
    await reading.release();
    await page.getByText('It was missing.').waitFor();
    await page.keyboard.press('Enter');
    await eventually(async () => {
      const [experiment] = await env.api('GET', '/autoresearch/experiments?limit=1');
      assert.deepEqual([experiment.verdict, experiment.reason], ['discard', 'a jarring idea']);
    });
  });

  test('the proposal in the address is not loaded twice while the list is loading', async () => {
    await addProposal('steady');
    const page = await env.open();
    let reads = 0;
    page.on('request', (request) => (reads += request.url().endsWith('/2026-01-02/steady')));
    const listing = await holdRequests(page, /\/proposals(\?|$)/);
    await page.goto(`${env.proxy.url}/ui/#/inbox/assistant/2026-01-02/steady`);
    await listing.requested();
    assert.equal(await page.getByText('It was missing.').count(), 0);
    await listing.release();
    await page.getByText('It was missing.').waitFor();
    assert.equal(reads, 1);
    await env.api('POST', '/proposals/assistant/2026-01-02/steady/reject', {});
  });

  test('comments on lines of a proposal become part of the reason', async () => {
    await addProposal('commented');
    const page = await env.open('/inbox/assistant/2026-01-02/commented');
    await page.getByRole('button', { name: 'Comment on line 1' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.type('Which text?');
    await page.keyboard.press('Enter');
    await page.getByRole('list', { name: 'Comments' }).getByText('line 3: Text. — Which text?').waitFor();
    await page.getByRole('textbox', { name: /^Reason/ }).fill('Too short');
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('region', { name: 'Decided proposal' }).getByText('Rejected.').waitFor();
    const [experiment] = await env.api('GET', '/autoresearch/experiments?limit=1');
    assert.equal(experiment.reason, 'Too short\nline 3: Text. — Which text?');
  });

  test('a reason being typed stays when the proposal is decided elsewhere', async () => {
    await addProposal('contested');
    const page = await env.open('/inbox');
    await page.getByRole('button', { name: 'contested' }).click();
    await page.getByRole('textbox', { name: /^Reason/ }).fill('It repeats itself');
    await env.api('POST', '/proposals/assistant/2026-01-02/contested/apply', {});
    const decided = page.getByRole('region', { name: 'Decided proposal' });
    await decided.getByText('It was decided elsewhere, without what you wrote:').waitFor();
    await decided.getByText('It repeats itself').waitFor();
  });

  test('a decision made elsewhere is reported calmly', async () => {
    await env
      .api('GET', '/proposals')
      .then((all) =>
        Promise.all(
          all.map(({ agent, date, name }) => env.api('POST', `/proposals/${agent}/${date}/${name}/reject`, {})),
        ),
      );
    await addProposal('fifth');
    const page = await env.open('/inbox');
    await page.getByRole('button', { name: 'Apply', exact: true }).waitFor();
    await page.route('**/apply', async (route) => {
      await env.api('POST', '/proposals/assistant/2026-01-02/fifth/reject', {});
      await route.continue();
    });
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText(/Nothing to do: proposal already rejected/).waitFor();
  });

  test('a chosen proposal is in view however many there are', async () => {
    for (let i = 10; i < 50; i++) await addProposal(`many-${i}`, { title: `Number ${i}` });
    for (const viewport of [undefined, { width: 390, height: 844 }]) {
      const page = await env.open('/inbox', viewport && { viewport, hasTouch: true });
      await page.getByRole('button', { name: 'Number 45' }).click();
      const heading = page.getByRole('heading', { level: 2, name: 'Number 45' });
      await heading.waitFor();
      assert.equal(await heading.evaluate((h2) => h2.getBoundingClientRect().bottom < innerHeight - 60), true);
      assert.equal(await heading.evaluate((h2) => h2.getBoundingClientRect().top > 0), true);
    }
  });

  test('a response that arrives late does not hide a proposal that came since', async () => {
    const page = await env.open('/inbox');
    await page.getByRole('region', { name: 'Decided' }).waitFor();
    const propose = (title) =>
      env.api('POST', '/propose', {
        agent: 'assistant',
        type: 'knowledge',
        title,
        target: `knowledge/wiki/${title.toLowerCase()}.md`,
        content: '# New\n',
      });
    let release;
    const released = new Promise((resolve) => (release = resolve));
    let isRead = false;
    const hold = async (route) => {
      const response = await route.fetch();
      isRead = true;
      await released;
      await route.fulfill({ response });
    };
    await page.route('**/proposals', hold, { times: 1 });
    await propose('Earlier');
    await eventually(() => assert.ok(isRead));
    await propose('Later');
    const list = page.getByRole('list', { name: 'Proposals, oldest first' });
    await list.getByText('Later').waitFor();
    const late = page.waitForResponse('**/proposals');
    release();
    await late;
    await page.evaluate(() => new Promise(requestAnimationFrame));
    assert.equal(await list.getByText('Later').count(), 1);
  });
}
