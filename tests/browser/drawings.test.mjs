// Diagrams and formulas in the panel next to a chat.
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { answers, eventually, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const diagram = (text) => `See:\n\n\`\`\`mermaid\n${text}\n\`\`\`\n`;
  const flow = 'flowchart LR\n  accTitle: How it goes\n  A[Question] --> B{Known?}\n  B -->|yes| C[Answer]';
  const formula = '$$\n\\sum_{i=1}^n i = \\frac{n(n+1)}{2}\n$$\n';

  async function chatWith(...contents) {
    const id = await env.threadWith(...contents.map((content) => ({ role: 'assistant', content })));
    const page = await env.open(`/t/${id}`);
    await answers(page).last().waitFor();
    return page;
  }
  const panel = (page) => page.getByRole('region', { name: 'Artifact' });
  const open = (page) => answers(page).last().getByRole('button', { name: 'Open', exact: true });
  const press = (page, name) => panel(page).getByRole('button', { name, exact: true }).click();
  const widthOf = async (shown) => (await shown.boundingBox()).width;
  const saveArtifact = async (page) => {
    const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Save artifact')]);
    return { name: download.suggestedFilename(), text: await text(await download.createReadStream()) };
  };

  test('a diagram is shown next to the chat, with its versions, and can be enlarged', async () => {
    const page = await chatWith(diagram('flowchart LR\n  A[First] --> B[Draft]'), diagram(flow));
    await open(page).click();
    await panel(page).getByRole('heading', { name: 'How it goes' }).waitFor();
    await panel(page).getByText('2 of 2').waitFor();
    const picture = panel(page).getByRole('img', { name: 'How it goes' });
    await picture.waitFor();
    const fits = await widthOf(picture);
    const box = panel(page).getByRole('region', { name: 'Enlarged diagram' });
    const room = await widthOf(box);
    assert.ok(fits <= room && fits > 100, `${fits} of ${room} px`);

    await press(page, 'Larger');
    await panel(page).getByRole('button', { name: '125%' }).waitFor();
    await eventually(async () => assert.ok(Math.abs((await widthOf(picture)) - fits * 1.25) < 2));
    await box.focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press('+');
    await panel(page).getByText('400%').waitFor();
    // The centre of the view stays the same.
    await eventually(async () => {
      const { scrollLeft, scrollWidth, clientWidth } = await box.evaluate((element) => ({
        scrollLeft: element.scrollLeft,
        scrollWidth: element.scrollWidth,
        clientWidth: element.clientWidth,
      }));
      const middle = (scrollLeft + clientWidth / 2) / scrollWidth;
      assert.ok(scrollWidth > clientWidth && Math.abs(middle - 0.5) < 0.1, `${middle} of ${scrollWidth} px`);
    });
    await page.keyboard.press('0');
    await eventually(async () => assert.ok(Math.abs((await widthOf(picture)) - fits) < 2));
    await page.keyboard.press('-');
    await panel(page).getByText('75%').waitFor();

    await press(page, 'Earlier version');
    await panel(page).getByText('1 of 2').waitFor();
    await panel(page).getByRole('img', { name: 'Diagram' }).waitFor();
    await page.keyboard.press('Escape');
    await panel(page).waitFor({ state: 'detached' });
    assert.ok(await open(page).evaluate((button) => button === document.activeElement));
  });

  test('Ctrl and the wheel zoom at the pointer', async () => {
    const page = await chatWith(diagram(flow));
    await open(page).click();
    const picture = panel(page).getByRole('img');
    await picture.waitFor();
    const fits = await widthOf(picture);
    await picture.hover();
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await eventually(async () => assert.ok((await widthOf(picture)) > fits * 1.2));
  });

  test('a diagram is saved as a picture that is legible on white', async () => {
    const page = await chatWith(diagram(flow));
    await page.emulateMedia({ colorScheme: 'dark' });
    await open(page).click();
    await panel(page).getByRole('img').waitFor();
    const file = await saveArtifact(page);
    assert.equal(file.name, 'artifact.svg');
    assert.match(file.text, /^<svg .*<\/svg>$/s);
    assert.match(file.text, />Known\?</);
    const coloursOf = (svg) => svg.match(/(?:fill|stroke|color):\s*[^;}"]+/g);
    await page.emulateMedia({ colorScheme: 'light' });
    assert.deepEqual(coloursOf(file.text), coloursOf((await saveArtifact(page)).text));
  });

  test('a mind map spreads to both sides of its root', async () => {
    const branches = Array.from({ length: 8 }, (_, i) => `    Branch ${i}\n      Leaf ${i}\n`).join('');
    const page = await chatWith(diagram(`mindmap\n  root((Plan))\n${branches}`));
    await open(page).click();
    await panel(page).getByRole('img').waitFor();
    const file = await saveArtifact(page);
    const nodes = file.text.match(/<g [^>]*class="node [^>]*>/g);
    const at = nodes.map((node) => Number(/translate\(([-\d.]+)/.exec(node)[1]));
    assert.equal(at.length, 17);
    assert.equal(at.filter((x) => x > 0).length, 8);
    assert.equal(at.filter((x) => x < 0).length, 8);
  });

  test('a formula is shown next to the chat, enlarged, and saved as TeX', async () => {
    const page = await chatWith(`So:\n\n${formula}\nand $x^2$ in a line.`);
    await answers(page).locator('math').nth(1).waitFor();
    assert.equal(await open(page).count(), 1);
    await open(page).focus();
    await page.keyboard.press('Enter');
    await panel(page).getByRole('heading', { name: 'Formula' }).waitFor();
    const fraction = panel(page).locator('mfrac');
    await fraction.waitFor();
    assert.ok((await widthOf(fraction)) > (await widthOf(answers(page).locator('mfrac'))));
    const before = await widthOf(fraction);
    await press(page, 'Larger');
    await press(page, 'Larger');
    await eventually(async () => assert.ok((await widthOf(fraction)) > before * 1.4));
    assert.equal(await panel(page).getByRole('button', { name: 'Open', exact: true }).count(), 0);
    const file = await saveArtifact(page);
    assert.equal(file.name, 'artifact.tex');
    assert.match(file.text, /\\frac\{n\(n\+1\)\}\{2\}/);
  });

  test('a code block of TeX has one Open button, a formula in a link has none', async () => {
    const page = await chatWith('```math\n\\sqrt 2\n```\n\n[$$x$$](https://example.com/)');
    await answers(page).locator('math').nth(1).waitFor();
    assert.equal(await open(page).count(), 1);
    await open(page).click();
    await panel(page).locator('msqrt').waitFor();
  });

  test('a drawing that fails is shown as source next to the chat', async () => {
    const page = await chatWith(diagram('flowchart LR\n  A --> '));
    await open(page).click();
    await panel(page)
      .getByText(/^Not drawn: /)
      .waitFor();
    await panel(page).getByRole('region', { name: 'Source' }).getByText('A -->').waitFor();
  });

  for (const [what, content] of [
    ['diagram', diagram(flow)],
    ['formula', formula],
  ])
    for (const width of [1280, 390])
      test(`a ${what} next to the chat is accessible and fits (${width} px)`, async () => {
        const page = await chatWith(content);
        await page.setViewportSize({ width, height: 800 });
        await open(page).click();
        await panel(page).getByRole('group', { name: 'Zoom' }).waitFor();
        await expectAccessible(page);
      });
}
