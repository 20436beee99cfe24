/** The gateway's warnings about extensions saved on this page. They outlive the form, which shows them again. */
import { SvelteMap } from 'svelte/reactivity';
import type { Extension } from '../api/types';

interface Warning {
  path: string;
  message: string;
}

/** The response to creating or changing an extension. The gateway omits `warnings` if there are none. */
export type SavedExtension = Extension & { warnings?: Warning[] };

const warnings = new SvelteMap<string, Warning[]>();

export function noteWarnings(saved: SavedExtension): void {
  if (saved.warnings?.length) warnings.set(saved.id, saved.warnings);
  else warnings.delete(saved.id);
}

export const warningsOf = (id: string | undefined): Warning[] => (id && warnings.get(id)) || [];
