/** Searches messages by full text. */
import { get } from '../../api/client';
import type { FoundTurn, Thread } from '../../api/types';
import { registry } from '../../state/registry.svelte';

/**
 * Sends one search per agent, because the gateway searches by agent, and merges the results, newest first. `agent`: an
 * agent's id, '' for all. `thread`: the only thread to search, undefined for all.
 */
export async function searchTurns(q: string, agent: string, limit: number, thread?: Thread): Promise<FoundTurn[]> {
  if (thread) return get('/turns/search', { q, agent_id: thread.agent_id, thread_id: thread.id, limit });
  await registry.need();
  if (registry.error && !registry.loaded) throw registry.error;
  const agents = registry.of('agent').filter(({ id }) => !agent || id === agent);
  const found = await Promise.all(
    agents.map(({ id }) => get<FoundTurn[]>('/turns/search', { q, agent_id: id, limit })),
  );
  return found.flat().sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
}
