import assert from "node:assert/strict";
import { test } from "node:test";
import { columns, spread, summary } from "./curve.ts";
import type { CurvePoint } from "./types/tab";

const points: CurvePoint[] = Array.from({ length: 100 }, (_, i) => ({ height: i + 1, steps: 10 * i, best: 2 * i, mean: i }));

test("few points are all drawn", () => {
  const [x, mean, best, look] = columns(points.slice(0, 3));
  assert.deepEqual([x, mean, best, look], [[1, 2, 3], [0, 1, 2], [0, 2, 4], [null, null, null]]);
});

test("many points are thinned, but looks and the newest stay", () => {
  const looked = points.map((p) => (p.height === 52 ? { ...p, validate: 400 } : p));
  const [x, , , look] = columns(looked, 10);
  assert.ok(x.length <= 12, `got ${x.length} points`);
  assert.equal(x.at(-1), 100);
  assert.equal(look[x.indexOf(52)], 400);
});

test("the range has air and shows the threshold when it is near", () => {
  assert.deepEqual(spread(0, 100, null), [0, 106]);
  assert.deepEqual(spread(0, 10, 475), [0, 10.6]);
  assert.equal(spread(0, 200, 475)[1], 475 * 1.06);
  assert.deepEqual(spread(null, null, null), [0, 1.06]);
  assert.ok(spread(-500, -100, -100)[0] < -500);
});

test("the curve is said in words", () => {
  assert.match(summary([]), /No generation/);
  assert.match(summary([{ height: 12, steps: 1, best: 200, mean: 150.25, validate: 180 }]), /12 generations .* 150, the best 200.* gave 180/);
});
