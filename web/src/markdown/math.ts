/** Mathematics in Markdown: `$…$` and `\(…\)` within a line, `$$…$$` and `\[…\]` for displayed formulas. */
import type { Token } from 'marked';

export interface MathToken {
  type: 'math';
  raw: string;
  /** TeX. */
  text: string;
  display: boolean;
}

/** Longer formulas are shown as their source. */
const inLine: [RegExp, boolean][] = [
  [/^\$\$((?:[^$\\]|\\[\s\S]){1,4000}?)\$\$/, true],
  [/^\\\[([\s\S]{1,4000}?)\\\]/, true],
  [/^\\\(([\s\S]{1,4000}?)\\\)/, false],
  // To exclude prices, no space may separate a formula from its signs, and no digit may follow it.
  [/^\$(?![\s$])((?:[^$\\\n]|\\.){1,1000}?)(?<!\s)\$(?!\d)/, false],
];
const ownLine: [RegExp, boolean][] = [
  [/^ {0,3}\$\$((?:[^$\\]|\\[\s\S]){1,4000}?)\$\$[ \t]*(?:\n|$)/, true],
  [/^ {0,3}\\\[([\s\S]{1,4000}?)\\\][ \t]*(?:\n|$)/, true],
];

const among =
  (patterns: [RegExp, boolean][]) =>
  (source: string): Token | undefined => {
    for (const [pattern, display] of patterns) {
      const found = pattern.exec(source);
      if (found?.[1]?.trim()) return { type: 'math', raw: found[0], text: found[1].trim(), display };
    }
    return undefined;
  };

const at =
  (pattern: RegExp) =>
  (source: string): number | undefined => {
    const index = source.search(pattern);
    return index < 0 ? undefined : index;
  };

/** Extensions for marked's Lexer. */
export const mathExtensions = {
  inline: [among(inLine)],
  block: [among(ownLine)],
  startInline: [at(/\$|\\[([]/)],
  startBlock: [at(/\n {0,3}(?:\$\$|\\\[)/)],
  renderers: {},
  childTokens: {},
};
