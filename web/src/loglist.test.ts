import assert from "node:assert/strict";
import { test } from "node:test";
import { merge, rowOf } from "./loglist.ts";
import type { Entry } from "./types/tab";

const entry = (height: number, more: Partial<Entry> = {}): Entry => ({ height, leader: "aa".repeat(32), total: 84, mine: 0, peers: 2, best: 290, others: [], own: [], ...more });

test("a row says what an entry holds, and what of it is this tab's", () => {
  assert.deepEqual(rowOf(entry(1234), "bb"), { height: "1,234", leader: "…aaaaaaaa", results: "84 results", best: "290", yours: "" });
  const own = rowOf(entry(5, { leader: "bb", total: 1, mine: 1, best: null }), "bb");
  assert.deepEqual(own, { height: "5", leader: "this tab", results: "1 result", best: "–", yours: "1 of yours" });
});

test("the list begins with the newest, and is bounded", () => {
  let list: Entry[] = [];
  for (let h = 1; h < 1000; h += 7) list = merge(list, [0, 1, 2, 3, 4, 5, 6].map((i) => entry(h + i)), 80);
  assert.equal(list.length, 80);
  assert.equal(list[0]!.height, 1001);
  assert.deepEqual(list.map((e) => e.height), Array.from({ length: 80 }, (_, i) => 1001 - i));
  assert.equal(merge([], Array.from({ length: 200 }, (_, i) => entry(i + 1)), 80).length, 80);
  assert.deepEqual(merge(list, [], 80), list);
});

test("entries that another branch replaced are gone", () => {
  const list = merge([entry(3), entry(2), entry(1)], [entry(2, { best: 7 })]);
  assert.deepEqual(list.map((e) => [e.height, e.best]), [[2, 7], [1, 290]]);
});
