// The candidates of the newest generations as a cloud of points: fitness against generation, this tab's own marked.

import { real, tick } from "./format.ts";
import { say } from "./lang.ts";
import type { Entry } from "./types/tab";

/** At most so many points are kept; the oldest generations go first. A canvas draws them in a few milliseconds. */
const pointsMax = 5000;

/** How often it is drawn at most. [ms] */
const period = 1000;

/** Points keeps the newest generations, in order of height. */
export class Points {
  entries: Entry[] = [];
  private count = 0;

  /** Takes in generations in order. Those from the first one's height on are replaced: another branch may have won. */
  add(entries: readonly Entry[]): void {
    const first = entries[0];
    if (!first) return;
    while (this.entries.length > 0 && this.entries.at(-1)!.height >= first.height) this.count -= size(this.entries.pop()!);
    for (const e of entries) {
      this.entries.push(e);
      this.count += size(e);
    }
    while (this.count > pointsMax && this.entries.length > 1) this.count -= size(this.entries.shift()!);
  }

  clear(): void {
    this.entries = [];
    this.count = 0;
  }

  /** The newest generation in words, for those who do not see the points. */
  words(): string {
    const last = this.entries.at(-1);
    if (!last) return say("scatter.empty");
    return say("scatter.words", { height: last.height, total: last.total, best: real(last.best), mine: last.mine });
  }
}

function size(e: Entry): number {
  return e.others.length + e.own.length;
}

/**
 * range is the interval of returns to draw: all but the lowest few, which would flatten the rest. The goal is
 * in it once the points are near.
 */
export function range(entries: readonly Entry[], goal: number | null): [number, number] {
  const all = entries.flatMap((e) => [...e.others, ...e.own]).sort((a, b) => a - b);
  if (all.length === 0) return [0, 1];
  let low = all[Math.floor(all.length / 50)]!;
  let high = all.at(-1)!;
  if (goal !== null && goal > high && goal - high < high - low) high = goal;
  if (goal !== null && goal < low && low - goal < high - low) low = goal;
  if (high - low < 1e-9) [low, high] = [low - 1, high + 1];
  const air = 0.06 * (high - low);
  return [low - air, high + air];
}

/** steps are round numbers within an interval, at most n. */
export function steps(low: number, high: number, n: number): number[] {
  const raw = (high - low) / n;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw)!;
  const out = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) out.push(k * step + 0); // no -0
  return out;
}

