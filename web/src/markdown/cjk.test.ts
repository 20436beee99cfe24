import type { Token, Tokens } from 'marked';
import { expect, test } from 'vitest';
import { lex } from './blocks';

/** The text with emphasis in `[]` and strong emphasis in `{}`. */
const marked = (tokens: Token[]): string =>
  tokens
    .map((token) => {
      const inner = 'tokens' in token && token.tokens ? marked(token.tokens) : token.raw;
      return token.type === 'strong' ? `{${inner}}` : token.type === 'em' ? `[${inner}]` : inner;
    })
    .join('');

test.each([
  ['**太字。**続く', '{太字。}続く'],
  ['これは**「強調」**です。', 'これは{「強調」}です。'],
  ['*「強調」*です', '[「強調」]です'],
  ['这是**“重点”**内容', '这是{“重点”}内容'],
  ['这**"重点"**，还有**别的（x）。**好', '这{"重点"}，还有{别的（x）。}好'],
  ['**마크다운(Markdown)**을 사용', '{마크다운(Markdown)}을 사용'],
  ['文字**重点**文字', '文字{重点}文字'],
  ['foo**日本**bar', 'foo{日本}bar'],
  ['foo**「b」**bar', 'foo{「b」}bar'],
  ['。**"a"**b', '。**"a"**b'],
  ['**甲：***乙*', '{甲：}[乙]'],
  ['變數_名_表 と _「x」_で', '變數_名_表 と _「x」_で'],
])('%s is emphasized without spaces', (text, wanted) => {
  expect(marked(lex(text))).toBe(wanted);
});

test.each([
  ['**bold**text', '{bold}text'],
  ['**"bold"**text', '**"bold"**text'],
  ['a * b * c, 2*3*4', 'a * b * c, 2[3]4'],
  ['**a *b* c**', '{a [b] c}'],
  ['** 中 **', '** 中 **'],
])('%s is emphasized as in CommonMark', (text, wanted) => {
  expect(marked(lex(text))).toBe(wanted);
});

/** The addresses of links. */
const addresses = (tokens: Token[]): string[] =>
  tokens.flatMap((token) => [
    ...(token.type === 'link' ? [String((token as Tokens.Link).href)] : []),
    ...('tokens' in token && token.tokens ? addresses(token.tokens) : []),
  ]);

test.each([
  ['请看https://example.com/a，然后', 'https://example.com/a'],
  ['（https://example.com）好', 'https://example.com'],
  ['見 https://ja.wikipedia.org/wiki/日本語。次', 'https://ja.wikipedia.org/wiki/日本語'],
  ['“https://example.com/x”吧', 'https://example.com/x'],
  ['www.example.com。', 'http://www.example.com'],
  ['**https://example.com/1**。做', 'https://example.com/1'],
  ['(https://example.com/a_(b)?x=1,2&y=é).', 'https://example.com/a_(b)?x=1,2&y=é'],
  ['[x](https://example.com/，)', 'https://example.com/，'],
])('the address in %s ends where its sentence goes on', (text, wanted) => {
  expect(addresses(lex(text))).toEqual([wanted]);
});
