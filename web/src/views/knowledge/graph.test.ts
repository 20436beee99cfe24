import { expect, test } from 'vitest';
import type { KnowledgeLink, KnowledgePage } from '../../api/types';
import { Arrangement } from './arrangement';
import { pageGraph } from './graph';

const page = (slug: string, scope = 'shared'): KnowledgePage => ({
  slug,
  title: slug,
  summary: '',
  category: '',
  scope,
  tags: [],
  updated_at: '2026-01-02T03:04:05.678Z',
  words: 1,
});
const link = (slug: string, target: string, scope = 'shared'): KnowledgeLink => ({
  scope,
  slug,
  target_scope: 'shared',
  target,
});

test('a graph has the most linked pages first, and each link in both directions', () => {
  const links = [link('a', 'hub'), link('b', 'hub'), link('hub', 'a'), link('own', 'hub', 'agent:scout')];
  const graph = pageGraph(['a', 'b', 'hub'].map((slug) => page(slug)).concat(page('own', 'agent:scout')), links, 10);
  expect(graph.nodes.map(({ key }) => key)).toEqual(['shared/hub', 'shared/a', 'shared/b', 'agent:scout/own']);
  expect(graph.nodes[0]).toMatchObject({ to: [1], from: [1, 2, 3] });
  expect(graph.edges).toEqual([
    [0, 1],
    [0, 2],
    [0, 3],
  ]);
});

test('a graph of too many pages leaves out those with the fewest links', () => {
  const graph = pageGraph([page('lone'), page('a'), page('b')], [link('a', 'b'), link('b', 'gone')], 2);
  expect(graph.nodes.map(({ page: { slug } }) => slug)).toEqual(['b', 'a']);
  expect(graph.others).toBe(1);
});

function arrange(count: number, edges: [number, number][]): Arrangement {
  const arrangement = new Arrangement(count, edges);
  for (let rounds = 0; !arrangement.isDone; rounds++) {
    arrangement.step();
    expect(rounds).toBeLessThan(Arrangement.rounds);
  }
  return arrangement;
}

const distance = ({ x, y }: Arrangement, i: number, k: number): number => Math.hypot(x[i]! - x[k]!, y[i]! - y[k]!);

test('linked pages are closer to each other than other pages', () => {
  // Two rings of ten pages.
  const edges = Array.from({ length: 20 }, (_, i): [number, number] => [
    i,
    i < 10 ? (i + 1) % 10 : 10 + ((i + 1) % 10),
  ]);
  const arrangement = arrange(20, edges);
  const linked = edges.map(([i, k]) => distance(arrangement, i, k));
  expect(Math.max(...linked)).toBeLessThan(distance(arrangement, 0, 5) * 2);
  expect(linked.reduce((sum, one) => sum + one, 0) / linked.length).toBeLessThan(distance(arrangement, 0, 15));
});

test.each([60, 500])('pages without links are close to the other %i', (linked) => {
  const edges = Array.from({ length: linked }, (_, i) =>
    [i * 7, i * 3 + 1, i % 5].map((to): [number, number] => [i, to % linked]),
  )
    .flat()
    .filter(([i, k]) => i !== k);
  const arrangement = arrange(linked + 10, edges);
  const reach = (from: number, to: number): number =>
    Math.max(
      ...Array.from({ length: to - from }, (_, i) => Math.hypot(arrangement.x[from + i]!, arrangement.y[from + i]!)),
    );
  expect(reach(linked, linked + 10)).toBeLessThan(reach(0, linked) * 2.5);
});

test('500 pages with 2,000 links get distinct positions, the same each time', () => {
  const edges = Array.from({ length: 2000 }, (_, i): [number, number] => [i % 500, (i * 37 + 11) % 500]).filter(
    ([i, k]) => i !== k,
  );
  const before = performance.now();
  const arrangement = arrange(500, edges);
  expect(performance.now() - before).toBeLessThan(5000);
  expect([...arrangement.x, ...arrangement.y].every(Number.isFinite)).toBe(true);
  const again = arrange(500, edges);
  expect([...again.x]).toEqual([...arrangement.x]);
  let nearest = Infinity;
  for (let i = 0; i < 500; i++)
    for (let k = i + 1; k < 500; k++) nearest = Math.min(nearest, distance(arrangement, i, k));
  expect(nearest).toBeGreaterThan(0.01);
});
