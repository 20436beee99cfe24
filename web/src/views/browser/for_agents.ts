/** Lets agents use the browsers of their chats, by an integration. */
import { apiPath, post } from '../../api/client';
import type { Extension } from '../../api/types';
import { t } from '../../base/language';
import { confirmations } from '../../components/confirm.svelte';
import { registry } from '../../state/registry.svelte';

const name = 'browser';

const isBrowser = ({ type, definition }: Extension): boolean =>
  type === 'integration' && (definition as { kind?: string }).kind === 'browser';

/** Whether agents can use browsers; true as long as that is unknown. */
export const agentsCanUseIt = (): boolean =>
  !registry.loaded || registry.extensions.some((one) => isBrowser(one) && one.enabled);

/** Asks, then enables the integration, or creates it. Throws an ApiError, or an Error if its name is taken. */
export async function letAgentsUseIt(): Promise<void> {
  const existing = registry.extensions.find(isBrowser);
  if (!existing && registry.extensions.some((one) => one.name === name)) {
    throw new Error(
      t('Another extension has the name “browser”. Rename it, or add an integration of the kind “browser” yourself.'),
    );
  }
  const isAgreed = await confirmations.ask({
    title: t('Let agents use the browser?'),
    text: t(
      'Agents from the stage “trusted” on can then open pages, read them, click and type in the browser of their chat, in Act mode. They do so with your logins in that browser. You see what they do in this panel. You can take it back under Extensions.',
    ),
    confirm: t('Let agents use it'),
    danger: false,
  });
  if (!isAgreed) return;
  if (existing) await post(apiPath`/extensions/${existing.id}/toggle`);
  else
    await post('/extensions', {
      type: 'integration',
      name,
      description: t('The browser next to the chat'),
      enabled: true,
      definition: { kind: 'browser' },
    });
  await registry.load();
}
