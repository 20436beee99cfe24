/** The name of the extension that a form edits, for fields whose choices depend on it. */
import { getContext, setContext } from 'svelte';

const key = Symbol('edited name');

export const provideEditedName = (name: () => string): unknown => setContext(key, name);
export const editedName = (): (() => string) => getContext<(() => string) | undefined>(key) ?? (() => '');
