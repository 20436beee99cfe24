import { Lexer, type Tokens } from 'marked';
import { expect, test } from 'vitest';
import { BlockReader, lex, piece } from './blocks';

const answer = [
  '# Title',
  'A paragraph with **bold**,\nover two lines.',
  '- one\n- two\n\n  still two\n- three',
  '```js\nlet a = 1;\n\nlet b;\n```',
  '| a | b |\n| - | - |\n| 1 | 2 |',
  '> quoted\n> more',
  '1. first\n2. second',
  'The end.',
].join('\n\n');

const shape = (tokens: { type: string; raw: string }[]): [string, string][] =>
  tokens.map(({ type, raw }) => [type, raw]);

test('text that streams letter by letter has the same blocks as the whole text', () => {
  const reader = new BlockReader();
  for (let i = 1; i < answer.length; i++) reader.read(answer.slice(0, i));
  const blocks = reader.read(answer).map(({ token }) => token);
  expect(shape(blocks)).toEqual(shape(Lexer.lex(answer)));
});

test('finished blocks keep their objects', () => {
  const reader = new BlockReader();
  const [first] = reader.read('One.\n\nTwo.\n\nThree.\n\nFour');
  expect(reader.read('One.\n\nTwo.\n\nThree.\n\nFour and more')[0]?.token).toBe(first?.token);
});

test('a different text starts over', () => {
  const reader = new BlockReader();
  reader.read('One.\n\nTwo.\n\nThree.');
  expect(reader.read('Else.').map(({ token }) => token.raw)).toEqual(['Else.']);
});

declare const process: { cpuUsage(since?: object): { user: number; system: number } };

