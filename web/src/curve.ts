// The learning curve: held-out evaluations of the mean policy, and the fitness of the generations that this
// page has seen.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { count, real, tick } from "./format.ts";
import { say } from "./lang.ts";
import type { Generation, HeldOut, Status } from "./types/tab";

/** Above this many points, neighbors are drawn as one. */
const pointsMax = 1500;

/** More held-out evaluations than this are drawn as a line without dots. */
const dotsMax = 40;

/** Of more generations than this without a held-out evaluation about half are forgotten. */
const generationsMax = 4000;

/** A generation: what is known of it. */
export interface Point {
  height: number;
  heldOut?: number | undefined;
  mean?: number | undefined;
  best?: number | undefined;
}

/** Columns for the plot: generation, held-out return, mean, best. */
export type Columns = [number[], (number | null)[], (number | null)[], (number | null)[]];

/** columns lays points out for the plot, thinned evenly; held-out evaluations and the newest point are kept. */
export function columns(points: readonly Point[], limit = pointsMax): Columns {
  const out: Columns = [[], [], [], []];
  const stride = Math.max(1, Math.ceil(points.length / limit));
  points.forEach((p, i) => {
    if (i % stride !== 0 && i !== points.length - 1 && p.heldOut === undefined) return;
    out[0].push(p.height);
    out[1].push(p.heldOut ?? null);
    out[2].push(p.mean ?? null);
    out[3].push(p.best ?? null);
  });
  return out;
}

/** summary says the curve in words, for those who do not see it. */
export function summary(points: readonly Point[], threshold: number | null): string {
  const last = points.at(-1);
  if (!last) return say("scatter.empty");
  const parts = [say("curve.height", { height: last.height })];
  let at = points.length - 1;
  while (at >= 0 && points[at]!.heldOut === undefined) at--;
  const held = points[at];
  if (held) parts.push(say("curve.held", { height: held.height, return: real(held.heldOut) }));
  if (threshold !== null) parts.push(say("curve.goal", { goal: real(threshold) }));
  return parts.join(" ");
}

/** spread leaves a margin around the curve, and includes the threshold once the curve is a quarter of the way to it. */
export function spread(low: number | null, high: number | null, threshold: number | null): [number, number] {
  let min = low ?? 0;
  let max = high ?? 1;
  if (threshold !== null && threshold > max && max - min > (threshold - min) / 4) max = threshold;
  if (max === min) max = min + 1;
  const air = 0.08 * (max - min);
  return [min >= 0 && min - air < 0 ? 0 : min - air, max + air];
}

/** merge joins two learning curves of one run; where both have a height, the first one counts. */
export function merge(first: readonly HeldOut[], second: readonly HeldOut[]): HeldOut[] {
  const points = new Map([...second, ...first].map((p) => [p.height, p]));
  return [...points.values()].sort((a, b) => a.height - b.height);
}

/** History collects what is known of the generations of one run. */
export class History {
  private readonly points = new Map<number, Point>();
  private run = "";
  /** The learning curve that was taken in last. */
  private curve: readonly HeldOut[] = [];

  /**
   * Takes in the newest generation, the learning curve as far as it is known, and earlier generations. Reports whether
   * anything is new. A curve that it knows is the same array: a page is open for hours.
   */
  add(status: Status, curve: readonly HeldOut[], earlier: readonly Generation[] = []): boolean {
    if (status.run !== this.run) {
      this.run = status.run;
      this.points.clear();
      this.curve = [];
    }
    let fresh = curve !== this.curve && this.replace(curve);
    for (const g of earlier) fresh = this.put({ height: g.height, mean: g.mean, best: g.best }) || fresh;
    if (status.height > 0 && status.mean !== null && status.best !== null) {
      fresh = this.put({ height: status.height, mean: status.mean, best: status.best }) || fresh;
    }
    if (this.points.size > generationsMax + curve.length) this.thin();
    return fresh;
  }

  /** replace puts a learning curve in the place of the last one. What it no longer has was of a branch that the swarm left. */
  private replace(curve: readonly HeldOut[]): boolean {
    const heights = new Set(curve.map((p) => p.height));
    let fresh = false;
    for (const { height } of this.curve) if (!heights.has(height)) fresh = this.put({ height, heldOut: undefined }) || fresh;
    for (const p of curve) fresh = this.put({ height: p.height, heldOut: p.return }) || fresh;
    this.curve = curve;
    return fresh;
  }

  /**
   * Forgets generations without a held-out evaluation, so that the others are evenly spread, with the newest. A
   * run may last for a week.
   */
  private thin(): void {
    const plain = this.sorted().filter((p) => p.heldOut === undefined);
    const newest = plain.at(-1)?.height ?? 0;
    let last = plain[0]?.height ?? 0;
    const stride = (2 * (newest - last)) / generationsMax;
    for (const { height } of plain.slice(1, -1)) {
      if (height - last < stride) this.points.delete(height);
      else last = height;
    }
  }

