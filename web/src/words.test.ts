import assert from "node:assert/strict";
import { test } from "node:test";
import { best, describe, describeWays, newest, nodeless, upToDate, type Situation } from "./words.ts";
import type { Status } from "./types/tab";

const status: Status = {
  run: "bafyrun", env: "CartPole-v1", strategy: "dises", height: 3, head: "bafyhead", leader: "aa", self: "bb", leads: false,
  term: 1, peers: 2, connected: 1, volunteers: 2, evaluations: 300, steps: 9000, evals_per_s: 120, mine: 30, mine_steps: 900,
  mine_evals_per_s: 12, own: { computed: 40, logged: 30, waiting: 8, late: 2, replaced: 0 }, reorgs: 0, reorg: null, workers: 1, best: 20, mean: 10, return: null, return_height: 0, threshold: 475, state: "training", reason: "evaluating", why: "", ahead: 0, behind: 0,
  behind_of: 0, behind_s: 0, solved_height: 0, ended: false, best_state: null,
};
const running: Situation = { phase: "running", loaded: 1, online: true, hold: "none", sleep: "none", status, ways: [] };

const cases: [name: string, change: Partial<Situation>, tone: string, headline: string][] = [
  ["training", {}, "work", "Your computer is helping"],
  ["loading", { phase: "loading", loaded: 0.5 }, "wait", "Loading"],
  ["second tab", { phase: "elsewhere" }, "rest", "This browser already helps in another tab"],
  ["no node answered", { phase: "connecting", status: null }, "wait", "Connecting"],
  ["before the first status", { status: null }, "wait", "Connecting"],
  ["no run", { phase: "no run", status: null }, "wait", "No run"],
  ["paused", { hold: "paused" }, "rest", "Paused"],
  ["paused while connecting", { phase: "connecting", hold: "paused", status: null }, "rest", "Paused"],
  ["battery", { hold: "battery" }, "rest", "Paused to spare your battery"],
  ["offline", { online: false }, "wait", "No network"],
  ["alone and working", { phase: "alone" }, "work", "Training alone"],
  ["alone and idle", { phase: "alone", status: { ...status, state: "idle", reason: "searching" } }, "wait", "Alone"],
  ["between two generations", { status: { ...status, state: "idle", reason: "part-done" } }, "work", "Your computer is helping"],
  ["catching up", { status: { ...status, state: "catching-up", reason: "catching-up" } }, "wait", "Catching up"],
  ["no leader", { status: { ...status, state: "idle", reason: "no-leader" } }, "wait", "Waiting for the leader"],
  ["disk", { status: { ...status, state: "idle", reason: "disk-full" } }, "trouble", "Storage is full"],
  ["a solved run", { status: { ...status, state: "solved", reason: "passed-test", solved_height: 2, ended: true } }, "work", "Solved"],
  ["a solved run, alone", { phase: "alone", status: { ...status, state: "solved", reason: "passed-test", ended: true } }, "work", "Solved"],
  ["a run that ended otherwise", { status: { ...status, state: "idle", reason: "run-ended", why: "the run has ended", ended: true } }, "rest", "The run has ended"],
  ["a run of trusted keys", { status: { ...status, state: "idle", reason: "not-trusted", why: "trusts others" } }, "rest", "You can watch this run"],
  ["a result that is checked", { status: { ...status, state: "idle", reason: "testing", why: "checking" } }, "wait", "Checking the result"],
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

// While it is being opened a tab has no connection for a moment. Only the tab's program knows that nobody can be reached.
test("a tab without a connection is not yet alone", () => {
  const opening = describe({ ...running, status: { ...status, connected: 0, state: "idle", reason: "searching" } });
  assert.equal(opening.headline, "Connecting");
  assert.equal(describe({ ...running, status: { ...status, connected: 0 } }).headline, "Your computer is helping");
});

test("what is said depends on the reason, not on a program's prose", () => {
  assert.equal(describe({ ...running, status: { ...status, state: "idle", reason: "part-done", why: "any words" } }).headline, "Your computer is helping");
});

test("a reason that this page does not know is said in the program's words", () => {
  const got = describe({ ...running, status: { ...status, state: "idle", reason: "new" as Status["reason"], why: "waiting for snow" } });
  assert.deepEqual(got, { tone: "wait", headline: "Taking part", detail: "Waiting for snow." });
});

test("catching up says how far it is and how long it takes", () => {
  const behind = (change: Partial<Status>): string =>
    describe({ ...running, status: { ...status, reason: "catching-up", ...change } }).detail;
  assert.match(behind({ behind: 100, behind_of: 185, behind_s: 19.2 }), /^85 of 185 generations, 20 s left\. /);
  assert.match(behind({ behind: 100, behind_of: 185, behind_s: 300 }), /, 5 min left\. /);
  assert.match(behind({ behind: 100, behind_of: 185 }), /^85 of 185 generations\. /);
  assert.match(behind({}), /^Fetching /);
  const ahead = describe({ ...running, status: { ...status, ahead: 180, behind: 100, behind_of: 185 } });
  assert.equal(ahead.headline, "Your computer is helping");
  assert.match(ahead.detail, /Of its past, 85 of 185 generations are checked so far\.$/);
  const light = describe({ ...running, status: { ...status, ahead: 180, light: true } });
  assert.match(light.detail, /\. It gets the newest policies, not everybody's results, which are too many to download\.$/);
});

test("a pause does not claim that nothing happens", () => {
  assert.match(describe({ ...running, hold: "paused" }).detail, /only follows the run/);
});

test("the policy of a tab that is behind is not worth drawing", () => {
  const cases: [change: Partial<Status>, want: boolean][] = [
    [{}, true],
    [{ height: 0 }, true],
    [{ state: "catching-up", reason: "catching-up", behind: 5, behind_of: 9 }, false],
    [{ ahead: 9, behind: 5, behind_of: 9 }, true],
    [{ state: "idle", reason: "searching", height: 0 }, false],
    [{ state: "paused", reason: "paused" }, true],
    [{ state: "paused", reason: "paused", height: 0 }, false],
    [{ state: "paused", reason: "paused", behind: 5 }, false],
  ];
  for (const [change, want] of cases) assert.equal(upToDate({ ...status, ...change }), want, JSON.stringify(change));
});

test("others are counted in words, if there are any", () => {
  assert.match(describe({ ...running, status: { ...status, peers: 1 } }).detail, /with 1 other\.$/);
  assert.match(describe(running).detail, /with 2 others\.$/);
  assert.equal(describe({ ...running, status: { ...status, peers: 0 } }).detail, "It trains CartPole-v1.");
  const windy = { ...status, env: "LunarLander-v3", env_params: { wind_power: 7.5, enable_wind: 1 }, peers: 0 };
  assert.equal(describe({ ...running, status: windy }).detail, "It trains LunarLander-v3 enable_wind=1 wind_power=7.5.");
});

test("a tab that woke up says what it slept through until it is connected again", () => {
  const lost: Situation = { ...running, status: { ...status, connected: 0, state: "idle", reason: "searching" } };
  assert.match(describe({ ...lost, sleep: "frozen" }).detail, /this hidden tab to sleep/);
  assert.match(describe({ ...lost, sleep: "slept" }).detail, /This computer was asleep/);
  assert.doesNotMatch(describe(lost).detail, /sleep/);
});

test("a page that can reach no known node says so at once", () => {
  const ways: Situation["ways"] = [{ way: "WebSocket", state: "forbidden" }, { way: "WebTransport", state: "unknown" }];
  const lost: Situation = { ...running, phase: "connecting", status: null };
  assert.equal(describe(lost).detail, "Looking for the swarm.");
  assert.match(describe({ ...lost, ways }).detail, /^No known node can be reached from this page/);
  assert.equal(describe({ ...lost, ways: [...ways, { way: "WebRTC-Direct", state: "failed" }] }).detail, "Looking for the swarm.");
});

test("the policy in view is the best one so far, unless one passed the test", () => {
  const marked = { ...status, height: 900, ahead: 950, best_state: { height: 120, score: 261, episodes: 64 } };
  const cases: [Status, number, number][] = [[{ ...status, ahead: 5 }, 0, 5], [marked, 120, 120], [{ ...marked, solved_height: 890 }, 0, 950]];
  for (const [s, bestOf, newestOf] of cases) assert.deepEqual([best(s), newest(s)], [bestOf, newestOf]);
});

test("the page says over what it is connected, and why not over the rest", () => {
  const words = describeWays([
    { way: "WebSocket over TLS", state: "unknown" },
    { way: "WebTransport", state: "failed", why: "nobody answers" },
    { way: "WebRTC-Direct", state: "used" },
    { way: "WebSocket", state: "forbidden" },
  ]);
  assert.equal(words, "Connected over WebRTC-Direct. WebSocket over TLS: no known node offers it. WebTransport: failed, and is tried again: Nobody answers. WebSocket: not allowed on a page that came over https.");
  assert.match(describeWays([{ way: "a relay", state: "unknown" }]), /A relay: no known node needs one\.$/);
  assert.match(describeWays([{ way: "WebTransport", state: "spare" }]), /^No connection yet\. WebTransport: not needed\.$/);
});

test("a tab that has other tabs alone is told from one that has a node", () => {
  const tabs = { way: "WebRTC with other tabs", state: "used" } as const;
  assert.equal(nodeless([]), true);
  assert.equal(nodeless([{ way: "WebSocket", state: "spare" }, tabs]), true);
  assert.equal(nodeless([{ way: "WebSocket", state: "used" }, tabs]), false);
  assert.equal(describeWays([{ way: "WebSocket", state: "used" }, tabs]), "Connected over WebSocket and WebRTC with other tabs.");
});
