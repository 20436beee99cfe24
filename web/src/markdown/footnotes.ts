/** Footnotes in Markdown, for marked's Lexer: `[^1]` in a line, and `[^1]: text` where one begins. */
import type { Lexer, Token } from 'marked';

/** Not names, which in a line may be patterns. */
export function noteMark(source: string): Token | undefined {
  const [raw, text] = /^\[\^(\d+)\]/.exec(source) ?? [];
  return raw ? { type: 'note', raw, text } : undefined;
}

/** To an empty line, the next footnote, or a line that begins a block which would interrupt a paragraph. */
export function footnote(this: { lexer: Lexer }, source: string): Token | undefined {
  const [raw, name, text = ''] =
    /^ {0,3}\[\^(\d+)\]:(.+(?:\n(?! *\[\^| {0,3}(?:```|~~~|>|(?:#{1,6}|[-+*]|\d+[.)])\s)).+)*)\n?/.exec(source) ?? [];
  if (!raw) return undefined;
  return { type: 'footnote', raw, text, tokens: [{ type: 'note', raw, text: name }, ...this.lexer.inlineTokens(text)] };
}
