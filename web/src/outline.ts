// Draws a scene in space without WebGL: outlines of its solids on a flat canvas, the nearest over the others.

import { colorOf, cross, cssOf, dot, fadeFrom, fadeTo, field, length, lensOf, lineWidth, lit, minus, perpendicular, plus, shadow, times, triple, unit, type Color, type Lens, type Vector } from "./lens.ts";
import type { Palette } from "./scene.ts";
import type { Camera, Scene, Shape } from "./types/compute";

type Point = readonly [number, number];

/** What is nearer to the eye than this is not drawn, in distances of the camera. */
const nearest = 0.02;

/** Corners of what is round. */
const corners = 16;

/** Pieces that a capsule is cut into, at most. */
const piecesMax = 6;

/** Lines of the floor's grid in each direction, at most: if they are narrower, some are left out. */
const linesMax = 120;

/** A lens with the picture in front of it. */
interface View extends Lens {
  camera: Camera;
  width: number;
  height: number;
  focal: number;
}

/** paintOutlines clears a canvas of width x height pixels and draws the scene, which has a camera. */
export function paintOutlines(ctx: CanvasRenderingContext2D, scene: Scene, width: number, height: number, colors: Palette): void {
  ctx.clearRect(0, 0, width, height);
  const camera = scene.camera!;
  const v: View = { ...lensOf(camera), camera, width, height, focal: (field * Math.min(width, height)) / 2 };
  const shapes = scene.shapes ?? [];
  const floor = shapes.find((shape) => shape.kind === "floor");
  const solids = shapes.filter((shape) => shape.kind !== "floor" && inFront(v, shape));
  ctx.save();
  if (floor) paintFloor(ctx, v, floor, solids, colors);
  for (const solid of byDepth(v, solids.flatMap(pieces))) paintSolid(ctx, v, solid, colorOf(colors[solid.fill ?? "body"]));
  ctx.restore();
}

/** pieces cuts a capsule across: its ends may lie before and behind something else. */
export function pieces(solid: Shape): Shape[] {
  if (solid.kind !== "capsule") return [solid];
  const [a, b] = [triple(solid, 0), triple(solid, 1)];
  const n = Math.min(Math.max(Math.ceil(length(minus(b, a)) / (1.5 * (solid.radius ?? 1))), 1), piecesMax);
  const at = (i: number): Vector => plus(a, times(minus(b, a), i / n));
  return Array.from({ length: n }, (_, i) => ({ ...solid, points: [...at(i), ...at(i + 1)] }));
}

/** byDepth sorts solids, the farthest first. What is thick comes before what is in it, and a ball before what ends in it. */
export function byDepth(lens: Lens, solids: Shape[]): Shape[] {
  const far = (solid: Shape): number => dot(minus(middle(solid), lens.eye), lens.forth) - (solid.radius ?? 0) * (solid.kind === "sphere" ? 1 : 0.1);
  return solids.map((solid) => ({ solid, far: far(solid) })).sort((a, b) => b.far - a.far).map((each) => each.solid);
}

function middle(solid: Shape): Vector {
  return solid.points.length === 6 ? times(plus(triple(solid, 0), triple(solid, 1)), 0.5) : triple(solid, 0);
}

/** inFront reports whether all of a solid is in front of the eye. */
function inFront(v: View, solid: Shape): boolean {
  const axes = solid.kind === "box" ? [1, 2, 3].reduce((sum, i) => sum + length(triple(solid, i)), 0) : solid.radius ?? 0;
  const ends = solid.points.length === 6 ? [triple(solid, 0), triple(solid, 1)] : [triple(solid, 0)];
  return ends.every((p) => depth(v, p) - axes > nearest * v.camera.distance);
}

const depth = (v: View, p: Vector): number => dot(minus(p, v.eye), v.forth);

/** see is where a point that is in front of the eye is in the picture. */
function see(v: View, p: Vector): Point {
  const off = minus(p, v.eye);
  const scale = v.focal / dot(off, v.forth);
  return [v.width / 2 + dot(off, v.right) * scale, v.height / 2 - dot(off, v.over) * scale];
}

/** hull is the convex polygon around points, in one sense of rotation. */
export function hull(points: readonly Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list: Point[]): Point[] => {
    const out: Point[] = [];
    for (const p of list) {
      while (out.length > 1 && turn(out.at(-2)!, out.at(-1)!, p) <= 0) out.pop();
      out.push(p);
    }
    out.pop();
    return out;
  };
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.reverse())];
}

const turn = (a: Point, b: Point, c: Point): number => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);

/** circle is points around center, at right angles to axis. */
function circle(center: Vector, axis: Vector, radius: number): Vector[] {
  const [u, w] = perpendicular(axis);
  return Array.from({ length: corners }, (_, i) => {
    const angle = (2 * Math.PI * i) / corners;
    return plus(center, plus(times(u, radius * Math.cos(angle)), times(w, radius * Math.sin(angle))));
  });
}

