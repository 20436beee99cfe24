/** The entries of the palette. */
import { patch } from '../../api/client';
import { newItem, router } from '../../base/router.svelte';
import { tryOrToast } from '../../base/toasts.svelte';
import { store } from '../../base/storage';
import { registry } from '../../state/registry.svelte';
import { threads } from '../../state/threads.svelte';
import { overlays } from '../shell/overlays.svelte';
import { views } from '../shell/views';

export interface Entry {
  /** Unique, unlike kinds and labels. */
  id: string;
  kind: string;
  label: string;
  about: string;
  run: () => void;
}

const typeViews: Record<string, string> = { agent: 'agents', job: 'jobs' };

export function entries(): Entry[] {
  return [...pageActions(), ...pages(), ...chats(), ...commands(), ...extensions()];
}

function pageActions(): Entry[] {
  const open = threads.selected;
  const action = (label: string, about: string, run: () => void): Entry => ({
    id: `do ${label}`,
    kind: 'action',
    label,
    about,
    run,
  });
  return [
    action('New chat', 'Ctrl Shift O', () => router.push(['new'])),
    action('New job', '', () => router.push(['jobs', newItem])),
    action('New agent', '', () => router.push(['agents', newItem])),
    action('Keyboard shortcuts', '?', () => (overlays.open = 'keys')),
    action('Connect a model', 'Provider, service, API key', () =>
      router.push(['system', 'models'], { connect: 'true' }),
    ),
    action('Choose the default model', '', () => router.push(['system', 'models'])),
    action('Manage secrets', 'Keys of services', () => router.push(['system', 'models'])),
    action('Restart the gateway', '', () => router.push(['system'])),
    action('Choose a theme', 'Light, dark, colors', () => router.push(['system'])),
    action('Pair another device', '', () => router.push(['system'])),
    action(
      'Forget this browser',
      'Requires pairing again',
      () => void tryOrToast(async () => (await import('../system/forget')).forget()),
    ),
    ...(open
      ? [
          action(
            open.archived ? 'Unarchive this chat' : 'Archive this chat',
            open.title,
            () => void tryOrToast(() => patch(`/threads/${open.id}`, { archived: !open.archived })),
          ),
          action('Find in this chat', 'Search its messages', () => router.push(['search'], { thread: open.id })),
          action(
            'Export this chat as Markdown',
            'Save, download, share',
            () => void tryOrToast(async () => (await import('./export_chat')).exportChat(open)),
          ),
        ]
      : []),
  ];
}

const pages = (): Entry[] =>
  [{ name: 'chats', label: 'Chats' }, ...views].map(({ name, label }) => ({
    id: `view ${name}`,
    kind: 'page',
    label,
    about: '',
    run: () => router.push([name]),
  }));

const chats = (): Entry[] =>
  threads.all.map(({ id, title, agent_id }) => ({
    id: `chat ${id}`,
    kind: 'chat',
    label: title,
    about: registry.nameOf(agent_id),
    run: () => router.push(['t', id]),
  }));

/** Starts a new chat with the command as its draft. */
const commands = (): Entry[] =>
  registry.enabled('command').map(({ name, description }) => ({
    id: `command ${name}`,
    kind: 'command',
    label: `/${name}`,
    about: description,
    run: () => {
      store('draft.new', `/${name} `);
      router.push(['new']);
    },
  }));

const extensions = (): Entry[] =>
  registry.extensions.map(({ id, name, type, description }) => ({
    id: `extension ${id}`,
    kind: type,
    label: name,
    about: description,
    run: () => router.push([typeViews[type] ?? 'extensions', name]),
  }));
