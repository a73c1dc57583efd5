import assert from "node:assert/strict";
import { test } from "node:test";
import { clock, holdOf, minuteOf, within, type Asked, type Present } from "./manners.ts";

const asked = (more: Partial<Asked> = {}): Asked => ({ paused: false, plugged: false, thrifty: false, hours: null, ...more });
const present = (more: Partial<Present> = {}): Present => ({ battery: null, savesData: false, minute: 720, ...more });

test("work stops when the battery is low, and on battery alone only when its owner asked for that", () => {
  assert.equal(holdOf(asked(), present({ battery: { charging: false, level: 0.2 } })), "battery");
  assert.equal(holdOf(asked(), present({ battery: { charging: true, level: 0.2 } })), "none");
  assert.equal(holdOf(asked(), present({ battery: { charging: false, level: 0.9 } })), "none");
  assert.equal(holdOf(asked({ plugged: true }), present({ battery: { charging: false, level: 0.9 } })), "unplugged");
  assert.equal(holdOf(asked({ plugged: true }), present()), "none", "a browser that does not say counts as plugged in");
});

test("a browser that saves data holds the work only when its owner asked for that", () => {
  assert.equal(holdOf(asked(), present({ savesData: true })), "none");
  assert.equal(holdOf(asked({ thrifty: true }), present({ savesData: true })), "data");
  assert.equal(holdOf(asked({ thrifty: true }), present()), "none");
});

test("the hours to lend may span midnight", () => {
  const night: [number, number] = [22 * 60, 7 * 60];
  for (const [minute, want] of [[22 * 60, true], [23 * 60 + 59, true], [0, true], [7 * 60 - 1, true], [7 * 60, false], [720, false]] as const) {
    assert.equal(within(night, minute), want, clock(minute));
  }
  assert.equal(within([540, 1020], 539), false);
  assert.equal(within([540, 1020], 540), true);
  assert.equal(within([540, 540], 3), true);
  assert.equal(holdOf(asked({ hours: night }), present()), "hours");
});

test("the person's own choice is named first", () => {
  assert.equal(holdOf(asked({ paused: true, hours: [0, 1] }), present({ battery: { charging: false, level: 0.1 } })), "paused");
});

test("times of day are read and written", () => {
  assert.equal(minuteOf("22:30"), 1350);
  for (const bad of ["24:00", "7:00", "", "12:60", "12:00:00"]) assert.equal(minuteOf(bad), null, bad);
  assert.equal(clock(425), "07:05");
});
