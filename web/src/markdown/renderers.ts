/** Finds the extension that renders a fenced block. */
import type { Extension } from '../api/types';
import { registry } from '../state/registry.svelte';

interface RendererDefinition {
  match?: { mime?: string; language?: string; pattern?: string };
  html?: string;
}

const maxMatched = 20_000;

/** The newest enabled renderer with HTML that matches the block. */
export function rendererOf(language: string, text: string): Extension | undefined {
  if (language) void registry.need();
  return registry.enabled('renderer').find(({ definition }) => {
    const { match, html } = definition as RendererDefinition;
    if (!html || !match) return false;
    if (match.language) return match.language === language;
    return !!match.pattern && matches(match.pattern, text.slice(0, maxMatched));
  });
}

/** Patterns are plain text with `*` as a wildcard: an untrusted regular expression could freeze the page. */
function matches(pattern: string, text: string): boolean {
  let at = 0;
  for (const part of pattern.split('*')) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return true;
}
