// The offers of the first visit to users of other programs.
import test from 'node:test';
import { missing, withGateway } from './environment.mjs';

if (missing) test(`the page (skipped: ${missing})`, { skip: true });
else {
  const env = withGateway();

  test('the first visit offers to import from programs that were used on this machine', async () => {
    await env.backend.write({ path: '.codex/config.toml', text: '' });
    const page = await env.open('/new');
    const card = page.getByRole('region', { name: 'Move in' });
    await card.getByText('agw import codex --dry-run').waitFor();
    await card.getByRole('button', { name: 'Copy the command for Codex' }).waitFor();
    if (await card.getByText('hermes').count()) throw new Error('offers a program that was not used');
  });
}
