import assert from "node:assert/strict";
import { test } from "node:test";
import { colorOf, cssOf, dot, lensOf, lit, minus, perpendicular, type Vector } from "./lens.ts";
import { byDepth, hull, paintOutlines, pieces } from "./outline.ts";
import type { Palette } from "./scene.ts";
import { blend } from "./space.ts";
import { SpaceLoader } from "./spaceload.ts";
import type { Camera, Scene, Shape } from "./types/compute";

const bounds = { min_x: 0, min_y: 0, max_x: 3, max_y: 2 };
const camera: Camera = { target: [0, 0, 1], distance: 10, azimuth: 90, elevation: 0 };
const floor: Shape = { kind: "floor", points: [0, 0, 0], width: 1, fill: "terrain", stroke: "ground" };
const ball = (x: number, y: number, z: number, fill: Shape["fill"] = "body", radius = 0.5): Shape => ({ kind: "sphere", points: [x, y, z], radius, fill: fill! });
const near = (got: readonly number[], want: readonly number[]): void => got.forEach((x, i) => assert.ok(Math.abs(x - want[i]!) < 1e-9, `got ${got}, want ${want}`));

const palette: Palette = {
  ground: "#a9b0b6", body: "#2b3138", accent: "#c8682a", joint: "#1f7a64", goal: "#1f7a64", terrain: "#d3d7d2", flame: "#e89a1c", ray: "#d9a09a",
};

test("a camera looks as MuJoCo's: at azimuth 90 along y, with x to the right", () => {
  const lens = lensOf(camera);
  near(lens.eye, [0, -10, 1]);
  near(lens.forth, [0, 1, 0]);
  near(lens.right, [1, 0, 0]);
  near(lens.over, [0, 0, 1]);
  const above = lensOf({ ...camera, azimuth: 0, elevation: -90 });
  near(above.eye, [0, 0, 11]);
  near(above.forth, [0, 0, -1]);
  near(above.over, [1, 0, 0]);
});

test("light comes from above and from the viewer's left, so that what one sees is lit", () => {
  for (const azimuth of [0, 90, 200, -45]) {
    const lens = lensOf({ ...camera, azimuth, elevation: -20 });
    assert.ok(lens.light[2] > 0.8 && dot(lens.light, lens.right) < -0.2);
    near([dot(lens.light, lens.light)], [1]);
  }
});

test("surfaces get brighter toward the light and darker away from it", () => {
  near(lit([0.5, 0.5, 0.5], 0), [0.5, 0.5, 0.5]);
  near(lit([0.5, 0, 1], 1), [0.65, 0.3, 1]);
  near(lit([0.5, 0, 1], -1), [0.275, 0, 0.55]);
});

test("colors are those of the style sheet", () => {
  near(colorOf("#ff8000"), [1, 128 / 255, 0]);
  near(colorOf("#F80"), [1, 136 / 255, 0]);
  near(colorOf("pink"), [0, 0, 0]);
  assert.equal(cssOf([1, 0.5, 0]), "rgb(255 128 0)");
  assert.equal(cssOf([0, 0, 0], 0.5), "rgb(0 0 0 / 0.5)");
});

test("axes are completed at right angles", () => {
  for (const w of [[0, 0, 1], [1, 0, 0], [0.6, 0, 0.8], [0, -1, 0]] as Vector[]) {
    const [u, v] = perpendicular(w);
    near([dot(u, u), dot(v, v), dot(u, v), dot(u, w), dot(v, w)], [1, 1, 0, 0, 0]);
  }
});

test("a hull has the corners, in one sense of rotation", () => {
  assert.deepEqual(hull([[0, 0], [1, 1], [2, 0], [1, 0.5], [2, 2], [0, 2]]), [[0, 0], [2, 0], [2, 2], [0, 2]]);
});

test("what is far is drawn first, a staff piece by piece, and a ball over what ends in it", () => {
  const staff: Shape = { kind: "capsule", points: [0, -2, 0, 0, 2, 0], radius: 0.5, fill: "body" };
  const cut = pieces(staff);
  assert.equal(cut.length, 6);
  assert.deepEqual(cut[3]!.points.slice(0, 3), [0, 0, 0]);
  const order = byDepth(lensOf(camera), [ball(0, 0.1, 0, "joint"), ...cut, ball(0, 2, 0, "accent", 0.6)]);
  const place = (fill: string): number => order.findIndex((s) => s.fill === fill);
  assert.equal(order[0], cut[5], "the farthest piece is not first");
  assert.ok(place("accent") === 1 && place("joint") > 2 && place("joint") < 7, `${order.map((s) => s.fill)}`);
});

/** A canvas that notes what is filled, and where. */
function canvas() {
  const fills: { style: string; points: [number, number][] }[] = [];
  let points: [number, number][] = [];
  const gradient = () => ({ stops: [] as string[], addColorStop(_: number, css: string) { this.stops.push(css); }, toString() { return `gradient ${this.stops.join()}`; } });
  const ctx = {
    fillStyle: "" as unknown, globalAlpha: 1, clearRect() {}, save() {}, restore() {}, closePath() {},
    beginPath() { points = []; },
    moveTo(x: number, y: number) { points.push([x, y]); },
    lineTo(x: number, y: number) { points.push([x, y]); },
    arc(x: number, y: number, radius: number, from: number, to: number) {
      for (let i = 0; i <= 32; i++) points.push([x + radius * Math.cos(from + ((to - from) * i) / 32), y + radius * Math.sin(from + ((to - from) * i) / 32)]);
    },
    createLinearGradient: gradient,
    fill() { fills.push({ style: String(this.fillStyle), points }); },
  };
  return { ctx: ctx as unknown as CanvasRenderingContext2D, fills };
}