/** Milliseconds of the processor that parsing takes, which do not depend on what else the machine does. */
function workOf(texts: string[]): number {
  const start = process.cpuUsage();
  for (const text of texts) new BlockReader().read(text);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

test('text without line breaks, 100,000 items and deep nesting take at most 10 times the work of short texts', () => {
  const short = 'Some *words* and `code`.\n\n'.repeat(120);
  const usual = workOf(Array.from({ length: 20 }, () => short));
  for (const text of [
    'x'.repeat(500_000),
    '- item\n'.repeat(100_000),
    '>'.repeat(5_000),
    '['.repeat(20_000),
    '*a '.repeat(10_000),
  ])
    expect(workOf([text.slice(0, 20 * short.length)])).toBeLessThan(10 * usual);
}, 120_000);

const lines = (count: number, line: string): string =>
  Array.from({ length: count }, (_, i) => line.replace('#', String(i))).join('\n');

/** A document as models write it: its own fences are not longer than those of the code in it. */
const readme = '```markdown\n# Tool\n\n```bash\nmake\n```\n\n## Use\n\n~~~text\n$ tool\n~~~\n```';

test('a Markdown document in code ends after its own fence, not after the fences of code in it', () => {
  const text = `Here it is:\n\n${readme}\n\nAnything else?`;
  const reader = new BlockReader();
  for (let i = 1; i < text.length; i++) reader.read(text.slice(0, i));
  for (const blocks of [reader.read(text), new BlockReader().read(text)])
    expect(shape(blocks.map(({ token }) => token))).toEqual([
      ['paragraph', 'Here it is:'],
      ['space', '\n\n'],
      ['code', readme],
      ['space', '\n\n'],
      ['paragraph', 'Anything else?'],
    ]);
});

const code = (text: string): string[] =>
  new BlockReader()
    .read(text)
    .flatMap(({ token }) => (token.type === 'code' ? [String((token as Tokens.Code).text)] : []));

test.each([
  ['no code', '```md\n# A\n```\nB', ['# A']],
  ['nothing', '```md\n```\nB', ['']],
  ['no end', '```md\n# A\n```js\nb\n```\n', ['# A\n```js\nb\n```']],
  ['another document', '```md\n```MDX title="x"\n```js\na\n```\n```\n```\nB', ['```MDX title="x"\n```js\na\n```\n```']],
  ['a longer fence', '```md\n````js\n```\n````\n```\nB', ['````js\n```\n````']],
  ['tildes', '~~~markdown\n~~~js\na\n~~~\n~~~\nB', ['~~~js\na\n~~~']],
  ['a line that only looks like a fence', '```md\n```not `a` fence\n```\nB', ['```not `a` fence']],
])('a Markdown document in code may have in it: %s', (_, text, wanted) => {
  expect(code(text)).toEqual(wanted);
});

test('a fence whose language contains a backtick begins no document', () => {
  expect(types('```md `x`\n```')).toEqual(['paragraph', 'code']);
});

test('a fence with a language opens nothing in other code', () => {
  expect(code('```text\n```js\n```\n\nB\n\n```js\nlet c;\n```')).toEqual(['```js', 'let c;']);
});

test.each([
  ['fenced code', `\`\`\`\`js\n${lines(2000, 'let a# = 1;\n\n```\n# no heading')}\n\`\`\`\`\``],
  ['code that is not closed', `~~~\n${lines(2000, 'let a# = 1;\n\n- no list')}`],
  ['indented code', lines(2000, '    let a# = 1;\n \n\tlet b# = 2;\n')],
  ['a document with code', `\`\`\`md\n${lines(1000, '# A\n\n```js\nlet a# = 1;\n```\n')}\n\`\`\``],
  ['a table', `| a | b |\n| - | - |\n${lines(2000, '| one # | two |')}`],
])('%s longer than what is parsed at once stays whole', (_, block) => {
  const text = `Before.\n\n${block.trimEnd()}`;
  const wanted = shape(lex(text));
  expect(shape(new BlockReader().read(text).map(({ token }) => token))).toEqual(wanted);
  const reader = new BlockReader();
  for (let i = 0; i < text.length; i += 5000) reader.read(text.slice(0, i));
  expect(shape(reader.read(text).map(({ token }) => token))).toEqual(wanted);
});

test('long indented code ends before a line that is not indented', () => {
  const code = lines(2000, '    let a# = 1;\n');
  expect(types(`${code}\nAfter.`)).toEqual(['code', 'space', 'paragraph']);
});

test('code in a list is split only between the items', () => {
  const item = `1. Do\n   \`\`\`\n${lines(100, '   run #')}\n   \`\`\``;
  const blocks = new BlockReader().read(Array(60).fill(item).join('\n'));
  const items = blocks.flatMap(({ token }) => (token as Tokens.List).items);
  expect(items.map(({ tokens }) => tokens.map(({ type }) => type).join())).toEqual(Array(60).fill('text,code'));
});

test('code is read to its end beyond the limit, other text to a line before it', () => {
  const code = `\`\`\`\n${lines(9000, 'let a# = 1;')}\n\`\`\``;
  const reader = new BlockReader();
  expect(reader.read(code, piece).map(({ token }) => token.raw)).toEqual([code]);
  expect(reader.left).toBe(0);
  const more = `${code}\n\n${lines(9000, 'words #')}`;
  reader.read(more, piece);
  expect(more.length - reader.left - code.length).toBeLessThan(10);
  reader.read(more, reader.length + piece);
  expect(more.length - reader.left - code.length).toBeGreaterThan(piece / 2);
  expect(more[reader.length - 1]).toBe('\n');
  // A line of any length, and line breaks at the end.
  expect(new BlockReader().read('x'.repeat(2 * piece), piece)[0]?.token.raw).toHaveLength(piece / 2);
  reader.read(`${'x\r\n'.repeat(piece / 2)}\r\n\r\n`, piece);
  expect(reader.left).toBe(0);
});

test('lines that end with a carriage return are read once', () => {
  const reader = new BlockReader();
  const text = answer.replaceAll('\n', '\r\n');
  for (let i = 1; i < text.length; i++) reader.read(text.slice(0, i));
  expect(shape(reader.read(text).map(({ token }) => token))).toEqual(shape(Lexer.lex(answer)));
});

test('a link is found although its address arrives later', () => {
  const text =
    'See [the rules][1] and [Notes].\n\n- [x] [more][1]\n\nThen.\n\n[1]: https://a.example/rules\n[notes]: /n';
  const reader = new BlockReader();
  for (let i = 1; i < text.length; i++) reader.read(text.slice(0, i));
  const streamed = reader.read(text).map(({ token }) => token);
  expect(shape(streamed)).toEqual(shape(Lexer.lex(text)));
  expect(JSON.stringify(streamed)).toBe(JSON.stringify(Lexer.lex(text)));
});

const types = (text: string): string[] => new BlockReader().read(text).map(({ token }) => token.type);

test('a footnote has a number', () => {
  expect(types('[^1]: Trees.')).toEqual(['footnote']);
  expect(types('[^0-9]: no digit at all')).toEqual(['paragraph']);
  expect(types('[^note]: Trees and heaps.')).toEqual(['paragraph']);
});

test('the text of a footnote begins on its own line', () => {
  expect(types('[^1]:\nTrees and heaps.')).toEqual(['paragraph']);
  expect(types('[^1]:\nTrees')).toEqual(['def']);
  expect(types('[^é]: Trees')).toEqual(['def']);
});

test('a footnote continues until another block begins', () => {
  expect(types('[^1]: Trees,\nof which\n    - many - rotate.\n-5 is less.')).toEqual(['footnote']);
  for (const [next, type] of [
    ['```js\nlet a;\n```', 'code'],
    ['~~~\nlet a;\n~~~', 'code'],
    ['## Heaps', 'heading'],
    ['> Heaps', 'blockquote'],
    ['- Heaps', 'list'],
    ['  * Heaps', 'list'],
    ['1. Heaps', 'list'],
    ['[^2]: Heaps', 'footnote'],
  ] as const)
    expect(types(`[^1]: Trees\n${next}`)).toEqual(['footnote', type]);
});
