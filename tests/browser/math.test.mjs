import assert from 'node:assert/strict';
import test from 'node:test';
import { answers, eventually, measureWork, message, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  async function answer(content) {
    const id = await env.threadWith({ role: 'user', content: 'Explain' }, { role: 'assistant', content });
    return env.open(`/t/${id}`);
  }

  test('formulas are drawn as MathML, and their code is loaded with the first one', async () => {
    const requested = [];
    const page = await env.open('/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    page.on('request', (request) => requested.push(request.url()));
    const plain = await env.threadWith({ role: 'assistant', content: 'It costs $5 and $10.' });
    await page.evaluate((hash) => (location.hash = hash), `#/t/${plain}`);
    await answers(page).getByText('It costs $5 and $10.').waitFor();
    assert.ok(!requested.some((url) => url.includes('Formula')));
    const id = await env.threadWith({
      role: 'assistant',
      content: 'The depth is $h \\le \\log_2 n$, so \\(O(\\log n)\\):\n\n$$\n\\sum_{i=1}^n i = \\frac{n(n+1)}{2}\n$$\n',
    });
    await page.evaluate((hash) => (location.hash = hash), `#/t/${id}`);
    await eventually(async () => assert.equal(await answers(page).locator('math').count(), 3));
    assert.ok(requested.some((url) => url.includes('Formula')));
    assert.equal(await answers(page).locator('math mfrac').count(), 1);
    assert.equal(await answers(page).locator('math[display=block]').count(), 1);
    const { height } = await answers(page).locator('math mfrac').boundingBox();
    assert.ok(height > 20, `${height} px`);
  });

  test('an invalid formula is shown as source', async () => {
    const page = await answer('Wrong: $\\frac{1}{$ and right: $x^2$');
    await answers(page).locator('math').first().waitFor();
    await answers(page).getByText('\\frac{1}{').waitFor();
    assert.equal(await answers(page).locator('math').count(), 1);
  });

  test('hostile formulas run no code, load nothing and take bounded work', async () => {
    const bomb = '\\def\\a{\\b\\b}\\def\\b{\\c\\c}\\def\\c{\\d\\d}\\def\\d{\\a\\a}\\a';
    const deep = '{'.repeat(1900) + 'x' + '}'.repeat(1900);
    const link = '\\href{javascript:window.bad=1}{y}\\includegraphics{https://example.com/x.png}';
    const requested = [];
    const page = await env.open('/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    page.on('request', (request) => requested.push(request.url()));
    const id = await env.threadWith({
      role: 'assistant',
      content: `$$${bomb}$$\n\n$$${deep}$$\n\n$$${link}$$\n\n${'$x^2$ '.repeat(400)}\n\nThe end.`,
    });
    const work = await measureWork(page);
    await page.evaluate((hash) => (location.hash = hash), `#/t/${id}`);
    await answers(page).getByText('The end.').waitFor();
    await eventually(async () => assert.ok((await answers(page).locator('math').count()) >= 400));
    await message(page).fill('still alive');
    const took = await work();
    console.log(`# hostile formulas: ${took} ms of work`);
    assert.ok(took < 6000, `${took} ms`);
    assert.equal(await answers(page).locator('math a, math img, mglyph, [href^="javascript"]').count(), 0);
    assert.equal(await page.evaluate(() => window.bad), undefined);
    assert.ok(requested.every((url) => url.startsWith(env.proxy.url)));
  });
}
