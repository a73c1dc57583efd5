import assert from "node:assert/strict";
import { test } from "node:test";
import { Points, range, steps, word } from "./cloud.ts";
import type { Entry } from "./types/tab";

const entry = (height: number, more: Partial<Entry> = {}): Entry => ({ height, leader: "aa", total: 4, mine: 1, peers: 2, best: height, others: [1, 2, 3], own: [height], ...more });

test("a week of generations takes no more points than an hour", () => {
  const points = new Points();
  for (let h = 1; h <= 20_000; h += 10) points.add(Array.from({ length: 10 }, (_, i) => entry(h + i)));
  const drawn = points.entries.reduce((n, e) => n + e.others.length + e.own.length, 0);
  assert.ok(drawn <= 5000 && drawn > 4900, `${drawn} points`);
  assert.equal(points.entries.at(-1)!.height, 20_000);
  points.add([entry(20_001, { others: new Array(6000).fill(1) })]);
  assert.deepEqual(points.entries.map((e) => e.height), [20_001], "a generation that is too large alone is drawn");
});

test("generations that another branch replaced are gone", () => {
  const points = new Points();
  points.add([entry(1), entry(2), entry(3)]);
  points.add([entry(2, { best: 9 })]);
  assert.deepEqual(points.entries.map((e) => [e.height, e.best]), [[1, 1], [2, 9]]);
});

test("who does not see the points reads of the newest generation", () => {
  const points = new Points();
  assert.match(points.words(), /No generation/);
  points.add([entry(62, { total: 84, best: 290.25, mine: 14 })]);
  assert.equal(points.words(), "Generation 62: 84 results, the best 290. Yours among them: 14.");
});

test("a few very bad candidates do not flatten the others, and the goal is seen when it is near", () => {
  const all = [entry(1, { others: [-9000, ...Array.from({ length: 99 }, (_, i) => i)], own: [] })];
  const [low, high] = range(all, null);
  assert.ok(low > -20 && high > 99 && high < 120, `${low} to ${high}`);
  assert.ok(range(all, 150)[1] > 150, "a near goal");
  assert.ok(range(all, 5000)[1] < 150, "a far goal");
  const [flat, top] = range([entry(1, { others: [500], own: [500] })], 475);
  assert.ok(flat < 500 && top > 500);
  assert.deepEqual(range([], 475), [0, 1]);
});

test("axes have few round numbers", () => {
  assert.deepEqual(steps(-250, 320, 4), [-200, 0, 200]);
  assert.deepEqual(steps(0, 1, 4), [0, 0.5, 1]);
  assert.deepEqual(steps(-50, 320, 4), [0, 100, 200, 300], "zero has no sign");
  for (const [low, high] of [[-1e6, 3e6], [499, 501], [0.001, 0.002]] as const) {
    const got = steps(low, high, 4);
    assert.ok(got.length >= 1 && got.length <= 5, `${low} to ${high}: ${got}`);
  }
});

test("colors are as images hold them", () => {
  assert.deepEqual([...new Uint8Array(new Uint32Array([word("#1f7a64", 0.6)]).buffer)], [0x1f, 0x7a, 0x64, 153]);
});