/** tracePill makes the outline of a ball, or of a capsule, the path: arcs around the ends of its axis. */
function tracePill(ctx: CanvasRenderingContext2D, v: View, solid: Shape): void {
  const ends = (solid.points.length === 6 ? [triple(solid, 0), triple(solid, 1)] : [triple(solid, 0)]).map((p) => {
    const [x, y] = see(v, p);
    return { x, y, radius: ((solid.radius ?? 0) * v.focal) / depth(v, p) };
  });
  const [a, b] = ends as [(typeof ends)[0], (typeof ends)[0] | undefined];
  const apart = b ? Math.hypot(b.x - a.x, b.y - a.y) : 0;
  if (!b || apart <= Math.abs(a.radius - b.radius)) {
    const larger = b && b.radius > a.radius ? b : a;
    ctx.arc(larger.x, larger.y, larger.radius, 0, 2 * Math.PI);
    return;
  }
  // The two lines that touch both circles do so this far, as an angle, from the direction of the one to the other.
  const direction = Math.atan2(b.y - a.y, b.x - a.x);
  const off = Math.acos((a.radius - b.radius) / apart);
  ctx.arc(a.x, a.y, a.radius, direction + off, direction - off + 2 * Math.PI);
  ctx.arc(b.x, b.y, b.radius, direction - off, direction + off);
  ctx.closePath();
}

/** rim is points whose hull a solid has, seen along a direction. */
function rim(solid: Shape, along: Vector): Vector[] {
  const radius = solid.radius ?? 0;
  if (solid.kind === "box") {
    const [c, x, y, z] = [0, 1, 2, 3].map((i) => triple(solid, i)) as [Vector, Vector, Vector, Vector];
    return [-1, 1].flatMap((i) => [-1, 1].flatMap((j) => [-1, 1].map((k) => plus(plus(c, times(x, i)), plus(times(y, j), times(z, k))))));
  }
  if (solid.kind === "sphere") return circle(triple(solid, 0), along, radius);
  const [a, b] = [triple(solid, 0), triple(solid, 1)];
  if (solid.kind === "cylinder") return [...circle(a, unit(minus(b, a)), radius), ...circle(b, unit(minus(b, a)), radius)];
  return [...circle(a, along, radius), ...circle(b, along, radius)];
}

function trace(ctx: CanvasRenderingContext2D, points: readonly Point[]): void {
  if (points.length < 3) return;
  points.forEach(([x, y], i) => (i === 0 ? ctx.moveTo(x, y) : ctx.lineTo(x, y)));
  ctx.closePath();
}

function paintSolid(ctx: CanvasRenderingContext2D, v: View, solid: Shape, color: Color): void {
  if (solid.kind === "box") return paintBox(ctx, v, solid, color);
  ctx.beginPath();
  if (solid.kind === "cylinder") trace(ctx, hull(rim(solid, v.light).map((p) => see(v, p))));
  else tracePill(ctx, v, solid);
  ctx.fillStyle = shading(ctx, v, solid, color);
  ctx.fill();
  if (solid.kind !== "cylinder") return;
  const axis = unit(minus(triple(solid, 1), triple(solid, 0)));
  for (const [end, normal] of [[triple(solid, 0), times(axis, -1)], [triple(solid, 1), axis]] as const) {
    if (dot(normal, minus(end, v.eye)) >= 0) continue; // it faces away
    ctx.beginPath();
    trace(ctx, circle(end, axis, solid.radius ?? 0).map((p) => see(v, p)));
    ctx.fillStyle = cssOf(lit(color, dot(normal, v.light)));
    ctx.fill();
  }
}

/** shading goes across a round solid, from where it faces the light to where it faces away. */
function shading(ctx: CanvasRenderingContext2D, v: View, solid: Shape, color: Color): CanvasGradient {
  const c = middle(solid);
  let side = v.light; // of the solid, as one sees it: neither along its axis nor to the eye
  const away = unit(minus(c, v.eye));
  side = minus(side, times(away, dot(side, away)));
  if (solid.points.length === 6) {
    const axis = unit(minus(triple(solid, 1), triple(solid, 0)));
    const across = cross(away, axis);
    if (length(across) > 0.2) side = times(unit(across), Math.sign(dot(across, v.light)) || 1);
  }
  side = unit(side);
  const [x0, y0] = see(v, plus(c, times(side, solid.radius ?? 0)));
  const [x1, y1] = see(v, minus(c, times(side, solid.radius ?? 0)));
  const gradient = ctx.createLinearGradient(x0, y0, x1, y1);
  const toward = dot(side, v.light);
  const front = -dot(away, v.light);
  for (const at of [0, 0.25, 0.5, 0.75, 1]) {
    const s = 1 - 2 * at; // the sine of the angle between the surface and the middle
    gradient.addColorStop(at, cssOf(lit(color, s * toward + Math.sqrt(1 - s * s) * front)));
  }
  return gradient;
}

