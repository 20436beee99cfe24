/** Footnotes in Markdown, for marked's Lexer: `[^1]` within a line, and `[^1]: text` at the start of a line. */
import type { Lexer, Token } from 'marked';

/** Matches only numbers: within a line, `[^name]` may be a regular expression. */
export function noteMark(source: string): Token | undefined {
  const [raw, text] = /^\[\^(\d+)\]/.exec(source) ?? [];
  return raw ? { type: 'note', raw, text } : undefined;
}

/** A footnote ends at an empty line, at the next footnote, or at a block that would interrupt a paragraph. */
export function footnote(this: { lexer: Lexer }, source: string): Token | undefined {
  const [raw, name, text = ''] =
    /^ {0,3}\[\^(\d+)\]:(.+(?:\n(?! *\[\^| {0,3}(?:```|~~~|>|(?:#{1,6}|[-+*]|\d+[.)])\s)).+)*)\n?/.exec(source) ?? [];
  if (!raw) return undefined;
  return { type: 'footnote', raw, text, tokens: [{ type: 'note', raw, text: name }, ...this.lexer.inlineTokens(text)] };
}
