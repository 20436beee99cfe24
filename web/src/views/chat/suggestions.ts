/** Suggestions for a command or a path that is being typed. */
import { get } from '../../api/client';
import { fuzzyFilter } from '../../base/fuzzy';
import type { Project } from '../../api/types';
import { registry } from '../../state/registry.svelte';

export interface Suggestion {
  label: string;
  about: string;
  /** Matches the end of the typed text, which the suggestion replaces. */
  replaces: RegExp;
  inserts: string;
}

const shown = 8;

const commandTyped = /^\/[a-z0-9-]*$/;
const pathTyped = /@[^\s@]*$/;

export async function suggestions(typed: string, projectId: string | null): Promise<Suggestion[]> {
  const command = /^\/([a-z0-9-]*)$/.exec(typed);
  if (command) await registry.need();
  if (command) return commands(command[1] ?? '');
  const path = /(?:^|\s)@([^\s@]{2,})$/.exec(typed);
  return path ? paths(path[1] ?? '', projectId) : [];
}

function commands(name: string): Suggestion[] {
  const byName = registry.enabled('command').sort((a, b) => (a.name < b.name ? -1 : 1));
  return fuzzyFilter(name, byName, (command) => command.name).map((command) => ({
    label: `/${command.name}`,
    about: command.description,
    replaces: commandTyped,
    inserts: `/${command.name} `,
  }));
}

interface Found {
  results: { name: string; path: string; isDirectory: boolean }[];
}

async function paths(name: string, projectId: string | null): Promise<Suggestion[]> {
  try {
    const root = projectId ? (await get<Project>(`/projects/${projectId}`)).path : undefined;
    const { results } = await get<Found>('/filesystem/search', { q: name, path: root });
    return results
      .slice(0, shown)
      .map((found) => ({
        label: found.name + (found.isDirectory ? '/' : ''),
        about: found.path,
        replaces: pathTyped,
        inserts: `${found.path} `,
      }));
  } catch {
    return [];
  }
}
