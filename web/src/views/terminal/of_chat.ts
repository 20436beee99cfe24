import { get } from '../../api/client';
import type { Project, Thread } from '../../api/types';
import { registry } from '../../state/registry.svelte';
import { openTerminal } from './shells.svelte';

/** Opens a terminal in the project of a chat, or else in the workspace of its agent. */
export async function openTerminalOf({ project_id, agent_id }: Thread): Promise<void> {
  if (!project_id) {
    openTerminal({ agentId: agent_id, name: registry.nameOf(agent_id) || agent_id });
    return;
  }
  const projects = await get<Project[]>('/projects');
  openTerminal({ projectId: project_id, name: projects.find(({ id }) => id === project_id)?.name ?? project_id });
}
