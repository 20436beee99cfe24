/** Draws a graph on a canvas. Positions are in units of the arrangement; the sight maps them to pixels. */
import { escapeInvisible } from '../../base/escape';
import { firstLine } from '../../base/format';
import type { Arrangement } from './arrangement';
import type { PageGraph } from './graph';
import { t } from '../../base/language';

/** The visible part: the position at the centre, and the pixels per unit. */
export interface Sight {
  x: number;
  y: number;
  scale: number;
}

const margin = 48;
const nameLength = 28;
const lineHeight = 16;
const maxScale = 80;

/** The sight that contains the whole graph. */
export function wholeSight({ x, y }: Arrangement, width: number, height: number): Sight {
  if (!x.length) return { x: 0, y: 0, scale: 1 };
  const [left, right, top, bottom] = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
  const fits = (pixels: number, units: number): number => Math.max(1, pixels - 2 * margin) / Math.max(units, 1e-6);
  const scale = Math.min(maxScale, fits(width, right - left), fits(height, bottom - top));
  return { x: (left + right) / 2, y: (top + bottom) / 2, scale };
}

const radius = (links: number): number => 3 + Math.sqrt(links);

export class Picture {
  readonly #context: CanvasRenderingContext2D;
  readonly #graph: PageGraph;
  readonly #arrangement: Arrangement;
  readonly #width: number;
  readonly #height: number;
  readonly #sight: Sight;

  constructor(canvas: HTMLCanvasElement, graph: PageGraph, arrangement: Arrangement, sight: Sight) {
    const context = canvas.getContext('2d');
    if (!context) throw new Error(t('This browser cannot draw.'));
    this.#context = context;
    this.#graph = graph;
    this.#arrangement = arrangement;
    this.#sight = sight;
    this.#width = canvas.clientWidth;
    this.#height = canvas.clientHeight;
    canvas.width = this.#width * devicePixelRatio;
    canvas.height = this.#height * devicePixelRatio;
    context.scale(devicePixelRatio, devicePixelRatio);
  }

  #at(i: number): [number, number] {
    const { x, y, scale } = this.#sight;
    return [
      this.#width / 2 + ((this.#arrangement.x[i] ?? 0) - x) * scale,
      this.#height / 2 + ((this.#arrangement.y[i] ?? 0) - y) * scale,
    ];
  }

  /** The nearest node to a point on the canvas, in CSS pixels; null if none is near. */
  nodeAt(left: number, top: number): number | null {
    const reach = 16;
    let [found, nearest]: [number | null, number] = [null, reach];
    for (let i = 0; i < this.#graph.nodes.length; i++) {
      const [x, y] = this.#at(i);
      const distance = Math.hypot(x - left, y - top);
      if (distance < nearest) [found, nearest] = [i, distance];
    }
    return found;
  }

  /** Draws the graph, with `chosen` and its neighbours emphasized. Omits names that would overlap others. */
  draw(chosen: number | null, withNames: boolean): void {
    const colour = this.#colours();
    const { nodes, edges } = this.#graph;
    const near = new Set(chosen === null ? [] : [chosen, ...(nodes[chosen]?.to ?? []), ...(nodes[chosen]?.from ?? [])]);
    this.#lines(edges, colour('edge'), chosen === null ? 0.35 : 0.15);
    if (chosen !== null)
      this.#lines(
        edges.filter((edge) => edge.includes(chosen)),
        colour('accent'),
        1,
      );
    nodes.forEach((_, i) => this.#node(i, chosen === null || near.has(i), colour));
    if (withNames) this.#names([...near, ...nodes.keys()], near, colour);
  }

  /** Resolves colours of the current theme by token name. Only a style property of an element can resolve them. */
  #colours(): (name: string) => string {
    const { canvas } = this.#context;
    const known = new Map<string, string>();
    return (name) => {
      let colour = known.get(name);
      if (colour === undefined) {
        canvas.style.color = `var(--${name})`;
        colour = getComputedStyle(canvas).color;
        known.set(name, colour);
      }
      return colour;
    };
  }

  #lines(edges: [number, number][], colour: string, opacity: number): void {
    const context = this.#context;
    context.globalAlpha = opacity;
    context.strokeStyle = colour;
    context.beginPath();
    for (const [from, to] of edges) {
      context.moveTo(...this.#at(from));
      context.lineTo(...this.#at(to));
    }
    context.stroke();
    context.globalAlpha = 1;
  }

  #node(i: number, isNear: boolean, colour: (name: string) => string): void {
    const node = this.#graph.nodes[i];
    if (!node) return;
    const context = this.#context;
    context.beginPath();
    context.arc(...this.#at(i), radius(node.to.length + node.from.length), 0, 2 * Math.PI);
    context.fillStyle = colour(isNear ? (node.page.scope === 'shared' ? 'accent' : 'ok') : 'faint');
    context.fill();
    context.strokeStyle = colour('bg');
    context.stroke();
  }

  #names(order: number[], near: Set<number>, colour: (name: string) => string): void {
    const context = this.#context;
    const taken: [number, number, number][] = [];
    context.font = `12px ${getComputedStyle(context.canvas).fontFamily}`;
    context.textAlign = 'center';
    context.lineJoin = 'round';
    context.lineWidth = 3;
    context.strokeStyle = colour('bg');
    for (const i of new Set(order)) {
      const node = this.#graph.nodes[i];
      if (!node) continue;
      const [x, y] = this.#at(i);
      const top = y + radius(node.to.length + node.from.length) + 12;
      if (x < 0 || x > this.#width || top < 0 || top > this.#height) continue;
      const name = escapeInvisible(firstLine(node.page.title, nameLength));
      const half = context.measureText(name).width / 2;
      const meets = taken.some(([l, t, h]) => Math.abs(t - top) < lineHeight && Math.abs(l - x) < h + half + 4);
      if (meets) continue;
      taken.push([x, top, half]);
      context.strokeText(name, x, top);
      context.fillStyle = colour(near.size && !near.has(i) ? 'muted' : 'text');
      context.fillText(name, x, top);
    }
  }
}
