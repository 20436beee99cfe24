/** The projects of the gateway, which tells of no change of theirs: whoever shows them has them read now and then. */
import { get } from '../api/client';
import type { Project } from '../api/types';
import { Resource } from '../parts/resource.svelte';

export const projects = new Resource(() => get<Project[]>('/projects'));
