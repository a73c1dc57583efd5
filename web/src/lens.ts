// The camera of a scene in space, its light, and the shades that surfaces get. node/film has the same in Go (lens.go, space.go).

import type { Camera, Role, Shape } from "./types/compute";
import type { Palette } from "./scene.ts";

export type Vector = readonly [number, number, number];

/** Colors have three parts, each from 0 to 1. */
export type Color = Vector;

/** Half sides of a picture between the eye and the picture: its shorter side shows 45 degrees. */
export const field = 1 + Math.SQRT2;

/** How much white a surface gets that faces the light, black one that faces away, and black the floor in a shadow. */
export const bright = 0.3;
export const dim = 0.45;
export const shadow = 0.22;

/** The floor fades between these distances from the camera's target, in distances of the camera; its lines are so wide, in cells. */
export const fadeFrom = 1.5;
export const fadeTo = 4.5;
export const lineWidth = 0.025;

export const plus = (a: Vector, b: Vector): Vector => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const minus = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const times = (a: Vector, k: number): Vector => [a[0] * k, a[1] * k, a[2] * k];
export const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const length = (a: Vector): number => Math.sqrt(dot(a, a));
export const unit = (a: Vector): Vector => times(a, 1 / (length(a) || 1));
export const cross = (a: Vector, b: Vector): Vector => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

/** triple is the i-th point of a shape. */
export const triple = (shape: Shape, i: number): Vector => [shape.points[3 * i]!, shape.points[3 * i + 1]!, shape.points[3 * i + 2]!];

/** perpendicular completes a direction of length 1 to three at right angles, and returns the other two. */
export function perpendicular(w: Vector): [Vector, Vector] {
  const u = unit(cross(w, Math.abs(w[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
  return [u, cross(w, u)];
}

/** A camera in front of a picture. */
export interface Lens {
  eye: Vector;
  /** Where it looks, and what is right and up in the picture; of length 1. */
  forth: Vector;
  right: Vector;
  over: Vector;
  /** Where the light comes from: above, from the viewer's left. */
  light: Vector;
}

export function lensOf(camera: Camera): Lens {
  const turn = (camera.azimuth * Math.PI) / 180;
  const tilt = (camera.elevation * Math.PI) / 180;
  const [ca, sa, ce, se] = [Math.cos(turn), Math.sin(turn), Math.cos(tilt), Math.sin(tilt)];
  const forth: Vector = [ce * ca, ce * sa, se];
  const right: Vector = [sa, -ca, 0];
  return {
    eye: minus(camera.target, times(forth, camera.distance)),
    forth,
    right,
    over: [-se * ca, -se * sa, ce],
    light: unit([-0.45 * ca - 0.35 * right[0], -0.45 * sa - 0.35 * right[1], 1]),
  };
}

/** lit is the color of a surface, by the cosine of the angle between it and the light. */
export function lit(color: Color, cosine: number): Color {
  const share = cosine > 0 ? bright * cosine : -dim * cosine;
  const to = cosine > 0 ? 1 : 0;
  return [color[0] + (to - color[0]) * share, color[1] + (to - color[1]) * share, color[2] + (to - color[2]) * share];
}

const black: Color = [0, 0, 0];

/** colorOf reads #rgb or #rrggbb, as a canvas has its colors; others are black. */
export function colorOf(css: string): Color {
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(css);
  if (short) return colorOf(`#${short.slice(1).map((d) => d + d).join("")}`);
  const parts = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(css)?.slice(1).map((h) => parseInt(h, 16) / 255);
  return parts ? (parts as unknown as Color) : black;
}

/** cssOf writes a color. */
export function cssOf(color: Color, alpha = 1): string {
  const [r, g, b] = color.map((part) => Math.round(255 * part));
  return alpha === 1 ? `rgb(${r} ${g} ${b})` : `rgb(${r} ${g} ${b} / ${alpha})`;
}

/** colorsOf reads the colors of the roles. */
export function colorsOf(palette: Palette): Map<Role, Color> {
  return new Map(Object.entries(palette).map(([role, css]) => [role as Role, colorOf(css)]));
}
