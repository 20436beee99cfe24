/** Full-text search of messages. */
import { get } from '../../api/client';
import type { FoundTurn, Thread } from '../../api/types';
import { registry } from '../../state/registry.svelte';

/**
 * One search per agent, because the gateway searches by agent; merged newest first. `agent`: its id, '' for all.
 * `thread`: the only one that is searched, undefined for all.
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
