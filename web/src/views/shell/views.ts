/** The views, with their navigation entries and the functions that load their code. */
import type { Component } from 'svelte';
import { t } from '../../base/language';

export interface View {
  name: string;
  label: string;
  icon: string;
  /** The view is not in the navigation, but other views and the palette link to it. */
  aside?: boolean;
  load: () => Promise<{ default: Component }>;
}

/** All views except chats, which are part of the main bundle. */
export const views: View[] = [
  { name: 'inbox', label: t('Inbox'), icon: 'inbox', load: () => import('../inbox/Inbox.svelte') },
  { name: 'jobs', label: t('Jobs'), icon: 'clock', load: () => import('../jobs/Jobs.svelte') },
  { name: 'agents', label: t('Agents'), icon: 'bot', load: () => import('../agents/Agents.svelte') },
  { name: 'extensions', label: t('Extensions'), icon: 'puzzle', load: () => import('../extensions/Extensions.svelte') },
  { name: 'apps', label: t('Apps'), icon: 'app-window', load: () => import('../apps/Apps.svelte') },
  { name: 'knowledge', label: t('Knowledge'), icon: 'book-open', load: () => import('../knowledge/Knowledge.svelte') },
  {
    name: 'experiments',
    label: t('Experiments'),
    icon: 'flask-conical',
    load: () => import('../experiments/Experiments.svelte'),
  },
  { name: 'costs', label: t('Costs'), icon: 'coins', load: () => import('../costs/Costs.svelte') },
  { name: 'system', label: t('System'), icon: 'settings', load: () => import('../system/System.svelte') },
  {
    name: 'projects',
    label: t('Projects'),
    icon: 'folder-git-2',
    aside: true,
    load: () => import('../projects/Projects.svelte'),
  },
  { name: 'files', label: t('Files'), icon: 'folder', aside: true, load: () => import('../files/Files.svelte') },
  { name: 'runs', label: t('Timeline'), icon: 'clock', aside: true, load: () => import('../runs/Runs.svelte') },
  { name: 'search', label: t('Search'), icon: 'search', aside: true, load: () => import('../search/Search.svelte') },
];
