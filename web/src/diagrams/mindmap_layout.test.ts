import { expect, test } from 'vitest';
import { placeAround, type Sized } from './mindmap_layout';

const node = (width: number, height: number, ...children: Sized[]): Sized => ({ width, height, x: 0, y: 0, children });
const all = (root: Sized): Sized[] => [root, ...root.children.flatMap(all)];
const overlap = (a: Sized, b: Sized): boolean =>
  Math.abs(a.x - b.x) < (a.width + b.width) / 2 && Math.abs(a.y - b.y) < (a.height + b.height) / 2;

test('no two nodes overlap, and branches are on both sides', () => {
  const branch = (): Sized => node(120, 30, node(90, 200, node(40, 20), node(200, 44)), node(300, 20), node(10, 10));
  const root = node(160, 160, branch(), node(80, 30), branch(), branch(), node(500, 25));
  placeAround(root);
  const nodes = all(root);
  expect(nodes.filter((one, i) => nodes.slice(i + 1).some((other) => overlap(one, other)))).toEqual([]);
  const right = nodes.filter(({ x }) => x > 0).length;
  const left = nodes.filter(({ x }) => x < 0).length;
  expect(right + left).toBe(nodes.length - 1);
  expect(Math.abs(right - left)).toBeLessThan(nodes.length / 2);
});

test('a single branch is next to its root', () => {
  const root = node(100, 40, node(60, 20));
  placeAround(root);
  expect(root.children[0]).toMatchObject({ x: 50 + 70 + 30, y: 0 });
});
