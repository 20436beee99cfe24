/** The projects of the gateway, which tells of no change of theirs: whoever shows them follows them. */
import { get } from '../api/client';
import type { Project } from '../api/types';
import { clock } from '../base/clock.svelte';
import { Resource, keepTrue } from '../parts/resource.svelte';

export const projects = new Resource(() => get<Project[]>('/projects'));

/** For an effect: has them read now, again as time goes on, and after each reconnection. */
export function followProjects(): () => void {
  void clock.now;
  return keepTrue(projects);
}
