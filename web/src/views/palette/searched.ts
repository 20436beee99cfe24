/** Searches by the gateway for the palette. */
import { get } from '../../api/client';
import type { ConfigurationReport, KnowledgeHit, Setting } from '../../api/types';
import { firstLine } from '../../base/format';
import { router } from '../../base/router.svelte';
import { titleOf } from '../../state/thread_titles';
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
  const found = turns.slice(0, hits);
  const titles = await Promise.all(found.map(({ thread_id: id }) => titleOf(id)));
  return [
    ...found.map((turn, i) => ({
      id: `turn ${turn.id}`,
      kind: t('message'),
      label: firstLine(turn.snippet, 100),
      about: titles[i] ?? '',
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
