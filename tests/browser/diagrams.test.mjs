import assert from 'node:assert/strict';
import http from 'node:http';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { chromium, launchOptions } from './chromium.mjs';
import { answers, eventually, message, missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  // Chromium runs frames without an origin in a separate process. Its headless shell does so only with this option.
  const open = () => chromium.launch({ ...launchOptions, args: [...launchOptions.args, '--site-per-process'] });
  const env = withGateway({ open });
  const block = (text) => `See:\n\n\`\`\`mermaid\n${text}\n\`\`\`\n`;
  const flow = 'flowchart LR\n  A[Question] --> B{Known?}\n  B -->|yes| C[Answer]\n  B -->|no| D[Look it up]';

  async function chatWith(...contents) {
    const id = await env.threadWith(...contents.map((content) => ({ role: 'assistant', content })));
    const page = await env.open(`/t/${id}`);
    await answers(page).last().waitFor();
    return page;
  }
  const pictures = (page) => answers(page).getByRole('img');
  const sources = (page) => answers(page).locator('pre');
  /** The mean brightness of the opaque pixels in the picture's middle row. */
  const brightness = (picture) =>
    picture.evaluate(async (image) => {
      await image.decode();
      const context = new OffscreenCanvas(image.naturalWidth, image.naturalHeight).getContext('2d');
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, image.naturalHeight >> 1, image.naturalWidth, 1);
      const opaque = Array.from({ length: data.length / 4 }, (_, i) => i * 4).filter((i) => data[i + 3] > 200);
      return opaque.reduce((sum, i) => sum + data[i], 0) / opaque.length;
    });

  const kinds = {
    flowchart: 'graph TD\n  subgraph one\n    a[(Store)] -.-> b((Round))\n  end\n  b ==> c>Flag]\n  style a fill:#f9f',
    sequence:
      'sequenceDiagram\n  actor A\n  A->>+B: ask\n  Note over A,B: think\n  alt known\n    B-->>-A: answer\n  end',
    class: 'classDiagram\n  Animal <|-- Duck\n  Animal : +int age\n  class Duck{\n    +swim()\n  }',
    state: 'stateDiagram-v2\n  [*] --> Still\n  Still --> Moving\n  Moving --> [*]',
    entities: 'erDiagram\n  CUSTOMER ||--o{ ORDER : places\n  ORDER {\n    int id PK\n  }',
    gantt: 'gantt\n  dateFormat YYYY-MM-DD\n  section One\n  First :a1, 2026-01-01, 30d\n  Next :after a1, 20d',
    pie: 'pie showData title Pets\n  "Dogs" : 386\n  "Cats" : 85.5',
    journey: 'journey\n  title My day\n  section Work\n    Make tea: 5: Me',
    timeline: 'timeline\n  title History\n  2002 : LinkedIn\n  2004 : Facebook',
    quadrant: 'quadrantChart\n  x-axis Low --> High\n  y-axis Low --> High\n  A: [0.3, 0.6]',
    mindmap:
      'mindmap\n  root((Garden))\n    Beds\n      Beans[In rows]\n      ::icon(fa fa-leaf)\n      Kale)Much(\n    Trees\n      id))Apple((\n    Water{{By hand}}\n      "`In the **morning**`"',
    gitGraph:
      'gitGraph LR:\n  commit id: "a"\n  branch develop order: 2\n  commit tag: "v1" type: HIGHLIGHT\n  checkout main\n  merge develop\n  branch fix\n  commit\n  cherry-pick id: "a"',
    xychart: 'xychart-beta\n  x-axis [jan, feb]\n  y-axis "Revenue" 0 --> 100\n  bar [50, 60]',
  };
  /** Opens a chat with these diagrams, in a page that keeps what it draws. */
  async function chatThatKeepsDrawings(texts, colorScheme) {
    const page = await env.open('/costs', { colorScheme });
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    await page.evaluate(() => {
      window.drawings = {};
      const create = URL.createObjectURL;
      URL.createObjectURL = (blob) => {
        const url = create(blob);
        blob.text().then((svg) => (window.drawings[url] = svg));
        return url;
      };
    });
    const id = await env.threadWith(...texts.map((text) => ({ role: 'assistant', content: block(text) })));
    await page.evaluate((hash) => (location.hash = hash), `#/t/${id}`);
    await eventually(async () => assert.equal(await pictures(page).count(), texts.length));
    return page;
  }
  /** The SVG of a picture, as text. */
  const sourceOf = (picture) => picture.evaluate(({ src }) => window.drawings[src]);

  /**
   * The contrast of each text of a drawing with what is painted below most of it. `ground` is the colour of the page.
   * Returns those that are hard to read, as "text: contrast".
   */
  function illegible({ svg, ground }) {
    const linear = (part) => (part <= 0.04045 * 255 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
    const luminance = ([red, green, blue]) => 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    const contrast = (one, other) => {
      const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
      return (light + 0.05) / (dark + 0.05);
    };
    document.body.innerHTML = svg;
    const drawing = document.querySelector('svg');
    const { left, top, width, height } = drawing.getBoundingClientRect();
    // A label is SVG, or HTML with SVG for readers that know no HTML, which has no size here.
    const texts = [...drawing.querySelectorAll('text, foreignObject')].filter(
      (text) => text.textContent.trim() && text.getBoundingClientRect().width > 0,
    );
    const shown = texts.map((text) => {
      const leaf = [...text.querySelectorAll('tspan, div')].find((part) => !part.firstElementChild) ?? text;
      const { fill, color } = getComputedStyle(leaf);
      const used = leaf instanceof HTMLElement ? color : fill;
      return { words: text.textContent.trim(), fill: used, box: text.getBoundingClientRect() };
    });
    for (const text of texts) text.remove();
    const source = new XMLSerializer().serializeToString(drawing);
    return new Promise((done, failed) => {
      const image = new Image(width, height);
      image.onerror = failed;
      image.onload = () => {
        const context = new OffscreenCanvas(width, height).getContext('2d');
        const painted = (color) => {
          const one = new OffscreenCanvas(1, 1).getContext('2d');
          one.fillStyle = color;
          one.fillRect(0, 0, 1, 1);
          return [...one.getImageData(0, 0, 1, 1).data.slice(0, 3)];
        };
        context.fillStyle = ground;
        context.fillRect(0, 0, width, height);
        context.drawImage(image, 0, 0, width, height);
        const below = ({ x, y, width: wide, height: high }) => {
          const { data } = context.getImageData(x - left, y - top, Math.max(1, wide), Math.max(1, high));
          const counts = new Map();
          for (let i = 0; i < data.length; i += 4) {
            const color = data.slice(i, i + 3).join();
            counts.set(color, (counts.get(color) ?? 0) + 1);
          }
          return [...counts]
            .sort(([, a], [, b]) => b - a)[0][0]
            .split(',')
            .map(Number);
        };
        done(
          shown
            .map(({ words, fill, box }) => ({ words, found: contrast(painted(fill), below(box)) }))
            .filter(({ found }) => found < 4.5)
            .map(({ words, found }) => `${words}: ${found.toFixed(1)}`),
        );
      };
      image.src = `data:image/svg+xml,${encodeURIComponent(source)}`;
    });
  }

  test('a diagram is drawn as a picture, and its code is loaded with the first one', async () => {
    const requested = [];
    const page = await env.open('/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    page.on('request', (request) => requested.push(request.url()));
    const id = await env.threadWith({ role: 'assistant', content: block(flow) });
    await page.evaluate((hash) => (location.hash = hash), `#/t/${id}`);
    await pictures(page).waitFor();
    assert.equal(requested.filter((url) => url.includes('mermaid_frame')).length, 1);
    assert.ok(requested.every((url) => url.startsWith(env.proxy.url) || url.startsWith('blob:')));
    const { width, height } = await pictures(page).boundingBox();
    assert.ok(width > 200 && height > 40, `${width} × ${height} px`);
    assert.ok(await pictures(page).evaluate((image) => image.decode().then(() => image.naturalWidth > 200)));
    assert.ok(!(await sources(page).isVisible()));
    await answers(page).getByRole('button', { name: 'Source' }).click();
    await answers(page).getByText('B{Known?}').waitFor();
  });

  test('the most common kinds of diagrams are drawn', async () => {
    const page = await chatWith(...Object.values(kinds).map(block));
    await eventually(async () => assert.equal(await pictures(page).count(), Object.keys(kinds).length));
    for (const picture of await pictures(page).all())
      assert.ok(await picture.evaluate((image) => image.decode().then(() => image.naturalWidth > 50)));
    assert.equal(await answers(page).getByText('Not drawn').count(), 0);
  });

  for (const colorScheme of ['light', 'dark'])
    test(`text in diagrams is legible (${colorScheme})`, async () => {
      const chosen =
        'flowchart LR\n  A[pink] --> B[navy]\n  style A fill:#f9f\n  classDef deep fill:#006\n  class B deep';
      const all = Object.entries({ ...kinds, chosen });
      const page = await chatThatKeepsDrawings(
        all.map(([, text]) => text),
        colorScheme,
      );
      const ground = await answers(page)
        .locator('.picture')
        .first()
        .evaluate((picture) => {
          for (let at = picture; at; at = at.parentElement) {
            const { backgroundColor } = getComputedStyle(at);
            if (!/, 0\)$/.test(backgroundColor)) return backgroundColor;
          }
          return 'Canvas';
        });
      const bare = await env.browser.newContext();
      const sheet = await bare.newPage();
      for (const [i, [kind]] of all.entries()) {
        const svg = await sourceOf(pictures(page).nth(i));
        assert.deepEqual([kind, await sheet.evaluate(illegible, { svg, ground })], [kind, []]);
      }
    });

  test('diagrams follow the dark colour scheme', async () => {
    const page = await chatWith(block(flow));
    await pictures(page).waitFor();
    assert.ok((await brightness(pictures(page))) > 150);
    await page.emulateMedia({ colorScheme: 'dark' });
    await eventually(async () => assert.ok((await brightness(pictures(page))) < 150));
  });

  test('diagrams have the colours of a theme, and follow a change', async () => {
    const page = await chatThatKeepsDrawings([flow], 'light');
    await eventually(async () => assert.match(await sourceOf(pictures(page)), /stroke:#2457d6/));
    await page.evaluate(() => document.documentElement.style.setProperty('--accent', 'rgb(170 0 85)'));
    await eventually(async () => assert.match(await sourceOf(pictures(page)), /stroke:#aa0055/));
  });

  test('a diagram that chooses its own theme keeps it', async () => {
    const page = await chatThatKeepsDrawings(
      [
        `%%{init: {"theme": "base", "themeVariables": {"primaryColor": "#123456"}}}%%\n${flow}`,
        `---\nconfig:\n  theme: forest\n---\n${flow}`,
      ],
      'light',
    );
    assert.match(await sourceOf(pictures(page).first()), /fill:#123456/);
    assert.match(await sourceOf(pictures(page).last()), /fill:#cde498/);
  });

  test('a diagram that cannot be drawn is shown as source, with the reason', async () => {
    const page = await chatWith(block('flowchart LR\n  A --> '), block('sankey-beta\n  a,b,1'), block(flow));
    await pictures(page).waitFor();
    assert.equal(
      await answers(page)
        .getByText(/^Not drawn: /)
        .count(),
      2,
    );
    await answers(page).getByText('A -->', { exact: false }).first().waitFor();
    assert.ok(await sources(page).nth(0).isVisible());
    assert.ok(await sources(page).nth(1).isVisible());
  });

  test('a diagram of 1 MB is not drawn, and does not block the page', async () => {
    const large = `flowchart LR\n${Array.from({ length: 50_000 }, (_, i) => `  node${i} --> b${i % 97}`).join('\n')}`;
    assert.ok(large.length > 900_000);
    const page = await chatWith(block(large));
    await message(page).fill('still alive');
    assert.equal(await page.locator('iframe').count(), 0);
    assert.equal(await pictures(page).count(), 0);
  });

  test('a diagram of the maximum size is drawn or abandoned in time', async () => {
    const dense = `flowchart LR\n${Array.from({ length: 450 }, (_, i) => `  a${i % 60} --> a${(i * 7 + 3) % 60}`).join('\n')}`;
    const page = await chatWith(block(dense), block(flow));
    await message(page).fill('still alive');
    await eventually(async () => {
      const [drawn, abandoned] = [
        await pictures(page).count(),
        await answers(page)
          .getByText(/^Not drawn: /)
          .count(),
      ];
      assert.ok(drawn + abandoned === 2 && drawn > 0, `${drawn} drawn, ${abandoned} abandoned`);
    });
  });

  test('a diagram that loops is stopped and shown as source, and the next one is drawn', async () => {
    const page = await env.open('/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    await page.route(/mermaid_frame/, async (route) => {
      const response = await route.fetch();
      const loops = `addEventListener('message', ({ data }) => { if (/loops/.test(data.text)) for (;;); });`;
      await route.fulfill({ response, body: loops + (await response.text()) });
    });
    const id = await env.threadWith(
      { role: 'assistant', content: block('flowchart LR\n  A[it loops]') },
      { role: 'assistant', content: block(flow) },
    );
    await page.evaluate((hash) => (location.hash = hash), `#/t/${id}`);
    await answers(page).first().getByText('Not drawn: It took too long to draw.').waitFor();
    await message(page).fill('still alive');
    await answers(page).last().getByRole('img').waitFor();
    await answers(page).first().getByText('A[it loops]').waitFor();
  });

  test('a hostile diagram runs no code, loads nothing and stays a picture', async () => {
    const page = await env.open('/costs');
    await page.getByRole('heading', { level: 1, name: 'Costs' }).waitFor();
    const requested = [];
    const server = http.createServer(({ url }, answer) => (requested.push(url), answer.end()));
    await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
    const spy = `http://127.0.0.1:${server.address().port}`;
    const evil = [
      `%%{init: {"securityLevel": "loose", "htmlLabels": true, "theme": "base", "themeCSS": "@import url(${spy}/x.css); * { background: url(${spy}/y.png) }", "fontFamily": "x; } @font-face { src: url(${spy}/f) } y {"}}%%`,
      'flowchart LR',
      `  A["<img src=${spy}/p.png onerror=top.hit=3>"] --> B["<script>top.hit = 1</script>"]`,
      '  click A href "javascript:top.hit=2" _top',
      '  click B call alert()',
    ].join('\n');
    const id = await env.threadWith(
      { role: 'assistant', content: block(evil) },
      { role: 'assistant', content: block(flow) },
    );
    env.allowedErrors.push(/Content Security Policy|CSP: /);
    await page.evaluate((hash) => (location.hash = hash), `#/t/${id}`);
    await answers(page).last().getByRole('img').waitFor();
    await message(page).fill('still alive');
    assert.equal(await page.evaluate(() => window.hit), undefined);
    server.close();
    assert.deepEqual(requested, []);
    const frame = page.frames().find((one) => one !== page.mainFrame());
    assert.equal(await frame.evaluate(() => origin), 'null');
  });

  for (const width of [1280, 390])
    test(`a diagram is accessible and fits (${width} px)`, async () => {
      const page = await chatWith(
        block(`${flow}\n${Array.from({ length: 14 }, (_, i) => `  D${i || ''} --> D${i + 1}`).join('\n')}`),
      );
      await page.setViewportSize({ width, height: 800 });
      await pictures(page).waitFor();
      await expectAccessible(page);
    });
}
