import assert from 'node:assert/strict';
import { text as readAll } from 'node:stream/consumers';
import test from 'node:test';
import { answers, eventually, missing, questions, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const more = (page) => page.getByRole('button', { name: 'More', exact: true });
  const item = (page, name) => page.getByRole('menuitem', { name, exact: true });

  async function chat() {
    await env.api('PUT', '/secrets/KEY', { value: 'hunter2-and-more' });
    const turns = [
      { key: '1', role: 'user', content: 'My key is hunter2-and-more.\n<script>alert(1)</script>' },
      { key: '2', role: 'tool', content: 'the contents', metadata: { tool_name: 'Read', input: { path: 'diary' } } },
      { key: '3', role: 'assistant', content: 'Water it **well**.\n\n- [x] roses\n\n```js\nlet x = 1;\n```\n' },
    ];
    const { threads } = await env.api('POST', '/import', {
      source: 'sharing',
      threads: [{ key: `${Math.random()}`, title: 'A garden', turns }],
    });
    const page = await env.open(`/t/${threads[0].id}`);
    await answers(page).first().waitFor();
    return page;
  }

  test('a chat is shared as a page without scripts, secrets and the results of tools', async () => {
    const page = await chat();
    await more(page).click();
    const [saved] = await Promise.all([page.waitForEvent('download'), item(page, 'Share as a file').click()]);
    assert.equal(saved.suggestedFilename(), 'A garden.html');
    const text = await readAll(await saved.createReadStream());
    for (const secret of ['hunter2-and-more', 'diary', 'the contents', env.token, '<script', '<button'])
      assert.ok(!text.includes(secret), secret);
    await page.getByText('Read it before you pass it on.').waitFor();

    const other = await env.newPage();
    await other.setContent(text);
    await other.getByRole('heading', { name: 'A garden' }).waitFor();
    await other.getByText('My key is [secret].').waitFor();
    await other.getByText('Tools that were used: Read').waitFor();
    await other.locator('strong', { hasText: 'well' }).waitFor();
    await other.getByText('☑ roses').waitFor();
    await other.locator('pre', { hasText: 'let x = 1;' }).waitFor();
  });

  test('formulas and diagrams are drawn in the file, without a script', async () => {
    const diagram = '```mermaid\nflowchart TD\n  rain --> roses\n```\n';
    const content = `Here $a_1$ and\n\n$$\\frac{x}{2}$$\n\n\`\`\`math\n\\sqrt{y}\n\`\`\`\n\n${diagram}\n\`\`\`mermaid\nno such\n\`\`\`\n`;
    const page = await env.open(`/t/${await env.threadWith({ role: 'assistant', content })}`);
    await answers(page).waitFor();
    await more(page).click();
    const [saved] = await Promise.all([page.waitForEvent('download'), item(page, 'Share as a file').click()]);
    const text = await readAll(await saved.createReadStream());
    for (const unsafe of ['<script', '<button', ' onload', 'class="tml']) assert.ok(!text.includes(unsafe), unsafe);

    const other = await env.newPage();
    await other.setContent(text);
    for (const drawn of ['msub', 'math[display=block] mfrac', 'msqrt'])
      await other.locator(drawn).waitFor({ state: 'attached' });
    const picture = other.locator('img');
    await picture.waitFor();
    await eventually(async () => assert.ok(await picture.evaluate((image) => image.naturalWidth > 0)));
    assert.equal(await other.getByText('rain --> roses').isVisible(), false);
    await other.locator('summary').click();
    await other.getByText('rain --> roses').waitFor();
    await other.getByText('no such').waitFor();
  });

  test('the file sends nothing, and its formulas keep only attributes that draw them', async () => {
    const content = '$\\mathllap{x}$ and $\\color{red}y$\n\n$$\\begin{aligned}a &= b\\\\ c &= d\\end{aligned}$$\n';
    const page = await env.open(`/t/${await env.threadWith({ role: 'assistant', content })}`);
    await answers(page).waitFor();
    await more(page).click();
    const [saved] = await Promise.all([page.waitForEvent('download'), item(page, 'Share as a file').click()]);
    const text = await readAll(await saved.createReadStream());
    assert.match(text, /<meta [^>]*base-uri 'none'; form-action 'none'"/);
    assert.match(text, /<mpadded[^>]* lspace="-1width"/);
    assert.match(text, /<mtd[^>]* style="[^"]*padding-left/);
    assert.doesNotMatch(text, /<m[^>]*\s(?:position|id|class|data-[a-z]+)\s*[:=]/);
  });

  test('formulas that are not drawn do not delay the file', async () => {
    // Each of these answers used to take ten seconds.
    const answer = { role: 'assistant', content: 'A picture: ![of $x$ and $y$](https://example.org/x.png)' };
    const drawn = { role: 'assistant', content: 'And $z$.' };
    const page = await env.open(`/t/${await env.threadWith(...Array(8).fill(answer), drawn)}`);
    await answers(page).first().waitFor();
    await more(page).click();
    const [saved] = await Promise.all([page.waitForEvent('download'), item(page, 'Share as a file').click()]);
    const text = await readAll(await saved.createReadStream());
    assert.equal(text.match(/Image, not loaded: of/g).length, 8);
    assert.equal(text.match(/<math/g).length, 1);
  });

  test('a line of 60,000 characters is shown in pieces, and shared', async () => {
    // Such a line was never shown, and sharing it blocked the page.
    const content = `Here:\n\n\`\`\`\n${'long '.repeat(12_000)}end\n\`\`\`\n`;
    const page = await env.open(`/t/${await env.threadWith({ role: 'assistant', content })}`);
    await answers(page).getByText('long long').first().waitFor();
    await answers(page).getByRole('button', { name: 'Show more' }).click();
    await eventually(async () => assert.ok((await answers(page).textContent()).length > 25_000));
    await more(page).click();
    const [saved] = await Promise.all([page.waitForEvent('download'), item(page, 'Share as a file').click()]);
    assert.match(await readAll(await saved.createReadStream()), /long end/);
  });

  test('the menu scrolls within a low page', async () => {
    const page = await env.open(`/t/${await env.threadWith({ role: 'user', content: 'Hello' })}`, {
      viewport: { width: 360, height: 330 },
      hasTouch: true,
    });
    await page.getByRole('button', { name: 'More', exact: true }).click();
    const last = page.getByRole('menuitemradio').last();
    await last.scrollIntoViewIfNeeded();
    const { y, height } = await last.boundingBox();
    assert.ok(y + height <= 330);
    assert.equal(await page.evaluate(() => document.documentElement.scrollHeight), 330);
  });

  test('the menu is used by keyboard, and restores the focus', async () => {
    const page = await chat();
    await more(page).press('Enter');
    const focused = (name) =>
      eventually(async () => assert.ok(await item(page, name).evaluate((one) => one === document.activeElement)));
    await focused('Keep it beside');
    await page.keyboard.press('ArrowDown');
    await focused('Share as a file');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowDown');
    await focused('Keep it beside');
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await eventually(async () => assert.ok(await more(page).evaluate((one) => one === document.activeElement)));
  });

  test('a chat is printed without the rest of the page', async () => {
    const page = await chat();
    await page.evaluate(() => (window.print = () => (window.printed = true)));
    await more(page).click();
    await item(page, 'Print…').click();
    await page.waitForFunction(() => window.printed);
    await page.emulateMedia({ media: 'print' });
    await eventually(async () => assert.equal(await page.getByRole('navigation').first().isVisible(), false));
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).isVisible(), false);
    assert.ok(await questions(page).isVisible());
    assert.ok(
      await page.evaluate(() => getComputedStyle(document.querySelector('[role=log]')).overflowY === 'visible'),
    );
  });

  test('a table that is too wide for the paper is printed with all its columns', async () => {
    const row = (word) => `| ${Array.from({ length: 12 }, (_, i) => `${word}${i}`).join(' | ')} |\n`;
    const content = row('Columnheading') + row('-').replaceAll(/\d/g, '') + row('Wordwordword');
    const page = await env.open(`/t/${await env.threadWith({ role: 'assistant', content })}`);
    await answers(page).getByRole('table').waitFor();
    await page.setViewportSize({ width: 720, height: 1000 });
    await page.emulateMedia({ media: 'print' });
    await eventually(async () => {
      const box = await answers(page).getByRole('cell', { name: 'Wordwordword11' }).boundingBox();
      assert.ok(box.x + box.width <= 720, `the last column ends at ${box.x + box.width} px`);
    });
  });

  test('a chat is marked with a color in the list, which the browser remembers', async () => {
    const page = await chat();
    const colors = page.getByRole('group', { name: 'Color in the list' });
    const row = page.locator('li.current .title');
    await more(page).click();
    await colors.getByRole('menuitemradio', { name: 'Green' }).click();
    await row.getByText('●').waitFor();
    await page.reload();
    await row.getByText('●').waitFor();
    await more(page).click();
    assert.equal(await colors.getByRole('menuitemradio', { name: 'Green' }).getAttribute('aria-checked'), 'true');
    await colors.getByRole('menuitemradio', { name: 'None' }).click();
    await row.getByText('●').waitFor({ state: 'detached' });
  });
}
