/** Languages without spaces between words, for marked's Lexer. */
import { Lexer } from 'marked';

/** Characters of Chinese, Japanese and Korean, with their punctuation. */
const cjk = '\\u2e80-\\ud7ff\\uf900-\\ufaff\\uff00-\\uffef\\u{20000}-\\u{3ffff}';
const next = `[${cjk}]|(?!\\*)[\\p{P}\\p{S}](?=\\*+[${cjk}])`;

/**
 * CommonMark takes `**` between punctuation and a letter for the beginning of emphasis only, because a space is missing:
 * `**重要。**次に`. Next to these characters, `**` and `*` may begin and end it. An address ends before their punctuation.
 */
export function allowMissingSpaces(): void {
  const { gfm } = Lexer.rules.inline;
  for (const [name, from, to] of [
    // What may precede the beginning, if punctuation follows it.
    ['punctuation', '\\p{S}', `\\p{S}${cjk}`],
    // What is punctuation after the beginning.
    ['emStrongLDelim', '(?!\\*)', `(?!\\*|[${cjk}])`],
    // What can only be a beginning, and what can be both.
    ['emStrongRDelimAst', '[\\s\\p{P}\\p{S}](', `(?!${next})[\\s\\p{P}\\p{S}](`],
    ['emStrongRDelimAst', '~)(\\*+)(?=', `~|${next})(\\*+)(?=`],
    ['url', '[^\\s<]', '[^\\s<\\u2018-\\u201f\\u3000-\\u303f\\uff00-\\uffef]'],
  ] as const)
    gfm[name] = new RegExp(gfm[name].source.replace(from, to), gfm[name].flags);
}
