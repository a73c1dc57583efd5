import assert from "node:assert/strict";
import { test } from "node:test";
import { Lifetime } from "./lifetime.ts";

function storage(kept: string | null): { value: string | null } {
  const box = { value: kept };
  Object.defineProperty(globalThis, "localStorage", {
    configurable: true,
    value: { getItem: () => box.value, setItem: (_: string, v: string) => void (box.value = v) },
  });
  return box;
}

const own = (computed: number, logged: number, replaced = 0) => ({ computed, logged, replaced, waiting: 0, late: 0 });

test("all visits and runs are added up, also what was replaced", () => {
  const box = storage(null);
  const first = new Lifetime();
  assert.equal(first.add({ run: "a", own: own(40, 30) }), 30);
  assert.equal(first.add({ run: "a", own: own(50, 10) }), 30); // 20 are open again
  assert.equal(first.add({ run: "a", own: own(60, 25, 20) }), 45);
  assert.equal(first.add({ run: "b", own: own(70, 5) }), 50);
  assert.equal(first.add({ run: "b", own: own(8, 6) }), 56);
  assert.equal(box.value, "56");
  assert.equal(new Lifetime().add({ run: "b", own: own(4, 4) }), 60);
});

test("a count that is none begins at zero", () => {
  for (const bad of ["", "x", "-5", "1e400", "NaN", "0.5", "{}"]) {
    storage(bad);
    assert.equal(new Lifetime().add({ run: "a", own: own(1, 1) }), 1, bad);
  }
  Object.defineProperty(globalThis, "localStorage", { configurable: true, get: () => { throw new Error("forbidden"); } });
  assert.equal(new Lifetime().add({ run: "a", own: own(2, 2) }), 2);
});