test("outlines are where the camera sees them", () => {
  const { ctx, fills } = canvas();
  const scene: Scene = { bounds, camera, shapes: [floor, ball(1, 0, 1, "accent")] };
  paintOutlines(ctx, scene, 300, 200, palette);
  const last = fills.at(-1)!;
  const xs = last.points.map((p) => p[0]);
  const ys = last.points.map((p) => p[1]);
  const focal = (1 + Math.SQRT2) * 100;
  // A ball at the right of the middle: its center, and its size, but for the corners and the slant of what one sees of it.
  assert.ok(Math.abs((Math.min(...xs) + Math.max(...xs)) / 2 - (150 + focal / 10)) < 0.3, `${xs}`);
  assert.ok(Math.abs((Math.min(...ys) + Math.max(...ys)) / 2 - 100) < 0.3, `${ys}`);
  assert.ok(Math.abs(Math.max(...ys) - Math.min(...ys) - focal / 10) < 1);
  assert.equal(last.style.split("rgb").length, 6, "it is not shaded");
  const shade = fills.at(-2)!;
  assert.equal(shade.style, "rgb(0 0 0 / 0.22)");
  assert.ok(Math.min(...shade.points.map((p) => p[1])) > 100, "the shadow is not on the floor");
});

test("the outline of a staff has round ends, and straight sides that touch them", () => {
  const { ctx, fills } = canvas();
  paintOutlines(ctx, { bounds, camera, shapes: [{ kind: "capsule", points: [-0.3, 0, 1, 0.3, 0, 1], radius: 0.5, fill: "body" }] }, 300, 200, palette);
  const scale = ((1 + Math.SQRT2) * 100) / 10;
  const [xs, ys] = [0, 1].map((i) => fills.at(-1)!.points.map((p) => p[i]!)) as [number[], number[]];
  near([Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)], [150 - 0.8 * scale, 150 + 0.8 * scale, 100 - 0.5 * scale, 100 + 0.5 * scale]);
  const inside = fills.at(-1)!.points.filter(([x, y]) => Math.abs(x - 150) < 0.29 * scale && Math.abs(y - 100) < 0.49 * scale);
  assert.deepEqual(inside, [], "an arc goes through the middle");
});

test("outlines of what is behind the eye, or that the eye is in, are left out", () => {
  for (const shape of [ball(0, -11, 1), ball(0, -10, 1), { kind: "capsule", points: [0, 0, 1, 0, -20, 1], radius: 0.1, fill: "body" } as Shape]) {
    const { ctx, fills } = canvas();
    paintOutlines(ctx, { bounds, camera, shapes: [shape] }, 300, 200, palette);
    assert.equal(fills.length, 0);
  }
});

test("every outline and every part of the floor has finite corners, wherever the camera is", () => {
  const shapes: Shape[] = [
    floor, ball(0, 0, 1),
    { kind: "capsule", points: [0, 0, 1, 0, 0, 1], radius: 0.2, fill: "body" },
    { kind: "cylinder", points: [0, 0, 0, 1, 0, 0], radius: 0.2, fill: "goal" },
    { kind: "box", points: [1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1], fill: "accent" },
  ];
  for (const elevation of [-90, -45, -1, 0, 30, 90]) {
    for (const distance of [0.01, 1, 5, 1000]) {
      const { ctx, fills } = canvas();
      paintOutlines(ctx, { bounds, camera: { ...camera, elevation, distance }, shapes }, 300, 200, palette);
      for (const fill of fills) for (const p of fill.points) assert.ok(p.every(Number.isFinite), `elevation ${elevation}, distance ${distance}: ${p}`);
    }
  }
});

test("between two frames lies what is between their shapes and cameras", () => {
  const scene = (x: number): Scene => ({ bounds, camera: { ...camera, target: [x, 0, 1], azimuth: 90 + x }, shapes: [floor, ball(x, 0, 2 * x)] });
  const out: Scene = { bounds, shapes: [] };
  const got = blend(scene(0), scene(4), 0.25, out);
  assert.deepEqual(got.camera, { target: [1, 0, 1], distance: 10, azimuth: 91, elevation: 0 });
  assert.deepEqual(got.shapes![1], ball(1, 0, 2));
  assert.equal(got.shapes![0], floor);
  const other = { ...scene(4), shapes: [floor] };
  const first = scene(0);
  assert.equal(blend(first, other, 0.5, out), first, "unlike scenes are mixed");
});

test("a painter is there once its file is, which is fetched once", async () => {
  Object.assign(globalThis, { document: { baseURI: "data:text/javascript,/" } });
  const module = (source: string) => `data:text/javascript,${encodeURIComponent(source)}`;
  const bad = new SpaceLoader(module("throw new Error('cut off')"));
  await assert.rejects(bad.load(), /cut off/);
  assert.equal(bad.open(), null);
  const good = new SpaceLoader(module("export const open = () => 'painter'"));
  assert.equal(good.open(), null);
  const loading = good.load();
  assert.equal(good.load(), loading, "it is fetched twice");
  await loading;
  assert.equal(good.open() as unknown, "painter");
});
