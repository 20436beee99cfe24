/** Everything that the palette leads to. */
import { get, patch } from '../../api/client';
import type { KnowledgeHit } from '../../api/types';
import { firstLine } from '../../base/format';
import { place } from '../../base/route.svelte';
import { attempt } from '../../base/toasts.svelte';
import { store } from '../../base/storage';
import { registry } from '../../state/registry.svelte';
import { threads } from '../../state/threads.svelte';
import { searchTurns } from '../search/turns';
import { forget } from '../system/forget';
import { overlays } from '../shell/overlays.svelte';
import { views } from '../shell/views';

export interface Entry {
  /** Its own among all; kinds and labels are not. */
  id: string;
  kind: string;
  label: string;
  about: string;
  run: () => void;
}

const typeViews: Record<string, string> = { agent: 'agents', job: 'jobs' };

export function entries(): Entry[] {
  return [...deeds(), ...pages(), ...chats(), ...commands(), ...extensions()];
}

const hits = 6;

/** What was said in chats, and pages of knowledge, with these words. What cannot be asked just now is left out. */
export async function searched(words: string): Promise<Entry[]> {
  const [turns, pages] = await Promise.all([
    searchTurns(words, '', hits).catch(() => []),
    get<KnowledgeHit[]>('/knowledge/search', { q: words, limit: hits }).catch(() => []),
  ]);
  const title = (id: string): string => threads.all.find((thread) => thread.id === id)?.title ?? 'a chat';
  return [
    ...turns.slice(0, hits).map((turn) => ({
      id: `turn ${turn.id}`,
      kind: 'turn',
      label: firstLine(turn.snippet, 100),
      about: title(turn.thread_id),
      run: () => place.go(['t', turn.thread_id], { turn: turn.id }),
    })),
    ...pages.map((page) => ({
      id: `page ${page.scope} ${page.slug}`,
      kind: 'page',
      label: page.title,
      about: 'knowledge',
      run: () => place.go(['knowledge', page.slug], { scope: page.scope }),
    })),
  ];
}

function deeds(): Entry[] {
  const open = threads.reading;
  const deed = (label: string, about: string, run: () => void): Entry => ({ id: `do ${label}`, kind: 'do', label, about, run });
  return [
    deed('New chat', 'Ctrl Shift O', () => place.go(['new'])),
    deed('New job', '', () => place.go(['jobs', 'new'])),
    deed('New agent', '', () => place.go(['agents', 'new'])),
    deed('Keys', '?', () => (overlays.open = 'keys')),
    deed('Pair another device', '', () => place.go(['system'])),
    deed('Forget this browser', 'It has to be paired again', () => void forget()),
    ...(open ? [deed(open.archived ? 'Take this chat out of the archive' : 'Archive this chat', open.title, () => void attempt(() => patch(`/threads/${open.id}`, { archived: !open.archived })))] : []),
  ];
}

const pages = (): Entry[] =>
  [{ name: 'chats', label: 'Chats' }, ...views].map(({ name, label }) => ({ id: `view ${name}`, kind: 'page', label, about: '', run: () => place.go([name]) }));

const chats = (): Entry[] =>
  threads.all.map(({ id, title, agent_id }) => ({ id: `chat ${id}`, kind: 'chat', label: title, about: registry.nameOf(agent_id), run: () => place.go(['t', id]) }));

/** A command is put into the message of a new chat, to be completed and sent. */
const commands = (): Entry[] =>
  registry.enabled('command').map(({ name, description }) => ({
    id: `command ${name}`,
    kind: 'command',
    label: `/${name}`,
    about: description,
    run: () => {
      store('draft.new', `/${name} `);
      place.go(['new']);
    },
  }));

const extensions = (): Entry[] =>
  registry.extensions.map(({ id, name, type, description }) => ({
    id: `extension ${id}`,
    kind: type,
    label: name,
    about: description,
    run: () => place.go([typeViews[type] ?? 'extensions', name]),
  }));
