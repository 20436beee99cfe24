/** Mathematics in Markdown: `$…$` and `\(…\)` in a line, `$$…$$` and `\[…\]` on their own. */
import type { Token } from 'marked';

export interface MathToken {
  type: 'math';
  raw: string;
  /** TeX. */
  text: string;
  display: boolean;
}

/** Longer ones are shown as they are written. */
const inLine: [RegExp, boolean][] = [
  [/^\$\$((?:[^$\\]|\\[\s\S]){1,4000}?)\$\$/, true],
  [/^\\\[([\s\S]{1,4000}?)\\\]/, true],
  [/^\\\(([\s\S]{1,4000}?)\\\)/, false],
  // Prices are no formulas: a formula begins and ends beside its signs, and no digit follows it.
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

/** Of marked's Lexer. */
export const mathExtensions = {
  inline: [among(inLine)],
  block: [among(ownLine)],
  startInline: [at(/\$|\\[([]/)],
  startBlock: [at(/\n {0,3}(?:\$\$|\\\[)/)],
  renderers: {},
  childTokens: {},
};
