/** Begins a new chat from another place of the page. */
import { router } from '../base/router.svelte';
import { storeAndNotify, stored } from '../base/storage';

/**
 * Opens a new chat with `words` below what is already written there. A command goes in front of it, and replaces one
 * without text.
 */
export function writeNewChat(words: string, query?: Record<string, string>): void {
  const written = stored('draft.new', '').replace(/^\/[a-z0-9-]+\s*$/, '');
  const both = words.startsWith('/') ? words + written : [written.trimEnd(), words].filter(Boolean).join('\n\n');
  storeAndNotify('draft.new', written.includes(words.trim()) ? written : both);
  router.push(['new'], query);
}
