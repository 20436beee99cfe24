/** The gateway's projects. It sends no events for them, so views that show them poll. */
import { get } from '../api/client';
import type { Project } from '../api/types';
import { Resource, poll } from '../components/resource.svelte';

export const projects = new Resource(() => get<Project[]>('/projects'));

/** For effects: reads the projects regularly. */
export const pollProjects = (): (() => void) => poll(projects);
