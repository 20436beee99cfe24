// Takes the screenshots for README.md and docs/web-page.md, with a real gateway and a scripted model.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createEnvironment, answers, missing, repository, sendMessage } from './environment.mjs';

if (missing) throw new Error(missing);
const env = createEnvironment();
await env.begin();
const images = `${repository}/docs/images`;
mkdirSync(images, { recursive: true });

async function shoot(page, name) {
  await page.waitForLoadState('networkidle');
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 70 });
  writeFileSync(`${images}/${name}.webp`, Buffer.from(data, 'base64'));
}

async function addSampleData() {
  await env.api('POST', '/extensions', {
    type: 'agent',
    name: 'editor',
    description: 'Reads drafts and says what is unclear',
    enabled: true,
    definition: { systemPrompt: 'You edit texts.', model: 'stub/talker-1', budget_usd_per_day: 2 },
  });
  await env.api('POST', '/extensions', {
    type: 'job',
    name: 'morning-notes',
    description: 'Sums up what changed since yesterday',
    enabled: true,
    definition: { agent_id: 'editor', prompt: 'Sum up what changed.' },
    trigger_def: { type: 'cron', expression: '0 9 * * 1-5', timezone: 'Europe/Berlin' },
  });
  await env.api('POST', '/run/morning-notes');
  for (const title of ['Plan the summer trip', 'Why is the build slow?', 'Letter to the landlord'])
    await env.api('POST', '/threads', { title });
}

const answer = `Three steps are left before the release:

1. **Tag** the commit, so that the build can name it.
2. **Build** with \`script/build release\` and run the tests once more.
3. **Announce** it, with the changes since the last one.

| step | who | when |
| --- | --- | --- |
| tag | you | today |
| build | CI | after the tag |

\`\`\`bash
export VERSION=v0.1.0
git tag "$VERSION" && git push --tags
\`\`\`
`;

/** Has the agent request a change in the chat of the page that it may not make by itself. */
async function askForPermission(page) {
  const card = page.getByRole('group', { name: 'Permission request' });
  await env.backend.write({
    path: '.agent-gateway/agents/assistant/workspace/checklist.md',
    text: '# Release\n\n- [x] Tests\n- [ ] Tag\n- [ ] Announce\n',
  });
  await env.backend.reply({
    text: 'I tick off the tag in the checklist.',
    tool_calls: [
      { name: 'Edit', arguments: { path: 'checklist.md', old_string: '- [ ] Tag', new_string: '- [x] Tag v0.1.0' } },
    ],
  });
  await env.backend.reply({ text: 'Done: the tag is ticked off.' });
  await sendMessage(page, 'I have tagged it. Please tick it off.');
  await card.getByRole('button', { name: 'Allow once' }).waitFor();
  await card.locator('button[aria-disabled=false]').first().waitFor();
  await shoot(page, 'approval');
  const route = new URL(page.url()).hash.slice(1);
  const phone = await env.open(route, { colorScheme: 'dark', viewport: { width: 390, height: 844 }, hasTouch: true });
  await phone.locator('[data-request] button[aria-disabled=false]').first().waitFor();
  await phone.locator('[data-request]').scrollIntoViewIfNeeded();
  await phone.locator('[data-request]').evaluate((card) => card.scrollIntoView({ block: 'end' }));
  await phone.getByRole('button', { name: 'Model: stub/talker-1', exact: true }).waitFor();
  await shoot(phone, 'approval-phone');
  await card.getByRole('button', { name: 'Allow once' }).click();
  await card.waitFor({ state: 'detached' });
}

