import assert from "node:assert/strict";
import { test } from "node:test";

import { takenIn } from "./observe.ts";
import type { Status } from "./types/tab";

const status = (height: number, behind = 0, reason = "evaluating", run = "a"): Status => ({ run, height, behind, reason }) as Status;

test("a tab's figures are the run's once it has taken the run in", () => {
  assert.equal(takenIn(status(1000), status(1010)), true);
  assert.equal(takenIn(status(1010), status(1000)), true);
  assert.equal(takenIn(status(1000), null), true, "no node answers");
  assert.equal(takenIn(status(3), status(1010, 0, "evaluating", "b")), true, "the node works on another run");
});

test("a tab that joins has figures of how the run began", () => {
  assert.equal(takenIn(status(0), status(1010)), false, "it has heard of nothing yet");
  assert.equal(takenIn(status(500, 500), status(1010)), false);
  assert.equal(takenIn(status(1000, 10), null), false);
  assert.equal(takenIn(status(1010, 0, "catching-up"), status(1010)), false);
});
