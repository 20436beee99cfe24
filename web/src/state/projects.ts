/** The projects of the gateway, which tells of no change of theirs: whoever shows them follows them. */
import { get } from '../api/client';
import type { Project } from '../api/types';
import { Resource, follow } from '../parts/resource.svelte';

export const projects = new Resource(() => get<Project[]>('/projects'));

/** For an effect. */
export const followProjects = (): (() => void) => follow(projects);
