import assert from "node:assert/strict";
import { test } from "node:test";
import { count, real, short, tick } from "./format.ts";

test("numbers as people read them", () => {
  assert.deepEqual([0, 999, 12345, 1234567].map(count), ["0", "999", "12,345", "1.23M"]);
  assert.deepEqual([null, undefined, NaN, 0, 1.25, 99.96, 412.3, -110.4].map(real), ["–", "–", "–", "0", "1.3", "100", "412", "-110"]);
  assert.deepEqual([-198.5, 0.25, 500, 123456].map(tick), ["-198.5", "0.25", "500", "123K"]);
});

test("ids are shortened to their end", () => {
  assert.equal(short("bafyreibvya3zau4"), "…vya3zau4");
  assert.equal(short("abc"), "abc");
});
