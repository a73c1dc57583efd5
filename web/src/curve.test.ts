import assert from "node:assert/strict";
import { test } from "node:test";
import { columns, History, merge, spread, summary, type Point } from "./curve.ts";
import type { Status } from "./types/tab";

const points: Point[] = Array.from({ length: 100 }, (_, i) => ({ height: i + 1, best: 2 * i, mean: i }));

test("few points are all drawn", () => {
  assert.deepEqual(columns(points.slice(0, 3)), [[1, 2, 3], [null, null, null], [0, 1, 2], [0, 2, 4]]);
});

test("many points are thinned, but held-out evaluations and the newest stay", () => {
  const evaluated = points.map((p) => (p.height === 52 ? { ...p, heldOut: 400 } : p));
  const [x, heldOut] = columns(evaluated, 10);
  assert.ok(x.length <= 12, `got ${x.length} points`);
  assert.equal(x.at(-1), 100);
  assert.equal(heldOut[x.indexOf(52)], 400);
});

test("the range has air and shows the threshold when it is near", () => {
  assert.deepEqual(spread(0, 100, null), [0, 108]);
  assert.deepEqual(spread(0, 10, 475), [0, 10.8]);
  assert.equal(spread(0, 200, 475)[1], 513);
  assert.deepEqual(spread(null, null, null), [0, 1.08]);
  assert.ok(spread(-500, -100, -100)[0] < -500);
});

test("the curve is said in words", () => {
  assert.match(summary([], null), /No generation/);
  assert.match(summary([{ height: 12, heldOut: 180.25 }, { height: 14 }], 475), /Generation 14\. .*generation 12 .*180\. .* at 475\.$/);
});

const heldOut = (height: number, mean: number) => ({ height, evaluations: 1, steps: 1, return: mean });

test("a history joins held-out evaluations and generations, and starts over for another run", () => {
  const history = new History();
  const status = { run: "a", height: 2, mean: 5, best: 9 } as Status;
  assert.equal(history.add(status, [heldOut(2, 7)]), true);
  assert.equal(history.add(status, [heldOut(2, 7)]), false);
  assert.equal(history.add({ ...status, height: 1 }, [heldOut(2, 7)]), true);
  assert.deepEqual(history.sorted(), [{ height: 1, mean: 5, best: 9 }, { height: 2, heldOut: 7, mean: 5, best: 9 }]);
  history.add({ ...status, run: "b", height: 4 }, []);
  assert.deepEqual(history.sorted().map((p) => p.height), [4]);
});

test("a held-out evaluation of a branch that was left goes from the history", () => {
  const history = new History();
  const status = { run: "a", height: 4, mean: 5, best: 9 } as Status;
  history.add(status, [heldOut(2, 7), heldOut(4, 8)]);
  assert.equal(history.add(status, [heldOut(2, 7)]), true);
  assert.deepEqual(history.sorted().map((p) => p.heldOut), [7, undefined]);
});

test("a curve that is known is not looked at again", () => {
  const history = new History();
  const status = { run: "a", height: 2, mean: 5, best: 9 } as Status;
  const curve = [heldOut(2, 7)];
  history.add(status, curve);
  Object.defineProperty(curve, 0, { get: () => assert.fail("looked at") });
  assert.equal(history.add(status, curve), false);
});

test("a history of a long run is thinned, but for held-out evaluations and the newest generation", () => {
  const history = new History();
  const curve = [heldOut(7, 1), heldOut(4321, 2)];
  let most = 0;
  for (let height = 1; height <= 12_000; height++) {
    history.add({ run: "a", height, mean: 1, best: 2 } as Status, curve.filter((p) => p.height <= height));
    if (height % 1000 === 0) most = Math.max(most, history.sorted().length);
  }
  const heights = history.sorted().map((p) => p.height);
  assert.ok(most <= 4002 && most > 1900, `${most} generations`);
  assert.ok(heights.includes(7) && heights.includes(4321) && heights.at(-1) === 12_000);
  assert.ok(Math.max(...heights.slice(1).map((h, i) => h - (heights[i] ?? 0))) <= 12);
});

test("a latecomer's curve has the node's points and his own, in order", () => {
  const got = merge([heldOut(6, 30), heldOut(8, 40)], [heldOut(2, 10), heldOut(4, 20), heldOut(6, 29)]);
  assert.deepEqual(got.map((p) => [p.height, p.return]), [[2, 10], [4, 20], [6, 30], [8, 40]]);
});
