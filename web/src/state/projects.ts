/** The projects of the gateway, which tells of no change of theirs: whoever shows them follows them. */
import { get } from '../api/client';
import { line } from '../api/line.svelte';
import type { Project } from '../api/types';
import { clock } from '../base/clock.svelte';
import { Resource } from '../parts/resource.svelte';

export const projects = new Resource(() => get<Project[]>('/projects'));

/** For an effect: has them read now, again as time goes on, and after each reconnection. */
export function followProjects(): () => void {
  void clock.now;
  void line.ready.then(projects.load);
  return line.listen(({ type }) => type === 'reconnected' && void projects.load());
}
