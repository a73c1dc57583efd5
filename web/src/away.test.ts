import assert from "node:assert/strict";
import { test } from "node:test";
import { away, type Moment } from "./away.ts";
import type { Status } from "./types/tab";

const moment = (minutes: number, more: Partial<Status> = {}): Moment => ({
  at: minutes * 60_000,
  status: { run: "r", height: 100, return: 150, solved_height: 0, state: "training", mine_evals_per_s: 10, own: { computed: 1000 }, ...more } as Status,
});
const later = (minutes: number, more: Partial<Status> = {}): Moment => moment(minutes, { height: 140, own: { computed: 8200 } as Status["own"], ...more });

test("who comes back reads what happened", () => {
  assert.equal(away(moment(0), later(12, { return: 210 }), "none"), "In the 12 minutes that you were away this tab made 7,200 evaluations; the swarm did 40 generations. The return rose from 150 to 210.");
  assert.equal(away(moment(0), later(180, { own: { computed: 1_200_000 } as Status["own"] }), "none"), "In the 3 hours that you were away this tab made 1.2M evaluations; the swarm did 40 generations.");
});

test("a short absence, or another run, is not worth a word", () => {
  assert.equal(away(moment(0), later(0.5), "none"), "");
  assert.equal(away(moment(0), later(12, { run: "s" }), "none"), "");
});

test("it says what the browser did to a hidden page, and that the run was solved", () => {
  assert.match(away(moment(0), later(60), "frozen"), /put this hidden tab to sleep/);
  assert.match(away(moment(0), later(60), "slept"), /computer was asleep/);
  assert.match(away(moment(0), later(60), "none"), /gave this hidden tab less/);
  assert.doesNotMatch(away(moment(0), later(12), "none"), /less/);
  assert.match(away(moment(0), later(12, { solved_height: 130, state: "solved" }), "none"), /solved meanwhile/);
});
