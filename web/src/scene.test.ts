import assert from "node:assert/strict";
import { test } from "node:test";
import { aspect, fit, paint, pixels } from "./scene.ts";
import type { Palette } from "./scene.ts";
import type { Scene } from "./types/compute";

const bounds = { min_x: -2, min_y: -1, max_x: 2, max_y: 1 };

test("a wide canvas is filled in height, and the world is in the middle", () => {
  const f = fit(bounds, 800, 100);
  assert.deepEqual(pixels([0, 0, -2, -1, 2, 1], f), [400, 50, 300, 100, 500, 0]);
});

test("a tall canvas is filled in width", () => {
  const f = fit(bounds, 400, 1000);
  assert.deepEqual(pixels([0, 0, -2, -1, 2, 1], f), [200, 500, 0, 600, 400, 400]);
});

test("a canvas has the form of the world, within limits", () => {
  const of = (width: number, height: number) => aspect({ min_x: 1, min_y: -1, max_x: 1 + width, max_y: height - 1 });
  assert.deepEqual([of(4, 2), of(3, 2), of(7, 4), of(1, 1), of(9, 1)], [2, 1.5, 1.75, 1.5, 2]);
});

test("shapes within the bounds are drawn in order, in the colors of their roles", () => {
  const calls: string[] = [];
  const note = (name: string) => (...args: unknown[]) => void calls.push(`${name} ${args.join(" ")}`.trim());
  const ctx = {
    fillStyle: "", strokeStyle: "", lineWidth: 0, clearRect() {}, beginPath() {},
    save: note("save"), rect: note("rect"), clip: note("clip"), restore: note("restore"),
    lineTo: note("to"), arc: note("arc"), closePath: note("close"),
    fill() { calls.push(`fill ${this.fillStyle}`); },
    stroke() { calls.push(`stroke ${this.strokeStyle} ${this.lineWidth}`); },
  };
  const scene: Scene = {
    bounds,
    shapes: [
      { kind: "line", points: [-2, 0, 2, 0], stroke: "ground" },
      { kind: "polygon", points: [0, 0, 1, 0, 1, 1], fill: "body" },
      { kind: "circle", points: [0, 0], radius: 0.5, fill: "joint" },
      { kind: "line", points: [0, 0, 0, 1], stroke: "accent", width: 0.1 },
    ],
  };
  const colors: Palette = { ground: "g", body: "b", accent: "a", joint: "j", goal: "o", terrain: "t", flame: "f", ray: "r" };
  paint(ctx as unknown as CanvasRenderingContext2D, scene, 400, 200, colors);
  assert.deepEqual(calls, [
    "save", "rect 0 0 400 200", "clip",
    "to 0 100", "to 400 100", "stroke g 1.5",
    "to 200 100", "to 300 100", "to 300 0", "close", "fill b",
    `arc 200 100 50 0 ${2 * Math.PI}`, "fill j",
    "to 200 100", "to 200 0", "stroke a 10",
    "restore",
  ]);
});
