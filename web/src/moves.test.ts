import assert from "node:assert/strict";
import { test } from "node:test";
import { describe, newest } from "./moves.ts";
import type { Entry, Move } from "./types/tab";

const move = (height: number, more: Partial<Move> = {}): Move => ({ id: `m${height}`, height, score: 290, rank: 1, of: 84, share: 0.143, ...more });
const entry = (height: number, moved: boolean): Entry => ({ height, leader: "aa", total: 84, mine: 3, peers: 2, best: 290, others: [], own: [], ...(moved ? { move: move(height) } : {}) });

test("the newest results that moved the model are listed", () => {
  let list: Move[] = [];
  for (let h = 1; h <= 30; h++) list = newest(list, [entry(h, h % 3 === 0)], 4);
  assert.deepEqual(list.map((m) => m.height), [30, 27, 24, 21]);
  assert.deepEqual(newest(list, [], 4), list);
});

test("a result whose generation another branch replaced is none any more", () => {
  const list = newest([move(9), move(7), move(5)], [entry(7, false), entry(8, true)], 4);
  assert.deepEqual(list.map((m) => m.height), [8, 5]);
});

test("how far a candidate moved the model, in words", () => {
  assert.equal(describe(move(3)), "best of 84 · return 290 · 14.3 % of the step");
  assert.equal(describe(move(3, { rank: 12, score: 14.25, share: null })), "12 of 84 · return 14.3");
});
