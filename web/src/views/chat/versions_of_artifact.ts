/** All versions of an artifact in a chat: its code blocks of one kind, oldest first. */
import type { Token, Tokens } from 'marked';
import type { Turn } from '../../api/types';
import { lex } from '../../markdown/blocks';
import { artifactKind, type Artifact, type ArtifactKind } from '../../markdown/artifacts.svelte';
import { t } from '../../base/language';

const isCode = (token: Token): token is Tokens.Code => token.type === 'code';

export function versionsIn(turns: Turn[], kind: ArtifactKind): Artifact[] {
  // Two formulas are no versions of each other.
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

/** What it is called: the title of a page or a diagram, the first heading of a document. */
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