/** Shows the timeline of an answer that searched, in a dark page. */
async function showTimeline(page) {
  const { id } = await env.thread({ title: 'Where the build spends its time' });
  await env.api('PATCH', `/threads/${id}`, { mode: 'act' });
  await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
  const usage = { input: 1100, output: 160, cache_read: 5200, cache_write: 0 };
  const search = (query) => ({ name: 'SearchTurns', arguments: { query } });
  await env.backend.reply({ text: '', tool_calls: [search('build time'), search('linker')], usage });
  await env.backend.reply({ text: '', tool_calls: [{ name: 'Glob', arguments: { pattern: '**/*.md' } }], usage });
  await env.backend.reply({ text: 'Most of it goes to linking.', usage, deltas: 20, rate: 40 });
  await sendMessage(page, 'Where does the build spend its time?');
  await answers(page).getByText('Most of it goes to linking.').waitFor();
  await page.getByTitle('Timeline of this answer').click();
  await page.getByRole('table', { name: 'Timeline' }).waitFor();
  await page.emulateMedia({ colorScheme: 'dark' });
  await shoot(page, 'timeline');
  await page.emulateMedia({ colorScheme: 'light' });
}

const drawing = `The area under $e^{-x^2}$ is

$$
\\int_{-\\infty}^{\\infty} e^{-x^2}\\,dx = \\sqrt{\\pi}
$$

\`\`\`svg
<svg viewBox="0 0 200 100" width="90%"><title>A bell curve</title><path d="M10 90C70 90 70 15 100 15S130 90 190 90z" fill="#2457d6" opacity=".25"/><path d="M10 90C70 90 70 15 100 15S130 90 190 90" fill="none" stroke="#2457d6" stroke-width="2"/></svg>
\`\`\`
`;

/** Shows a formula, and a drawing next to the chat. */
async function showArtifact(page) {
  const { id } = await env.thread({ title: 'A bell curve' });
  await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
  await env.backend.reply({ text: drawing });
  await sendMessage(page, 'How large is the area under the bell curve? Draw it.');
  await answers(page).locator('math').nth(1).waitFor();
  await page.getByRole('button', { name: 'Open', exact: true }).last().click();
  await page.frameLocator('iframe').locator('path').first().waitFor();
  await shoot(page, 'artifact');
}

const map = `mindmap
  root((Release))
    Tests
      Browsers
      Clients
    Notes[What people notice]
      New
      Mended
    Packages
      Debian
      Checksums
    Page
`;

/** Shows a diagram next to the chat. */
async function showDiagram(page) {
  const id = await env.threadWith(
    { role: 'user', content: 'What belongs to a release? Draw it.' },
    { role: 'assistant', content: `Four things:\n\n\`\`\`mermaid\n${map}\`\`\`\n\nThe notes come last.` },
  );
  await page.goto(`${env.proxy.url}/ui/#/t/${id}`);
  await answers(page).getByRole('img').waitFor();
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.getByRole('region', { name: 'Enlarged diagram' }).getByRole('img').waitFor();
  await shoot(page, 'diagram');
}

try {
  await addSampleData();
  const page = await env.open('/new', { colorScheme: 'light', viewport: { width: 1280, height: 800 } });
  await page.getByText('Act', { exact: true }).click();
  await env.backend.reply({
    text: 'I look at what runs by itself first.',
    tool_calls: [{ name: 'ListExtensions', arguments: { type: 'job' } }],
  });
  await env.backend.reply({ text: answer });
  await sendMessage(page, 'What is left to do before the release?');
  await answers(page).getByText('with the changes since').waitFor();
  await page.getByText('stub/talker-1').first().waitFor();
  await page.locator('.hljs-built_in, .hljs-keyword').first().waitFor();
  await shoot(page, 'chat');
  await askForPermission(page);
  const route = new URL(page.url()).hash.slice(1);
  for (const [name, to] of [
    ['jobs', '/jobs'],
    ['agent', '/agents/editor'],
  ]) {
    await page.goto(`${env.proxy.url}/ui/#${to}`);
    await page.locator('main table').first().waitFor();
    if (name === 'jobs') await page.getByText('At 09:00, Monday through Friday').waitFor();
    await shoot(page, name);
  }
  await showTimeline(page);
  await showArtifact(page);
  await showDiagram(page);
  const phone = await env.open(route, { colorScheme: 'dark', viewport: { width: 390, height: 844 }, hasTouch: true });
  await answers(phone).first().waitFor();
  await phone.getByRole('button', { name: 'Model: stub/talker-1', exact: true }).waitFor();
  await shoot(phone, 'phone');
} finally {
  await env.end();
}