/** Cloud draws them on a canvas. */
export class Cloud {
  private readonly points = new Points();
  private goal: number | null = null;
  private due = false;
  private seen = true;
  private last = 0;
  private run = "";
  private colors: Colors | null = null;
  /** Of the canvas as it is now: browsers free such memory late. */
  private image: ImageData | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly told: (words: string) => void,
  ) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    document.addEventListener("visibilitychange", () => this.ask());
    new ResizeObserver(() => this.repaint()).observe(canvas);
    new IntersectionObserver((all) => {
      this.seen = all.at(-1)!.isIntersecting;
      this.ask();
    }, { rootMargin: "100px" }).observe(canvas);
  }

  /** Takes in generations of a run, in order. */
  add(run: string, entries: readonly Entry[], goal: number | null): void {
    if (run !== this.run) this.points.clear();
    this.run = run;
    this.goal = goal;
    this.points.add(entries);
    this.told(this.points.words());
    if (entries.length > 0) delete this.canvas.closest("figure")!.dataset["empty"];
    this.ask();
  }

  private repaint(): void {
    this.colors = null;
    this.last = 0;
    this.ask();
  }

  /** ask draws soon, but not too often, and not while nobody looks. */
  private ask(): void {
    if (this.due || document.hidden || !this.seen) return;
    this.due = true;
    setTimeout(() => requestAnimationFrame((now) => {
      this.due = false;
      this.last = now;
      this.draw();
    }), Math.max(0, this.last + period - performance.now()));
  }

  private draw(): void {
    const { canvas } = this;
    const [width, height, ratio] = [canvas.clientWidth, canvas.clientHeight, devicePixelRatio || 1];
    if (width === 0) return;
    const ctx = canvas.getContext("2d");
    const entries = this.points.entries;
    if (!ctx) return;
    const image = this.clear(ctx, Math.round(width * ratio), Math.round(height * ratio));
    if (entries.length === 0) return ctx.putImageData(image, 0, 0);
    const c = (this.colors ??= readColors(canvas));
    const [low, high] = range(entries, this.goal);
    const from = entries[0]!.height;
    const to = Math.max(entries.at(-1)!.height, from + 1);
    const [left, right, top, bottom] = [44, width - 8, 6, height - 24];
    const x = (h: number): number => left + 6 + ((h - from) / (to - from)) * (right - left - 12);
    const y = (f: number): number => bottom - ((Math.max(f, low) - low) / (high - low)) * (bottom - top);

    const pixels = new Uint32Array(image.data.buffer);
    for (const e of entries) for (const f of e.others) dot(pixels, image, x(e.height) * ratio, y(f) * ratio, 2 * ratio, c.others);
    for (const e of entries) for (const f of e.own) dot(pixels, image, x(e.height) * ratio, y(f) * ratio, 3 * ratio, c.own);
    ctx.putImageData(image, 0, 0);

    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.globalCompositeOperation = "destination-over"; // the grid lies below the points
    ctx.font = `12px ${c.font}`;
    ctx.lineWidth = 1;
    ctx.textBaseline = "middle";
    ctx.textAlign = "right";
    ctx.fillStyle = c.text;
    for (const s of steps(low, high, 4)) {
      ctx.strokeStyle = c.line;
      ctx.beginPath();
      ctx.moveTo(left, Math.round(y(s)) + 0.5);
      ctx.lineTo(right, Math.round(y(s)) + 0.5);
      ctx.stroke();
      ctx.fillText(tick(s), left - 6, y(s));
    }
    ctx.textBaseline = "bottom";
    ctx.textAlign = "center";
    for (const s of steps(from, to, Math.max(2, Math.floor(width / 110)))) {
      if (Number.isInteger(s)) ctx.fillText(tick(s), x(s), height);
    }
    ctx.globalCompositeOperation = "source-over";
    if (this.goal !== null && this.goal >= low && this.goal <= high) drawGoal(ctx, c, left, right, y(this.goal));
  }

  /** clear returns an image without points that covers a canvas of width x height pixels. */
  private clear(ctx: CanvasRenderingContext2D, width: number, height: number): ImageData {
    if (this.image?.width === width && this.image.height === height) {
      this.image.data.fill(0);
      return this.image;
    }
    [this.canvas.width, this.canvas.height] = [width, height];
    return (this.image = ctx.createImageData(width, height));
  }
}

/** dot fills a square of an image around a point. Thousands of them cost less than a canvas takes for some rectangles. */
function dot(pixels: Uint32Array, image: ImageData, x: number, y: number, size: number, color: number): void {
  const half = size / 2;
  const [left, right] = [Math.max(0, Math.round(x - half)), Math.min(image.width, Math.round(x + half))];
  const [top, bottom] = [Math.max(0, Math.round(y - half)), Math.min(image.height, Math.round(y + half))];
  for (let row = top; row < bottom; row++) pixels.fill(color, row * image.width + left, row * image.width + right);
}

/** drawGoal draws the return that is to be reached, and its name on a ground of its own, since points are everywhere. */
function drawGoal(ctx: CanvasRenderingContext2D, c: Colors, left: number, right: number, y: number): void {
  ctx.strokeStyle = c.text;
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  ctx.moveTo(left, Math.round(y) + 0.5);
  ctx.lineTo(right, Math.round(y) + 0.5);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.textAlign = "left";
  ctx.textBaseline = "bottom";
  ctx.lineWidth = 5;
  ctx.lineJoin = "round";
  ctx.strokeStyle = c.ground;
  ctx.strokeText(say("scatter.goal"), left + 4, y - 3);
  ctx.fillStyle = c.text;
  ctx.fillText(say("scatter.goal"), left + 4, y - 3);
}

interface Colors {
  /** As the words of an image. */
  others: number;
  own: number;
  text: string;
  line: string;
  ground: string;
  font: string;
}

function readColors(element: Element): Colors {
  const style = getComputedStyle(element);
  const of = (name: string): string => style.getPropertyValue(name).trim();
  return { others: word(of("--second"), 0.6), own: word(of("--accent"), 1), text: of("--muted"), line: of("--line"), ground: of("--card"), font: style.fontFamily };
}

/** word is a color #rrggbb with an opacity as images hold it in memory. */
export function word(color: string, opacity: number): number {
  const [r, g, b] = [1, 3, 5].map((i) => Number.parseInt(color.slice(i, i + 2), 16)) as [number, number, number];
  return new Uint32Array(new Uint8ClampedArray([r, g, b, 255 * opacity]).buffer)[0]!;
}
