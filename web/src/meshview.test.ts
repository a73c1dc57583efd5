import assert from "node:assert/strict";
import { test } from "node:test";
import { layout, words, type Known } from "./meshview.ts";

const neighbor = (key: string, tab = false) => ({ key, tab, hub: !tab });
const known = (more: Partial<Known> = {}): Known => ({ self: "me", leader: "a", neighbors: [neighbor("a"), neighbor("b", true)], peers: 5, ...more });

test("the picture has everybody once, or counts him", () => {
  const l = layout(known());
  assert.equal(l.neighbors.length + l.others.length + l.more, 5);
  assert.deepEqual(l.crown, { x: l.neighbors[0]!.x, y: l.neighbors[0]!.y });
  const crowd = layout(known({ peers: 1000 }));
  assert.equal(crowd.neighbors.length + crowd.others.length + crowd.more, 1000);
  assert.ok(crowd.others.length <= 18);
});

test("the crown is where the leader is", () => {
  assert.deepEqual(layout(known({ leader: "me" })).crown, layout(known()).you);
  assert.equal(layout(known({ leader: "" })).crown, null);
  const far = layout(known({ leader: "zz" }));
  assert.deepEqual(far.crown, far.others[0]);
  assert.ok(layout(known({ leader: "zz", neighbors: [], peers: 0 })).crown, "a leader that was not counted yet");
});

test("nothing lies outside of the picture", () => {
  for (const n of [0, 1, 2, 5, 12]) {
    const l = layout(known({ neighbors: Array.from({ length: n }, (_, i) => neighbor(String(i))), peers: n + 30 }));
    for (const p of [...l.neighbors, ...l.others, l.you]) assert.ok(p.x > 8 && p.x < 252 && p.y > 8 && p.y < 142, `${p.x}, ${p.y}`);
  }
});

test("nobody is drawn where the word for you is", () => {
  for (const n of [1, 2, 3, 4, 5, 6, 8, 12]) {
    const l = layout(known({ neighbors: Array.from({ length: n }, (_, i) => neighbor(String(i))), peers: n }));
    assert.ok(!l.neighbors.some((p) => p.y > l.you.y && Math.abs(p.x - l.you.x) < 12), `${n}`);
  }
});

test("the picture in words", () => {
  assert.equal(words(known()), "You are connected to 1 node and 1 tab. 3 more take part. Peer a leads.");
  assert.equal(words(known({ neighbors: [], peers: 0, leader: "" })), "No other peer is connected. Nobody leads at present.");
  assert.equal(words(known({ neighbors: [neighbor("x", true)], peers: 1, leader: "me" })), "You are connected to 1 tab. This tab leads.");
});
