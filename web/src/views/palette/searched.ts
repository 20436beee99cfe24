/** Searches by the gateway for the palette. */
import { get } from '../../api/client';
import type { ConfigurationReport, KnowledgeHit, Setting } from '../../api/types';
import { firstLine } from '../../base/format';
import { router } from '../../base/router.svelte';
import { threads } from '../../state/threads.svelte';
import { searchTurns } from '../search/search_turns';
import { matches } from '../settings/settings';
import type { Entry } from './entries';
import { t } from '../../base/language';

const hits = 6;

/** Their names do not change while the gateway runs. */
let settings: Setting[] = [];

async function settingsWith(words: string): Promise<Setting[]> {
  if (!settings.length) ({ settings } = await get<ConfigurationReport>('/configuration'));
  return settings.filter((setting) => matches(setting, words)).slice(0, hits);
}

/** Finds messages, knowledge pages and settings that match the words. Ignores searches that fail. */
export async function searched(words: string): Promise<Entry[]> {
  const [turns, pages, keys] = await Promise.all([
    searchTurns(words, '', hits).catch(() => []),
    get<KnowledgeHit[]>('/knowledge/search', { q: words, limit: hits }).catch(() => []),
    settingsWith(words).catch(() => []),
  ]);
  const title = (id: string): string => threads.all.find((thread) => thread.id === id)?.title ?? t('a chat');
  return [
    ...turns
      .slice(0, hits)
      .map((turn) => ({
        id: `turn ${turn.id}`,
        kind: t('message'),
        label: firstLine(turn.snippet, 100),
        about: title(turn.thread_id),
        run: () => router.push(['t', turn.thread_id], { turn: turn.id }),
      })),
    ...pages.map((page) => ({
      id: `page ${page.scope} ${page.slug}`,
      kind: t('page'),
      label: page.title,
      about: t('knowledge'),
      run: () => router.push(['knowledge', page.slug], { scope: page.scope }),
    })),
    ...keys.map(({ key, about }) => ({
      id: `setting ${key}`,
      kind: t('setting'),
      label: key,
      about,
      run: () => router.push(['system', 'settings'], { q: key }),
    })),
  ];
}
