import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import test from 'node:test';
import { expectAccessible } from './accessibility.mjs';
import { answers, choose, eventually, message, missing, sendMessage, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();
  const panel = (page) => page.getByRole('region', { name: 'App preview' });
  const frame = (page) => panel(page).frameLocator('iframe');
  const picture = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><rect width="20" height="20"/></svg>';

  /** Creates a static app in a new directory, which it returns. */
  async function createSite(name, files) {
    const folder = `${env.home}/${name}`;
    mkdirSync(folder);
    for (const [file, content] of Object.entries(files)) writeFileSync(`${folder}/${file}`, content);
    const definition = { type: 'static', path: folder };
    await env.api('POST', '/extensions', { type: 'app', name, description: 'A site', enabled: true, definition });
    return folder;
  }

  async function openFromMenu(page) {
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Preview an app' }).click();
    await panel(page).waitFor();
  }

  test('without an app, the panel offers to add one', async () => {
    const { id } = await env.thread();
    const page = await env.open(`/t/${id}`);
    await openFromMenu(page);
    await panel(page).getByRole('link', { name: 'Add your first app' }).waitFor();
    await page.keyboard.press('Escape');
    await panel(page).waitFor({ state: 'detached' });
    await message(page).waitFor();
  });

  test('an app is shown next to the chat with its styles, scripts and pictures, and cannot access the page', async () => {
    const folder = await createSite('roses', {
      'index.html':
        '<!doctype html><link rel="stylesheet" href="style.css"><script defer src="/app.js"></script>' +
        '<h1>Roses</h1><img src="rose.svg" alt="A rose"><a href="more.html">More</a><p id="out">nothing</p>',
      'style.css': '@import "base.css"; h1 { color: rgb(1, 2, 3) }',
      'base.css': 'h1 { background-image: url("rose.svg") }',
      'rose.svg': picture,
      'app.js':
        'document.querySelector("#out").textContent = "ran";' +
        'try { parent.document.title = "taken" } catch {} try { localStorage.x = 1 } catch {}',
    });
    await createSite('tulips', { 'index.html': '<h1>Tulips</h1>' });
    const { id } = await env.thread();
    const page = await env.open(`/t/${id}`);
    await openFromMenu(page);
    await choose(panel(page).getByRole('combobox', { name: 'App' }), 'roses');
    const heading = frame(page).getByRole('heading', { name: 'Roses' });
    await heading.waitFor();
    assert.equal(await heading.evaluate((h1) => getComputedStyle(h1).color), 'rgb(1, 2, 3)');
    assert.match(await heading.evaluate((h1) => getComputedStyle(h1).backgroundImage), /^url\("data:image\/svg/);
    await frame(page).getByText('ran').waitFor();
    await eventually(async () =>
      assert.equal(
        await frame(page)
          .getByAltText('A rose')
          .evaluate((image) => image.naturalWidth),
        20,
      ),
    );
    assert.doesNotMatch(await page.title(), /taken/);
    await frame(page).getByRole('link', { name: 'More' }).click();
    await heading.waitFor();

    await panel(page).getByRole('button', { name: 'Phone' }).click();
    await eventually(async () =>
      assert.equal(Math.round((await panel(page).locator('iframe').boundingBox()).width), 390),
    );
    writeFileSync(`${folder}/index.html`, '<h1>More roses</h1>');
    await panel(page).getByRole('button', { name: 'Reload' }).click();
    await frame(page).getByRole('heading', { name: 'More roses' }).waitFor();
    await choose(panel(page).getByRole('combobox', { name: 'App' }), 'tulips');
    await frame(page).getByRole('heading', { name: 'Tulips' }).waitFor();

    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await expectAccessible(page, { iframes: false });
    }
  });

  test('an app cannot make the page request the gateway through redirects', async () => {
    const path = `${env.home}/hostile`;
    mkdirSync(path);
    const program = `import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        isPage = self.path == "/" and sys.argv[1] == "page"
        self.send_response(200 if isPage else 302)
        self.send_header("Content-Type", "text/html")
        if not isPage:
            self.send_header("Location", "/threads?hostile=" + self.path[1:])
        self.end_headers()
        if isPage:
            self.wfile.write(b'<link rel=stylesheet href="a.css"><h1>Hostile</h1><script src="b.js"></script>')
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
`;
    writeFileSync(`${path}/serve.py`, program);
    for (const kind of ['page', 'moved']) {
      const definition = { type: 'python', path, command: `python3 serve.py ${kind}` };
      const app = { type: 'app', name: `hostile-${kind}`, description: 'x', enabled: true, definition };
      await env.api('POST', '/extensions', app);
      await env.api('POST', `/apps/hostile-${kind}/start`);
    }
    const { id } = await env.thread();
    const page = await env.open(`/t/${id}`);
    // Records requests at the proxy, because the browser reports redirects as requests even if it does not follow them.
    const requested = [];
    env.proxy.onRequestData = (text) =>
      requested.push(...Array.from(text.matchAll(/^GET (\S+) HTTP/gm), ([, target]) => target));
    await openFromMenu(page);
    await choose(panel(page).getByRole('combobox', { name: 'App' }), 'hostile-page');
    await frame(page).getByRole('heading', { name: 'Hostile' }).waitFor();
    assert.ok(!(await frame(page).locator('html').innerHTML()).includes(id));
    await panel(page).getByText('Some of its files are not shown here').waitFor();
    await choose(panel(page).getByRole('combobox', { name: 'App' }), 'hostile-moved');
    await panel(page).getByRole('alert').getByText('The app redirects').waitFor();
    for (const file of ['a.css', 'b.js']) assert.ok(requested.includes(`/apps/hostile-page/proxy/${file}`), file);
    assert.deepEqual(
      requested.filter((target) => target.startsWith('/threads?hostile')),
      [],
    );
  });

  test('an answer that changed an app links to it, and the next one reloads it', async () => {
    const folder = await createSite('garden', { 'index.html': '<h1>Empty</h1>' });
    const project = await env.api('POST', '/projects', { name: 'garden', path: folder });
    const definition = { systemPrompt: 'Tend.' };
    await env.api('POST', '/extensions', {
      type: 'agent',
      name: 'tender',
      description: 'x',
      enabled: true,
      definition,
    });
    await env.api('PATCH', '/agents/tender/stage', { stage: 'operator', reason: 'It may write' });
    const { id } = await env.thread({ agent_id: 'tender', project_id: project.id });
    await env.api('PATCH', `/threads/${id}`, { mode: 'act' });
    const page = await env.open(`/t/${id}`);
    const plant = async (flowers) => {
      const call = { name: 'Write', arguments: { path: 'index.html', content: `<h1>${flowers}</h1>` } };
      await env.backend.reply({ text: '', tool_calls: [call] });
      await env.backend.reply({ text: `Planted ${flowers}.` });
      await sendMessage(page, `Plant ${flowers}`);
      await answers(page).getByText(`Planted ${flowers}.`).waitFor();
    };
    await plant('Roses');
    await answers(page).getByText('1 file changed').click();
    await answers(page).getByRole('button', { name: 'Preview garden' }).click();
    await frame(page).getByRole('heading', { name: 'Roses' }).waitFor();
    await plant('Tulips');
    await frame(page).getByRole('heading', { name: 'Tulips' }).waitFor();
  });
}
