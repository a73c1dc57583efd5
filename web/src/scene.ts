// Draws a scene, given in world units, on a canvas.

import type { Role, Scene, Shape } from "./types/compute";

/** Colors by role, as CSS has them. */
export type Palette = Record<Role, string>;

const roles: Role[] = ["ground", "body", "accent", "joint", "goal", "terrain", "flame", "ray"];

/** Maps world units to pixels: x' = x scale + left, y' = bottom - y scale. */
export interface Fit {
  scale: number;
  left: number;
  bottom: number;
}

/** The thinnest line, in CSS pixels. */
const hairline = 1.5;

/** The smallest and largest aspect ratio of a canvas; other scenes are centered in it. */
const tallest = 1.5;
const widest = 2;

/** readPalette takes the colors of the roles from the style sheet, so that they follow light and dark. */
export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  return Object.fromEntries(roles.map((r) => [r, style.getPropertyValue(`--scene-${r}`).trim()])) as Palette;
}

/** aspect is the width of the canvas that shows bounds best, divided by its height. */
export function aspect(bounds: Scene["bounds"]): number {
  const ratio = (bounds.max_x - bounds.min_x) / (bounds.max_y - bounds.min_y);
  return Math.min(Math.max(ratio, tallest), widest);
}

/** fit shows all of bounds as large as possible in width x height pixels, centered, without distortion. */
export function fit(bounds: Scene["bounds"], width: number, height: number): Fit {
  const w = bounds.max_x - bounds.min_x;
  const h = bounds.max_y - bounds.min_y;
  const scale = Math.min(width / w, height / h);
  return {
    scale,
    left: (width - w * scale) / 2 - bounds.min_x * scale,
    bottom: (height + h * scale) / 2 + bounds.min_y * scale,
  };
}

/** pixels maps x, y pairs from the world to the canvas. */
export function pixels(points: readonly number[], f: Fit): number[] {
  return points.map((p, i) => (i % 2 === 0 ? p * f.scale + f.left : f.bottom - p * f.scale));
}

/** paint clears a canvas of width x height pixels and draws what is within the bounds of scene, centered. */
export function paint(ctx: CanvasRenderingContext2D, scene: Scene, width: number, height: number, colors: Palette): void {
  ctx.clearRect(0, 0, width, height);
  ctx.lineJoin = "round";
  ctx.lineCap = "round";
  const b = scene.bounds;
  const f = fit(b, width, height);
  ctx.save();
  ctx.beginPath();
  const [left, top, right, bottom] = pixels([b.min_x, b.max_y, b.max_x, b.min_y], f) as [number, number, number, number];
  ctx.rect(left, top, right - left, bottom - top);
  ctx.clip();
  for (const shape of scene.shapes ?? []) {
    trace(ctx, shape, f);
    if (shape.fill) {
      ctx.fillStyle = colors[shape.fill];
      ctx.fill();
    }
    if (shape.stroke) {
      ctx.strokeStyle = colors[shape.stroke];
      ctx.lineWidth = Math.max((shape.width ?? 0) * f.scale, hairline);
      ctx.stroke();
    }
  }
  ctx.restore();
}

/** trace makes the outline of shape the path of ctx. */
function trace(ctx: CanvasRenderingContext2D, shape: Shape, f: Fit): void {
  const at = pixels(shape.points, f);
  ctx.beginPath();
  if (shape.kind === "circle") {
    ctx.arc(at[0] ?? 0, at[1] ?? 0, (shape.radius ?? 0) * f.scale, 0, 2 * Math.PI);
    return;
  }
  for (let i = 0; i + 1 < at.length; i += 2) ctx.lineTo(at[i]!, at[i + 1]!);
  if (shape.kind === "polygon") ctx.closePath();
}