function paintBox(ctx: CanvasRenderingContext2D, v: View, box: Shape, color: Color): void {
  const c = triple(box, 0);
  for (const i of [1, 2, 3]) {
    const [x, y, z] = [triple(box, i), triple(box, (i % 3) + 1), triple(box, ((i + 1) % 3) + 1)];
    for (const sign of [-1, 1]) {
      const normal = times(unit(x), sign);
      const center = plus(c, times(x, sign));
      if (dot(normal, minus(center, v.eye)) >= 0) continue;
      ctx.beginPath();
      trace(ctx, ([[1, 1], [1, -1], [-1, -1], [-1, 1]] as const).map(([j, k]) => see(v, plus(center, plus(times(y, j), times(z, k))))));
      ctx.fillStyle = cssOf(lit(color, dot(normal, v.light)));
      ctx.fill();
    }
  }
}

/** paintFloor draws what is not too far of the floor, its grid, and the shadows on it. */
function paintFloor(ctx: CanvasRenderingContext2D, v: View, floor: Shape, solids: Shape[], colors: Palette): void {
  const z = floor.points[2]!;
  const { target, distance } = v.camera;
  const reach = fadeTo * distance;
  // It fades upwards: from where one sees fadeFrom, straight on, to where one sees fadeTo.
  const forth: Vector = [-v.right[1], v.right[0], 0];
  const ahead = (far: number): number => see(v, plus([target[0], target[1], z], times(forth, far * distance)))[1];
  const fade = (css: string): CanvasGradient | string => {
    const [y0, y1] = [ahead(fadeFrom), ahead(fadeTo)];
    if (!Number.isFinite(y0 - y1) || Math.abs(y0 - y1) < 1) return css;
    const gradient = ctx.createLinearGradient(0, y0, 0, y1);
    gradient.addColorStop(0, css);
    gradient.addColorStop(1, cssOf(colorOf(css), 0));
    return gradient;
  };
  ctx.fillStyle = fade(colors[floor.fill ?? "terrain"]);
  const around = Array.from({ length: 2 * corners }, (_, i): Vector => {
    const angle = (Math.PI * i) / corners;
    return [target[0] + reach * Math.cos(angle), target[1] + reach * Math.sin(angle), z];
  });
  ctx.beginPath();
  trace(ctx, cut(v, around).map((p) => see(v, p)));
  ctx.fill();
  if (floor.stroke && floor.width) {
    ctx.fillStyle = fade(colors[floor.stroke]);
    ctx.beginPath();
    traceGrid(ctx, v, floor, reach);
    ctx.fill();
  }
  ctx.beginPath();
  for (const solid of solids) {
    const cast = rim(solid, v.light).map((p) => minus(p, times(v.light, Math.max(p[2] - z, 0) / v.light[2])));
    if (cast.every((p) => depth(v, p) > nearest * distance)) trace(ctx, hull(cast.map((p) => see(v, p))));
  }
  ctx.fillStyle = `rgb(0 0 0 / ${shadow})`;
  ctx.fill();
}

/** traceGrid makes the lines of the floor the path: stripes, so that they get narrower and fainter with distance. */
function traceGrid(ctx: CanvasRenderingContext2D, v: View, floor: Shape, reach: number): void {
  const [x0, y0, z] = triple(floor, 0);
  const cell = floor.width! * Math.ceil((2 * reach) / floor.width! / linesMax);
  const half = (lineWidth * cell) / 2;
  for (const [i, origin] of [[0, x0], [1, y0]] as const) {
    const [here, across] = [v.camera.target[i]!, v.camera.target[1 - i]!];
    for (let n = Math.ceil((here - reach - origin) / cell); origin + n * cell < here + reach; n++) {
      const at = origin + n * cell;
      const long = Math.sqrt(reach * reach - (at - here) ** 2);
      const corner = (by: number, off: number): Vector => (i === 0 ? [at + off, across + by, z] : [across + by, at - off, z]);
      trace(ctx, cut(v, [corner(-long, -half), corner(long, -half), corner(long, half), corner(-long, half)]).map((p) => see(v, p)));
    }
  }
}

/** cut is what of a polygon is in front of the eye. */
function cut(v: View, points: Vector[]): Vector[] {
  const least = nearest * v.camera.distance;
  const out: Vector[] = [];
  points.forEach((p, i) => {
    const next = points[(i + 1) % points.length]!;
    const [a, b] = [depth(v, p) - least, depth(v, next) - least];
    if (a >= 0) out.push(p);
    if (a >= 0 !== b >= 0) out.push(plus(p, times(minus(next, p), a / (a - b))));
  });
  return out;
}
