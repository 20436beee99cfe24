/** The versions of an artifact: all code blocks of its kind in the chat, oldest first. */
import type { Token, Tokens } from 'marked';
import type { Turn } from '../../api/types';
import { lex } from '../../markdown/blocks';
import { artifactKind, type Artifact, type ArtifactKind } from '../../markdown/artifacts.svelte';
import { t } from '../../base/language';

const isCode = (token: Token): token is Tokens.Code => token.type === 'code';

export function versionsIn(turns: Turn[], kind: ArtifactKind): Artifact[] {
  // Formulas are independent, not versions of each other.
  if (kind === 'math') return [];
  const all: Artifact[] = [];
  for (const { role, content } of turns) {
    if (role !== 'assistant' || !content.includes('```')) continue;
    for (const token of lex(content))
      if (isCode(token) && artifactKind(token.lang?.split(/\s/, 1)[0] ?? '') === kind)
        all.push({ kind, text: token.text });
  }
  return all;
}

const title = /<title[^>]*>([^<]+)<\/title>/i;
const titles: Record<ArtifactKind, RegExp> = {
  html: title,
  svg: title,
  markdown: /^#{1,6} +(.+)$/m,
  mermaid: /^[ \t]*(?:pie\b.*[ \t])?(?:acc)?title\b[ \t:]*(.+)$/im,
  math: /$^/,
};

/** The title of a page, drawing or diagram, the first heading of a document, or else the name of the kind. */
export function titleOf({ kind, text }: Artifact): string {
  const names = {
    html: t('Page'),
    svg: t('Drawing'),
    markdown: t('Document'),
    mermaid: t('Diagram'),
    math: t('Formula'),
  };
  return titles[kind].exec(text)?.[1]?.trim().slice(0, 80) || names[kind];
}
