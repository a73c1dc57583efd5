import assert from "node:assert/strict";
import { test } from "node:test";
import { slept } from "./watch.ts";

const before = { day: 1_000_000, page: 5_000 };

test("a page that was slow or hidden did not sleep", () => {
  for (const late of [1_000, 39_000, 600_000]) {
    assert.equal(slept(before, { day: before.day + late, page: before.page + late }), false, `${late} ms late`);
  }
});

test("a computer that slept moved the clock of the day alone", () => {
  assert.equal(slept(before, { day: before.day + 60_000, page: before.page + 1_000 }), true);
});

test("a clock that was set a little did not sleep", () => {
  assert.equal(slept(before, { day: before.day + 4_000, page: before.page + 1_000 }), false);
  assert.equal(slept(before, { day: before.day - 60_000, page: before.page + 1_000 }), false);
});
