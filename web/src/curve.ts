// The return curve: mean and best of each generation, and the held-out looks at the mean policy.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { count, real } from "./format.ts";
import type { CurvePoint } from "./types/tab";

/** Above this many points neighbours are drawn as one. */
const pointsMax = 1500;

/** Rows for the plot: generation, mean, best, look. */
export type Columns = [number[], (number | null)[], (number | null)[], (number | null)[]];

/** columns lays points out for the plot, thinned evenly; looks and the newest point are kept. */
export function columns(points: readonly CurvePoint[], limit = pointsMax): Columns {
  const out: Columns = [[], [], [], []];
  const stride = Math.max(1, Math.ceil(points.length / limit));
  points.forEach((p, i) => {
    if (i % stride !== 0 && i !== points.length - 1 && p.validate === undefined) return;
    out[0].push(p.height);
    out[1].push(p.mean);
    out[2].push(p.best);
    out[3].push(p.validate ?? null);
  });
  return out;
}

/** summary says the curve in words, for those who do not see it. */
export function summary(points: readonly CurvePoint[]): string {
  const last = points.at(-1);
  if (!last) return "No generation has been completed yet.";
  const look = points.findLast((p) => p.validate !== undefined);
  const seen = look ? ` The newest held-out look, at generation ${count(look.height)}, gave ${real(look.validate)}.` : "";
  return `After ${count(last.height)} generations the mean return is ${real(last.mean)}, the best ${real(last.best)}.${seen}`;
}

export class Curve {
  private points: CurvePoint[] = [];
  private plot: uPlot | null = null;
  private threshold: number | null = null;

  constructor(private readonly box: HTMLElement) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.rebuild());
    new ResizeObserver(() => this.plot?.setSize(this.size())).observe(box);
  }

  /** Height of the newest point, 0 for none. */
  get height(): number {
    return this.points.at(-1)?.height ?? 0;
  }

  get words(): string {
    return summary(this.points);
  }

  /** Adds points above the present ones; those that a fork replaced are dropped. */
  add(points: readonly CurvePoint[], threshold: number | null): void {
    const first = points[0];
    if (first) this.points = this.points.filter((p) => p.height < first.height).concat(points);
    if (threshold !== this.threshold || !this.plot) {
      this.threshold = threshold;
      return this.rebuild();
    }
    if (first) this.plot.setData(columns(this.points));
  }

  /** Starts over, for another run. */
  clear(): void {
    this.points = [];
    this.rebuild();
  }

  private size(): { width: number; height: number } {
    return { width: this.box.clientWidth, height: this.box.clientHeight };
  }

  private rebuild(): void {
    this.plot?.destroy();
    this.plot = null;
    if (this.points.length === 0) return;
    const style = getComputedStyle(this.box);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    this.plot = new uPlot(this.options(colour, style.fontFamily), columns(this.points), this.box);
  }

  private options(colour: (name: string) => string, font: string): uPlot.Options {
    const muted = colour("--muted");
    const axis = { stroke: muted, font: `12px ${font}`, ticks: { show: false }, grid: { stroke: colour("--line"), width: 1 } };
    const threshold = this.threshold;
    return {
      ...this.size(),
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false }, y: { range: (_, low, high) => spread(low, high, threshold) } },
      axes: [
        { ...axis, size: 30, grid: { show: false }, values: (_, ticks) => ticks.map((t) => (Number.isInteger(t) ? count(t) : "")) },
        { ...axis, size: 46, values: (_, ticks) => ticks.map(real) },
      ],
      series: [
        {},
        { stroke: colour("--accent"), width: 2, points: { show: this.points.length < 2 } },
        { stroke: colour("--faint"), width: 1.25, points: { show: this.points.length < 2 } },
        { stroke: colour("--second"), width: 0, paths: () => null, points: { show: true, size: 6, fill: colour("--second") } },
      ],
      hooks: { draw: threshold === null ? [] : [(u) => drawThreshold(u, threshold, muted)] },
    };
  }
}

/** spread gives the curve some air, and shows the threshold once the curve has come a quarter of the way to it. */
export function spread(low: number | null, high: number | null, threshold: number | null): [number, number] {
  let min = low ?? 0;
  let max = high ?? 1;
  if (threshold !== null && threshold > max && max - min > (threshold - min) / 4) max = threshold;
  if (max === min) max = min + 1;
  const air = 0.06 * (max - min);
  return [min >= 0 && min - air < 0 ? 0 : min - air, max + air];
}

/** drawThreshold draws the return at which the world counts as solved. */
function drawThreshold(u: uPlot, threshold: number, colour: string): void {
  const y = Math.round(u.valToPos(threshold, "y", true));
  if (y < u.bbox.top || y > u.bbox.top + u.bbox.height) return;
  const { ctx } = u;
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.fillStyle = colour;
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(u.bbox.left, y);
  ctx.lineTo(u.bbox.left + u.bbox.width, y);
  ctx.stroke();
  ctx.font = `${11 * devicePixelRatio}px ${getComputedStyle(u.root).fontFamily}`;
  ctx.textAlign = "right";
  ctx.textBaseline = "bottom";
  ctx.fillText("solved", u.bbox.left + u.bbox.width, y - 3 * devicePixelRatio);
  ctx.restore();
}
