import assert from "node:assert/strict";
import { test } from "node:test";
import { speak } from "./lang.ts";
import { en } from "./lang/en.ts";
import { languages } from "./translate.ts";
import { describeRuns, rowsOf, type RunInfo, type RunList } from "./runlist.ts";

function run(change: Partial<RunInfo>): RunInfo {
  return {
    run: "bafya", env: "CartPole-v1", strategy: "snes", height: 1234, return: 120.25, threshold: 475, peers: 3, evals_per_s: 88.5, state: "training",
    reason: "evaluating", why: "", ended: false, solved: false, ...change,
  };
}

function list(...runs: RunInfo[]): RunList {
  return { version: 1, build: "0123456789ab", advised: "bafyb", runs };
}

test("a run is described by what it trains and how far it is", () => {
  const [first, second] = rowsOf(list(run({}), run({ run: "bafyb", env: "LunarLander-v3", env_params: { enable_wind: true, wind_power: 5 }, return: null, peers: 0 })));
  assert.equal(first!.title, "CartPole-v1");
  assert.equal(first!.tag, "");
  assert.deepEqual(first!.figures.slice(0, 3), [["Return", "120 (goal 475)"], ["Generation", "1,234"], ["Peers", "3"]]);
  assert.equal(first!.action, "Take part");
  assert.equal(second!.title, "LunarLander-v3 with enable_wind=true, wind_power=5");
  assert.match(second!.tag, /Fewest peers/);
  assert.deepEqual(second!.figures[0], ["Return", "– (goal 475)"]);
});

test("the state of a run is in words", () => {
  const cases: [change: Partial<RunInfo>, tone: string, state: RegExp, action: string][] = [
    [{}, "work", /^Training\.$/, "Take part"],
    [{ solved: true }, "work", /as good as the goal already/, "Take part"],
    [{ ended: true, solved: true, state: "solved", run: "bafyb" }, "rest", /^Solved\.$/, "Look at it"],
    [{ ended: true, solved: true, state: "idle", why: "the run has ended with 3 entries, as it was to" }, "rest", /^The run has ended with 3 entries/, "Look at it"],
    [{ state: "catching-up" }, "wait", /catching up/, "Take part"],
    [{ error: "x", reason: "disk-full", why: "the disk is full" }, "trouble", /^The node's disk is full\.$/, "Take part"],
    [{ error: "a bad lock", why: "evaluating" }, "trouble", /trouble with this run: A bad lock\.$/, "Take part"],
    [{ run: "", env: "", reason: "", error: "x", why: "the run does not start; it is tried again each minute" }, "trouble", /does not start/, ""],
  ];
  for (const [change, tone, state, action] of cases) {
    const row = rowsOf(list(run(change)))[0]!;
    assert.equal(row.tone, tone, JSON.stringify(change));
    assert.match(row.state, state);
    assert.equal(row.action, action);
    assert.equal(row.tag, "", "one run is no choice");
  }
});

test("the list is in the person's language", () => {
  speak(languages["de"]!.texts, "de");
  try {
    const row = rowsOf(list(run({ state: "idle", reason: "run-ended", why: "the run has ended with 3 entries, as it was to", ended: true })))[0]!;
    assert.deepEqual([row.state, row.action, row.figures[0]], ["Zu Ende: Er hat so lange gedauert, wie er sollte.", "Ansehen", ["Return", "120 (Ziel 475)"]]);
    assert.equal(describeRuns(list(run({}), run({ run: "bafyb" }))).headline, "2 Läufe");
  } finally {
    speak(en, "en");
  }
});

test("the page says what there is to choose from", () => {
  assert.equal(describeRuns(list(run({ run: "" }))).headline, "No run");
  assert.equal(describeRuns(list(run({}))).headline, "1 run");
  const two = describeRuns(list(run({}), run({ run: "bafyb" })));
  assert.equal(two.headline, "2 runs");
  assert.match(two.detail, /fewest peers/);
  assert.ok(two.choice);
  assert.match(describeRuns(list(run({ ended: true }), run({ run: "bafyb", ended: true }))).detail, /Nothing is left/);
});
