import assert from "node:assert/strict";
import { test } from "node:test";
import { describe, type Situation } from "./words.ts";
import type { Status } from "./types/tab";

const status: Status = {
  run: "bafyrun", env: "CartPole-v1", strategy: "dises", height: 3, head: "bafyhead", leader: "aa", self: "bb", leads: false,
  term: 1, peers: 2, connected: 1, volunteers: 2, evaluations: 300, steps: 9000, evals_per_s: 120, mine: 30, mine_steps: 900,
  mine_evals_per_s: 12, workers: 1, best: 20, mean: 10, return: null, return_height: 0, threshold: 475, state: "training", why: "",
};
const running: Situation = { phase: "running", loaded: 1, online: true, hold: "none", woken: false, status };

const cases: [name: string, change: Partial<Situation>, tone: string, headline: string][] = [
  ["training", {}, "work", "Your computer is helping"],
  ["loading", { phase: "loading", loaded: 0.5 }, "wait", "Loading"],
  ["second tab", { phase: "elsewhere" }, "rest", "Another tab of this browser is working"],
  ["no node answered", { phase: "connecting", status: null }, "wait", "Connecting"],
  ["before the first status", { status: null }, "wait", "Connecting"],
  ["no run", { phase: "no run", status: null }, "wait", "No run"],
  ["paused", { hold: "paused" }, "rest", "Paused"],
  ["paused while connecting", { phase: "connecting", hold: "paused", status: null }, "rest", "Paused"],
  ["battery", { hold: "battery" }, "rest", "Paused to spare the battery"],
  ["offline", { online: false }, "wait", "No network"],
  ["alone and working", { status: { ...status, connected: 0 } }, "work", "Alone, and going on"],
  ["alone and idle", { status: { ...status, connected: 0, state: "idle" } }, "wait", "Alone"],
  ["between two generations", { status: { ...status, state: "idle", why: "has done its part of generation 4 and waits for the others" } }, "work", "Your computer is helping"],
  ["catching up", { status: { ...status, state: "idle", why: "catching up with the swarm, at generation 0" } }, "wait", "Catching up"],
  ["idle", { status: { ...status, state: "idle", mine_evals_per_s: 0, why: "waiting for a leader" } }, "wait", "Waiting"],
  ["old browser", { phase: "unsupported" }, "trouble", "This browser cannot help"],
  ["failed", { phase: "failed" }, "trouble", "Stopped"],
];

for (const [name, change, tone, headline] of cases) {
  test(name, () => {
    const got = describe({ ...running, ...change });
    assert.equal(got.tone, tone);
    assert.equal(got.headline, headline);
    assert.match(got.detail, /[.]$/);
  });
}

test("the reason for being idle is said as a sentence", () => {
  const got = describe({ ...running, status: { ...status, state: "idle", mine_evals_per_s: 0, why: "waiting for a leader" } });
  assert.equal(got.detail, "Waiting for a leader.");
});

test("others are counted in words", () => {
  assert.match(describe({ ...running, status: { ...status, peers: 1 } }).detail, /with 1 other\.$/);
  assert.match(describe(running).detail, /with 2 others\.$/);
});

test("a tab that was frozen says so until it is connected again", () => {
  assert.match(describe({ ...running, woken: true, status: { ...status, connected: 0 } }).detail, /to sleep/);
  assert.doesNotMatch(describe({ ...running, woken: true }).detail, /to sleep/);
});
