/** The graph of the pages and their links. */
import type { KnowledgeLink, KnowledgePage } from '../../api/types';

export interface PageNode {
  key: string;
  page: KnowledgePage;
  /** `to`: the indices of the nodes to which this node links; `from`: of the nodes that link to it. */
  to: number[];
  from: number[];
}

export interface PageGraph {
  /** Ordered by the number of links, highest first. */
  nodes: PageNode[];
  /** Pairs of indices, each pair once. */
  edges: [number, number][];
  /** The number of pages that were left out. */
  others: number;
}

const keyOf = (scope: string, slug: string): string => `${scope}/${slug}`;

/** The graph of at most `limit` pages: those with the most links. */
export function pageGraph(pages: KnowledgePage[], links: KnowledgeLink[], limit: number): PageGraph {
  const degrees = new Map<string, number>();
  const count = (key: string): unknown => degrees.set(key, (degrees.get(key) ?? 0) + 1);
  for (const { scope, slug, target_scope, target } of links) {
    count(keyOf(scope, slug));
    count(keyOf(target_scope, target));
  }
  const degree = ({ scope, slug }: KnowledgePage): number => degrees.get(keyOf(scope, slug)) ?? 0;
  const shown = [...pages].sort((a, b) => degree(b) - degree(a) || (a.title < b.title ? -1 : 1)).slice(0, limit);
  const nodes = shown.map((page): PageNode => ({ key: keyOf(page.scope, page.slug), page, to: [], from: [] }));
  const places = new Map(nodes.map(({ key }, i) => [key, i]));
  const edges = new Map<string, [number, number]>();
  for (const { scope, slug, target_scope, target } of links) {
    const from = places.get(keyOf(scope, slug));
    const to = places.get(keyOf(target_scope, target));
    if (from === undefined || to === undefined) continue;
    nodes[from]?.to.push(to);
    nodes[to]?.from.push(from);
    const [low, high] = from < to ? [from, to] : [to, from];
    edges.set(`${low} ${high}`, [low, high]);
  }
  return { nodes, edges: [...edges.values()], others: pages.length - shown.length };
}
