/**
 * Places the nodes of a mind map: the branches of the root on both of its sides, each node next to its parent. Replaces
 * mermaid's layout by simulated forces, a separate library that is larger than all other code for diagrams.
 */

interface Node {
  id: string;
  isGroup: boolean;
  /** The size as drawn. */
  width: number;
  height: number;
  x: number;
  y: number;
}

interface Edge {
  start: string;
  end: string;
  points?: { x: number; y: number }[];
}

interface Selection {
  select(selector: string): Selection;
  insert(tag: string): Selection;
  attr(name: string, value: string): Selection;
  node(): SVGGraphicsElement;
}

interface Layout {
  nodes: Node[];
  edges: Edge[];
  config: unknown;
  markers: unknown;
  type: string;
  diagramId: string;
}

interface Drawing {
  insertMarkers(to: Selection, markers: unknown, type: string, id: string): void;
  insertNode(to: Selection, node: Node, settings: unknown): Promise<Selection>;
  insertEdge(to: Selection, edge: Edge, clusters: object, type: string, start: Node, end: Node, id: string): void;
}

const maxNodes = 500;
const [between, beside] = [16, 70];

export interface Sized {
  width: number;
  height: number;
  x: number;
  y: number;
  children: Sized[];
}

const heightOf = (node: Sized): number =>
  Math.max(
    node.height + between,
    node.children.reduce((sum, child) => sum + heightOf(child), 0),
  );

/** Places the children of `node` to its right (1) or left (-1), vertically centred, and their descendants likewise. */
function placeChildren(node: Sized, children: Sized[], side: 1 | -1): void {
  const heights = children.map(heightOf);
  let top = node.y - heights.reduce((sum, height) => sum + height, 0) / 2;
  children.forEach((child, i) => {
    const height = heights[i] ?? 0;
    child.x = node.x + side * (node.width / 2 + beside + child.width / 2);
    child.y = top + height / 2;
    top += height;
    placeChildren(child, child.children, side);
  });
}

/** Places the first branches on the right, up to half of the total height, and the others on the left. */
export function placeAround(root: Sized): void {
  const heights = root.children.map(heightOf);
  const half = heights.reduce((sum, height) => sum + height, 0) / 2;
  let sum = 0;
  const isRight = heights.map((height) => (sum += height) - height / 2 <= half);
  [root.x, root.y] = [0, 0];
  placeChildren(
    root,
    root.children.filter((_, i) => isRight[i]),
    1,
  );
  placeChildren(
    root,
    root.children.filter((_, i) => !isRight[i]),
    -1,
  );
}

export async function render(layout: Layout, svg: Selection, drawing: Drawing): Promise<void> {
  if (layout.nodes.length > maxNodes) throw new Error(`more than ${maxNodes} nodes`);
  const [first] = layout.nodes;
  if (!first) return;
  const whole = svg.select('g');
  drawing.insertMarkers(whole, layout.markers, layout.type, layout.diagramId);
  const lines = whole.insert('g').attr('class', 'edgePaths');
  const boxes = whole.insert('g').attr('class', 'nodes');
  const placed = new Map<string, Sized & { id: string; drawn: Selection }>();
  for (const node of layout.nodes) {
    const drawn = await drawing.insertNode(boxes, node, { config: layout.config, dir: 'TB' });
    const { width, height } = drawn.node().getBBox();
    placed.set(node.id, { id: node.id, drawn, width, height, x: 0, y: 0, children: [] });
  }
  for (const { start, end } of layout.edges) {
    const child = placed.get(end);
    if (child) placed.get(start)?.children.push(child);
  }
  const root = placed.get(first.id);
  if (root) placeAround(root);
  for (const { drawn, x, y } of placed.values()) drawn.attr('transform', `translate(${x}, ${y})`);
  for (const edge of layout.edges) {
    const [start, end] = [placed.get(edge.start), placed.get(edge.end)];
    if (!start || !end) continue;
    const middle = end.x - Math.sign(end.x - start.x) * (end.width / 2 + beside / 2);
    const points = [start, { x: middle, y: start.y }, { x: middle, y: end.y }, end].map(({ x, y }) => ({ x, y }));
    // The nodes cover the lines, which may therefore start and end at the centres of nodes.
    const bare = ({ id, width, height, x, y }: typeof start): Node => ({ id, isGroup: false, width, height, x, y });
    drawing.insertEdge(lines, { ...edge, points }, {}, layout.type, bare(start), bare(end), layout.diagramId);
  }
}
