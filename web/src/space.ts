// The painter of scenes in space: a file of its own, which the page loads when there is one to draw.

import { colorsOf, type Color } from "./lens.ts";
import { paintOutlines } from "./outline.ts";
import type { Palette } from "./scene.ts";
import type { SpaceChunk, SpacePainter } from "./spaceload.ts";
import type { Role, Scene } from "./types/compute";
import { Graphics } from "./webgl.ts";

/** A picture has at most so many pixels in each direction; larger ones are scaled up. */
const sideMax = 2048;

/** open returns a painter, which draws with WebGL where it is there. */
export const open: SpaceChunk["open"] = () => new Painter();

class Painter implements SpacePainter {
  private graphics: Graphics | null = Graphics.open();
  private palette: Palette | null = null;
  private colors: ReadonlyMap<Role, Color> = new Map();
  private readonly between: Scene = { bounds: { min_x: 0, min_y: 0, max_x: 1, max_y: 1 }, shapes: [] };

  paint(ctx: CanvasRenderingContext2D, scene: Scene, width: number, height: number, palette: Palette, next: Scene | null, share: number): void {
    if (width === 0 || height === 0) return;
    const { graphics } = this;
    if (!graphics || graphics.lost) {
      if (!next) paintOutlines(ctx, scene, width, height, palette); // those cost more, so none come in between
      return;
    }
    if (next) scene = blend(scene, next, share, this.between);
    if (palette !== this.palette) {
      this.palette = palette;
      this.colors = colorsOf(palette);
    }
    const ratio = Math.min(ctx.canvas.width / width, sideMax / Math.max(width, height));
    graphics.draw(scene, Math.round(width * ratio), Math.round(height * ratio), this.colors);
    ctx.clearRect(0, 0, width, height);
    ctx.drawImage(graphics.canvas, 0, 0, width, height);
  }

  close(): void {
    this.graphics?.dispose();
    this.graphics = null;
  }
}

/** blend writes what lies between two scenes of one episode to out: share 0 is the first. Scenes of unlike shapes are not mixed. */
export function blend(scene: Scene, next: Scene, share: number, out: Scene): Scene {
  const [from, to] = [scene.shapes ?? [], next.shapes ?? []];
  const alike = from.length === to.length && from.every((shape, i) => shape.kind === to[i]!.kind && shape.points.length === to[i]!.points.length);
  if (!scene.camera || !next.camera || !alike) return scene;
  const mix = (a: number, b: number): number => a + (b - a) * share;
  const mixed = (a: readonly number[], b: readonly number[]): number[] => a.map((x, i) => mix(x, b[i]!));
  out.bounds = scene.bounds;
  out.camera = {
    target: mixed(scene.camera.target, next.camera.target) as [number, number, number],
    distance: mix(scene.camera.distance, next.camera.distance),
    azimuth: mix(scene.camera.azimuth, next.camera.azimuth),
    elevation: mix(scene.camera.elevation, next.camera.elevation),
  };
  out.shapes = from.map((shape, i) => (shape.kind === "floor" ? shape : { ...shape, points: mixed(shape.points, to[i]!.points) }));
  return out;
}
