/** Markdown documents in fenced code, for marked's Lexer. */
import type { Tokens } from 'marked';

/**
 * Models often write a document whose code has fences as long as its own. A fence with a language cannot close anything,
 * so here it opens code, which the next fence without one closes. CommonMark would end the document there.
 */
export function fencedDocument(source: string): Tokens.Code | undefined {
  const [first = '', fence, lang] =
    /^ {0,3}(`{3,}|~{3,})[ \t]*((?:markdown|mdx?)\b[^`\n]*)(?![^\n])/i.exec(source) ?? [];
  if (!fence) return undefined;
  const fences = new RegExp(`\\n {0,3}(${fence}${fence[0]}*)[ \\t]*([^\`\\n]*)(?![^\\n])`, 'g');
  fences.lastIndex = first.length;
  const open = [fence];
  let last;
  while (open[0] && (last = fences.exec(source))) {
    const [, inner = '', language] = last;
    if (language) open.unshift(inner);
    else if (inner.length >= open[0].length) open.shift();
  }
  const raw = source.slice(0, last ? fences.lastIndex : undefined);
  return { type: 'code', raw, lang, text: source.slice(first.length + 1, last?.index).replace(/\n$/, '') };
}
