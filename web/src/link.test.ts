import assert from "node:assert/strict";
import { test } from "node:test";
import { readLink } from "./link.ts";

const run = "bafyreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku";
const peer = "/ip4/203.0.113.7/udp/4710/webrtc-direct/certhash/uEiAk/p2p/12D3KooW";

test("a link may name nothing", () => {
  assert.deepEqual(readLink("", ""), { run: "", peers: [], wrong: "" });
  assert.deepEqual(readLink("?node=http://x/", "#"), { run: "", peers: [], wrong: "" });
});

test("a link names a run and nodes", () => {
  assert.deepEqual(readLink("", `#${run}`), { run, peers: [], wrong: "" });
  assert.deepEqual(readLink(`?peer=${peer}&peer=${encodeURIComponent(peer + "x")}`, `#run=${run}`), { run, peers: [peer, peer + "x"], wrong: "" });
  assert.deepEqual(readLink("", `#${run}&peer=${encodeURIComponent(peer)}&peer=${peer}`), { run, peers: [peer, peer], wrong: "" });
});

test("what a link should not have is named and left out", () => {
  const cases: [search: string, hash: string, wrong: RegExp, peers: number][] = [
    ["", "#hello", /no run id: hello/, 0],
    ["", `#${run.toUpperCase()}`, /no run id/, 0],
    ["?peer=example.com", "", /address that is none: example\.com/, 0],
    [`?peer=/${"x".repeat(300)}&peer=${peer}`, "", /address that is none/, 1],
    [`?${`peer=${peer}&`.repeat(40)}`, "", /40 addresses; the first 16/, 16],
    ["", "#peer=%E0%A4%A", /address that is none/, 0],
  ];
  for (const [search, hash, wrong, peers] of cases) {
    const link = readLink(search, hash);
    assert.match(link.wrong, wrong, search + hash);
    assert.equal(link.peers.length, peers, search + hash);
    assert.equal(link.run, "", search + hash);
  }
});
