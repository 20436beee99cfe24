/**
 * Arranges the nodes of a graph by forces (Fruchterman and Reingold, 1991): all nodes repel each other, links pull
 * theirs together. The number of rounds is fixed and every round costs the same, so the work is bounded. The initial
 * positions are a spiral, not random, so the same graph always looks the same.
 */
export class Arrangement {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly #edges: [number, number][];
  readonly #forceX: Float64Array;
  readonly #forceY: Float64Array;
  #round = 0;

  static readonly rounds = 200;
  /** Pulls towards the centre, growing with the distance. Keeps unlinked nodes near the rest in graphs of any size. */
  static readonly #gravity = 0.08;
  static readonly #goldenAngle = Math.PI * (3 - Math.sqrt(5));

  constructor(count: number, edges: [number, number][]) {
    this.#edges = edges;
    this.x = new Float64Array(count);
    this.y = new Float64Array(count);
    this.#forceX = new Float64Array(count);
    this.#forceY = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      this.x[i] = Math.sqrt(i) * Math.cos(i * Arrangement.#goldenAngle);
      this.y[i] = Math.sqrt(i) * Math.sin(i * Arrangement.#goldenAngle);
    }
  }

  get isDone(): boolean {
    return this.#round >= Arrangement.rounds;
  }

  /** Runs one round: moves the nodes along the forces, by distances that shrink with each round. */
  step(): void {
    if (this.isDone) return;
    this.#repel();
    this.#pull();
    const reach = (Math.sqrt(this.x.length) / 6) * (1 - this.#round++ / Arrangement.rounds) + 0.01;
    for (let i = 0; i < this.x.length; i++) {
      const [dx, dy] = [this.#forceX[i] ?? 0, this.#forceY[i] ?? 0];
      const share = Math.min(1, reach / (Math.hypot(dx, dy) || 1));
      this.x[i]! += dx * share;
      this.y[i]! += dy * share;
    }
  }

  #repel(): void {
    const { x, y } = this;
    const [forceX, forceY] = [this.#forceX, this.#forceY];
    for (let i = 0; i < x.length; i++) {
      const pull = Math.hypot(x[i]!, y[i]!) * Arrangement.#gravity;
      forceX[i] = -x[i]! * pull;
      forceY[i] = -y[i]! * pull;
    }
    for (let i = 0; i < x.length; i++) {
      for (let k = i + 1; k < x.length; k++) {
        const dx = x[i]! - x[k]!;
        const dy = y[i]! - y[k]!;
        const force = 1 / (dx * dx + dy * dy + 0.01);
        forceX[i]! += dx * force;
        forceY[i]! += dy * force;
        forceX[k]! -= dx * force;
        forceY[k]! -= dy * force;
      }
    }
  }

  #pull(): void {
    for (const [i, k] of this.#edges) {
      const dx = this.x[i]! - this.x[k]!;
      const dy = this.y[i]! - this.y[k]!;
      const distance = Math.hypot(dx, dy) / 2;
      this.#forceX[i]! -= dx * distance;
      this.#forceY[i]! -= dy * distance;
      this.#forceX[k]! += dx * distance;
      this.#forceY[k]! += dy * distance;
    }
  }
}
