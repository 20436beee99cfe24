/** The entries of the palette. */
import { patch } from '../../api/client';
import { onDemand } from '../../api/on_demand';
import { newItem, router } from '../../base/router.svelte';
import { stored } from '../../base/storage';
import { tryOrToast } from '../../base/toasts.svelte';
import { artifacts } from '../../markdown/artifacts.svelte';
import { registry } from '../../state/registry.svelte';
import { threads, wide } from '../../state/threads.svelte';
import { writeNewChat } from '../../state/new_chat';
import { overlays } from '../shell/overlays.svelte';
import { views } from '../shell/views';
import '../chat_actions/print.css';
import '../chat_actions/drops';
import { t } from '../../base/language';
import { typeNames } from '../extensions/type_names';

// Reopened from here because this module is loaded soon after the first view.
if (stored('terminals', null, 'sessionStorage'))
  void onDemand(() => import('../terminal/shells.svelte')).then(({ reopenTerminals }) => reopenTerminals());

export interface Entry {
  /** Unique, unlike `kind` and `label`. */
  id: string;
  kind: string;
  label: string;
  about: string;
  run: () => void;
  /** Called with Shift, if the page has room for a second chat. */
  runBeside?: () => void;
}

const typeViews: Record<string, string> = { agent: 'agents', job: 'jobs' };

export function entries(): Entry[] {
  return [...pageActions(), ...pages(), ...chats(), ...commands(), ...extensions()];
}

function pageActions(): Entry[] {
  const open = threads.selected;
  const action = (label: string, about: string, run: () => void): Entry => ({
    id: `do ${label}`,
    kind: t('action'),
    label,
    about,
    run,
  });
  return [
    action(t('New chat'), t('Ctrl Shift O'), () => router.push(['new'])),
    action(t('New job'), '', () => router.push(['jobs', newItem])),
    action(t('New agent'), '', () => router.push(['agents', newItem])),
    action(t('Keyboard shortcuts'), '?', () => (overlays.open = 'keys')),
    action(t('Connect a model'), t('Provider, service, API key'), () =>
      router.push(['system', 'models'], { connect: 'true' }),
    ),
    action(t('Choose the default model'), '', () => router.push(['system', 'models'])),
    action(t('Manage secrets'), t('Keys of services'), () => router.push(['system', 'models'])),
    action(t('Change settings of the gateway'), 'config.yaml', () => router.push(['system', 'settings'])),
    action(t('Restart the gateway'), '', () => router.push(['system'])),
    action(t('Choose a theme'), t('Light, dark, colors'), () => router.push(['system'])),
    action(t('Choose the language'), t('English, German'), () => router.push(['system'])),
    action(t('Pair another device'), '', () => router.push(['system'])),
    action(
      t('Forget this browser'),
      t('Requires pairing again'),
      () => void tryOrToast(async () => (await import('../system/forget')).forget()),
    ),
    ...(open
      ? [
          action(
            open.archived ? t('Unarchive this chat') : t('Archive this chat'),
            open.title,
            () => void tryOrToast(() => patch(`/threads/${open.id}`, { archived: !open.archived })),
          ),
          action(
            t('Open a terminal'),
            t('A shell in the project of this chat'),
            () => void tryOrToast(async () => (await import('../terminal/of_chat')).openTerminalOf(open)),
          ),
          action(t('Open the browser'), t('A browser next to this chat, which agents can use, too'), () =>
            artifacts.show({ kind: 'browser', text: '', chat: open.id }),
          ),
          action(t('Find in this chat'), t('Search its messages'), () => router.push(['search'], { thread: open.id })),
          action(
            t('Export this chat as Markdown'),
            t('Save, download'),
            () => void tryOrToast(async () => (await import('./export_chat')).exportChat(open)),
          ),
          action(
            t('Share this chat as a file'),
            t('Save, download'),
            () => void tryOrToast(async () => (await import('../chat_actions/share')).saveShared(open)),
          ),
          action(
            t('Share this chat as a link'),
            t('Copy link'),
            () => void tryOrToast(async () => (await import('../chat_actions/share_link')).shareLink(open)),
          ),
        ]
      : []),
  ];
}

const pages = (): Entry[] =>
  [{ name: 'chats', label: t('Chats') }, ...views].map(({ name, label }) => ({
    id: `view ${name}`,
    kind: t('page'),
    label,
    about: '',
    run: () => router.push([name]),
  }));

const chats = (): Entry[] =>
  threads.all.map(({ id, title, agent_id }) => ({
    id: `chat ${id}`,
    kind: t('chat'),
    label: title,
    about: registry.nameOf(agent_id),
    run: () => router.push(['t', id]),
    ...(wide.current && id !== threads.selectedId && { runBeside: () => threads.showBeside(id) }),
  }));

/** Entries that start a new chat with a command as its draft. */
const commands = (): Entry[] =>
  registry
    .enabled('command')
    .map(({ name, description }) => ({
      id: `command ${name}`,
      kind: t('command'),
      label: `/${name}`,
      about: description,
      run: () => writeNewChat(`/${name} `),
    }));

const extensions = (): Entry[] =>
  registry.extensions.map(({ id, name, type, description }) => ({
    id: `extension ${id}`,
    kind: typeNames[type] ?? type,
    label: name,
    about: description,
    run: () => router.push([typeViews[type] ?? 'extensions', name]),
  }));
