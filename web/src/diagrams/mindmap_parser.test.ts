import { expect, test } from 'vitest';
import { mindmapParser } from './mindmap_parser';

/** The calls that the parser makes for a mind map, as text. */
function read(text: string): string[] {
  const told: string[] = [];
  mindmapParser.yy = {
    nodeType: { DEFAULT: 0 },
    getType: (start, end) => [...'[({)'].indexOf(start[0] ?? '') * 10 + start.length + end.length,
    addNode: (level, id, words, type) => told.push(`${level} ${id}|${words}|${type}`),
    decorateNode: (decoration) => told.push(JSON.stringify(decoration)),
  };
  mindmapParser.parse(text);
  return told;
}

test('nodes are parsed with their depth, shape, icon and classes', () => {
  const text = `
%% a map
mindmap
  root((Garden))
    Beds with a name
      a[In (two) rows] %% not that
      ::icon(fa fa-leaf)
    :::urgent large
      b)Cloud(
      c))Bang((
      {{Six}}
    [ "\`In the **morning**
and later\`" ]
    ["A ) ] b"]
    (-Dash-)
`;
  expect(read(text)).toEqual([
    '2 root|Garden|14',
    '4 Beds with a name|Beds with a name|0',
    '6 a|In (two) rows|2',
    '{"icon":"fa fa-leaf"}',
    '{"class":"urgent large"}',
    '6 b|Cloud|32',
    '6 c|Bang|34',
    '6 Six|Six|24',
    '4 In the **morning**\nand later|In the **morning**\nand later|2',
    '4 A ) ] b|A ) ] b|2',
    '4 Dash|Dash|14',
  ]);
});

test.each([
  ['flowchart', 1],
  ['mindmap\n  root[open', 2],
  ['mindmap\n\n  root\n    a ] b', 4],
])('%j is refused with the line', (text, at) => {
  expect(() => read(text)).toThrow(`line ${at}`);
});

test('a long line of brackets is parsed in bounded time', () => {
  const begun = performance.now();
  expect(() => read(`mindmap\n  ${'(['.repeat(10_000)}`)).toThrow('line 2');
  expect(performance.now() - begun).toBeLessThan(2000);
});