  /** All points, in order of height. */
  sorted(): Point[] {
    return [...this.points.values()].sort((a, b) => a.height - b.height);
  }

  /** Most of what every status brings is known: nothing is made of that, since a page is open for hours. */
  private put(p: Point): boolean {
    const old = this.points.get(p.height);
    if (old && !differs(old, p, "heldOut") && !differs(old, p, "mean") && !differs(old, p, "best")) return false;
    this.points.set(p.height, { ...old, ...p });
    return true;
  }
}

/** differs reports whether p says something else of a value than is known. */
function differs(known: Point, p: Point, key: "heldOut" | "mean" | "best"): boolean {
  return key in p && p[key] !== known[key];
}

/** Curve draws a history. */
export class Curve {
  private readonly history = new History();
  private plot: uPlot | null = null;
  private threshold: number | null = null;

  constructor(private readonly box: HTMLElement) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.rebuild());
    new ResizeObserver(() => this.plot?.setSize(this.size())).observe(box);
  }

  /** Draws what is new; returns the curve in words, or null if nothing changed. */
  update(status: Status, curve: readonly HeldOut[], earlier: readonly Generation[]): string | null {
    const fresh = this.history.add(status, curve, earlier);
    if (this.threshold !== status.threshold) this.plot?.destroy(), (this.plot = null);
    this.threshold = status.threshold;
    if (!fresh && this.plot) return null;
    const points = this.history.sorted();
    if (this.plot && this.plot.data[0].length > 2) this.plot.setData(columns(points));
    else this.rebuild(points);
    return summary(points, this.threshold);
  }

  private size(): { width: number; height: number } {
    return { width: this.box.clientWidth, height: this.box.clientHeight };
  }

  private rebuild(points = this.history.sorted()): void {
    this.plot?.destroy();
    this.plot = null;
    if (points.length === 0) return;
    const style = getComputedStyle(this.box);
    this.plot = new uPlot(this.options(style, points.length), columns(points), this.box);
  }

  private options(style: CSSStyleDeclaration, points: number): uPlot.Options {
    const color = (name: string): string => style.getPropertyValue(name).trim();
    const muted = color("--muted");
    const axis = { stroke: muted, font: `12px ${style.fontFamily}`, ticks: { show: false }, grid: { stroke: color("--line"), width: 1 } };
    const threshold = this.threshold;
    const few = { show: points < 3, size: 5 };
    const dots = (u: uPlot, i: number): boolean => [...u.data[i]!].reduce<number>((n, y) => n + Number(y !== null), 0) <= dotsMax;
    return {
      ...this.size(),
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false, range: (_, low, high) => [low, Math.max(high, low + 1)] }, y: { range: (_, low, high) => spread(low, high, threshold) } },
      axes: [
        { ...axis, size: 28, grid: { show: false }, values: (_, ticks) => ticks.map((t) => (Number.isInteger(t) ? count(t) : "")) },
        { ...axis, size: 44, values: (_, ticks) => ticks.map(tick) },
      ],
      series: [
        {},
        { stroke: color("--accent"), width: 2, gaps: wide, points: { show: dots, size: 6, fill: color("--accent") } },
        { stroke: color("--second"), width: 1.5, spanGaps: true, points: few },
        { stroke: color("--faint"), width: 1.25, spanGaps: true, points: few },
      ],
      hooks: { draw: threshold === null ? [] : [(u) => drawThreshold(u, threshold, muted)] },
    };
  }
}

/** wide keeps the gaps where held-out evaluations are missing: those much wider than the usual interval. */
function wide(u: uPlot, series: number, _from: number, _to: number, gaps: [number, number][]): [number, number][] {
  const at = u.data[0].filter((_, i) => u.data[series]![i] != null);
  const usual = at.slice(1).map((x, i) => x - at[i]!).sort((a, b) => a - b)[Math.floor((at.length - 1) / 2)] ?? 0;
  const limit = 3 * Math.abs(u.valToPos(usual, "x", true) - u.valToPos(0, "x", true));
  return gaps.filter(([from, to]) => to - from > limit);
}

/** drawThreshold draws the return at which the environment counts as solved. */
function drawThreshold(u: uPlot, threshold: number, color: string): void {
  const y = Math.round(u.valToPos(threshold, "y", true));
  if (y < u.bbox.top || y > u.bbox.top + u.bbox.height) return;
  const { ctx } = u;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(u.bbox.left, y);
  ctx.lineTo(u.bbox.left + u.bbox.width, y);
  ctx.stroke();
  ctx.font = `${11 * devicePixelRatio}px ${getComputedStyle(u.root).fontFamily}`;
  ctx.textAlign = "left";
  ctx.textBaseline = "top";
  ctx.fillText(say("curve.solved"), u.bbox.left + 4 * devicePixelRatio, y + 4 * devicePixelRatio);
  ctx.restore();
}
