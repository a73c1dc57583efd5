import assert from "node:assert/strict";
import { test } from "node:test";
import { columns, History, spread, summary, type Point } from "./curve.ts";
import type { Status } from "./types/tab";

const points: Point[] = Array.from({ length: 100 }, (_, i) => ({ height: i + 1, best: 2 * i, mean: i }));

test("few points are all drawn", () => {
  assert.deepEqual(columns(points.slice(0, 3)), [[1, 2, 3], [null, null, null], [0, 1, 2], [0, 2, 4]]);
});

test("many points are thinned, but looks and the newest stay", () => {
  const looked = points.map((p) => (p.height === 52 ? { ...p, look: 400 } : p));
  const [x, look] = columns(looked, 10);
  assert.ok(x.length <= 12, `got ${x.length} points`);
  assert.equal(x.at(-1), 100);
  assert.equal(look[x.indexOf(52)], 400);
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
  assert.match(summary([{ height: 12, look: 180.25 }, { height: 14 }], 475), /Generation 14\. .*generation 12 .*180\. .* at 475\.$/);
});

test("a history merges looks and generations, and starts over for another run", () => {
  const history = new History();
  const status = { run: "a", height: 2, mean: 5, best: 9 } as Status;
  assert.equal(history.add(status, [{ height: 2, evaluations: 1, steps: 1, return: 7 }]), true);
  assert.equal(history.add(status, [{ height: 2, evaluations: 1, steps: 1, return: 7 }]), false);
  assert.equal(history.add({ ...status, height: 1 }, []), true);
  assert.deepEqual(history.sorted(), [{ height: 1, mean: 5, best: 9 }, { height: 2, look: 7, mean: 5, best: 9 }]);
  history.add({ ...status, run: "b", height: 4 }, []);
  assert.equal(history.height, 4);
  assert.deepEqual(history.sorted().map((p) => p.height), [4]);
});
