import assert from "node:assert/strict";
import { test } from "node:test";
import { describe, type Situation } from "./words.ts";
import type { Status } from "./types/tab";

const status: Status = {
  run: "bafyrun", env: "CartPole-v1", height: 3, head: "bafyhead", leader: "12D3", self: "12D4", term: 1, peers: 2, links: 1,
  evaluations: 300, steps: 9000, evals_per_s: 12, best: 20, mean: 10, state: "training", why: "", syncing: false,
  mine: { evaluations: 30, steps: 900 }, contributors: 2, workers: 1, threshold: 475,
};
const running: Situation = { phase: "running", loaded: 1, online: true, hold: "none", woken: false, announced: "bafyrun", status };

const cases: [name: string, change: Partial<Situation>, tone: string, headline: string][] = [
  ["training", {}, "work", "Your computer is helping"],
  ["loading", { phase: "loading", loaded: 0.5 }, "wait", "Loading"],
  ["second tab", { phase: "elsewhere" }, "rest", "Another tab of this browser is working"],
  ["before the first status", { phase: "starting", status: null }, "wait", "Connecting"],
  ["no link yet", { status: { ...status, run: "", links: 0 } }, "wait", "Connecting"],
  ["no run", { status: { ...status, run: "" } }, "wait", "No run"],
  ["paused", { hold: "paused" }, "rest", "Paused"],
  ["battery", { hold: "battery" }, "rest", "Paused to spare the battery"],
  ["offline", { online: false }, "wait", "No network"],
  ["catching up", { status: { ...status, syncing: true } }, "wait", "Catching up"],
  ["alone and working", { status: { ...status, links: 0, peers: 0 } }, "work", "Alone, and going on"],
  ["alone and idle", { status: { ...status, links: 0, peers: 0, state: "idle" } }, "wait", "Alone"],
  ["idle", { status: { ...status, state: "idle", why: "waiting for a leader" } }, "wait", "Idle"],
  ["old browser", { phase: "unsupported" }, "trouble", "This browser cannot help"],
  ["failed", { phase: "failed" }, "trouble", "Something went wrong"],
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
  const got = describe({ ...running, status: { ...status, state: "idle", why: "waiting for a leader" } });
  assert.equal(got.detail, "Waiting for a leader.");
});

test("others are counted in words", () => {
  assert.match(describe({ ...running, status: { ...status, peers: 1 } }).detail, /with 1 other\.$/);
  assert.match(describe(running).detail, /with 2 others\.$/);
});
