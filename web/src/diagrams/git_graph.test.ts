import { expect, test } from 'vitest';
import { parse } from './parser';

const read = (text: string): Promise<unknown> => parse('gitGraph', text);

test('each statement of a Git graph is parsed', async () => {
  const text = `
%% how we work
gitGraph TB:
  accTitle: Our branches
  commit
  commit id: "a b" tag: "v1" tag: 'v2' type: HIGHLIGHT
  commit "first words"
  commit msg: "more words"
  branch feature/x-1 order: 2
  checkout "feature/x-1"
  switch main
  merge feature/x-1 id: "m" type:REVERSE
  cherry-pick id:"a b" parent: "m" tag: ""
`;
  expect(await read(text)).toEqual({
    dir: 'TB',
    accTitle: 'Our branches',
    statements: [
      { $type: 'Commit', tags: [] },
      { $type: 'Commit', tags: ['v1', 'v2'], id: 'a b', type: 'HIGHLIGHT' },
      { $type: 'Commit', tags: [], message: 'first words' },
      { $type: 'Commit', tags: [], message: 'more words' },
      { $type: 'Branch', tags: [], name: 'feature/x-1', order: 2 },
      { $type: 'Checkout', tags: [], branch: 'feature/x-1' },
      { $type: 'Checkout', tags: [], branch: 'main' },
      { $type: 'Merge', tags: [], branch: 'feature/x-1', id: 'm', type: 'REVERSE' },
      { $type: 'CherryPicking', tags: [''], id: 'a b', parent: 'm' },
    ],
  });
});

test.each([
  ['pie', 1],
  ['gitGraph\ncommit order: 2', 2],
  ['gitGraph\ncommit type: LOUD', 2],
  ['gitGraph\ncommit\nbranch', 3],
  ['gitGraph\ncommit\n\nconstructor x', 4],
  ['gitGraph\ncommit id: "open', 2],
  ['gitGraph\ncherry-pick tag: "x"', 2],
])('%j is refused with the line', async (text, line) => {
  await expect(read(text)).rejects.toThrow(`line ${line}:`);
});
