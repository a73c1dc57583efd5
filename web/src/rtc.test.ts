import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, described, readDescription, readOffer } from "./rtc.ts";

test("a browser's offer has a password and a fingerprint", () => {
  const sdp = "v=0\r\na=ice-ufrag:abcd\r\na=ice-pwd:0123456789abcdefghijklmn\r\na=fingerprint:sha-256 01:AB:ff\r\na=setup:actpass\r\n";
  assert.deepEqual(readOffer(sdp), { password: "0123456789abcdefghijklmn", fingerprint: Uint8Array.of(1, 0xab, 0xff) });
});

test("an offer without them is refused", () => {
  assert.throws(() => readOffer("v=0\r\na=ice-pwd:abc\r\na=fingerprint:sha-1 01:02\r\n"), /SHA-256/);
  assert.throws(() => readOffer(""), /password/);
});

test("the answer names the node as version 2 does", () => {
  const sdp = answer("2001:db8::7", "4710", Uint8Array.of(0, 0xab), "secret");
  for (const line of ["o=- 0 0 IN IP6 2001:db8::7", "a=ice-ufrag:libp2p+webrtc+v2/secret", "a=ice-pwd:libp2p+webrtc+v2/secret", "a=fingerprint:sha-256 00:AB", "a=candidate:1 1 UDP 1 2001:db8::7 4710 typ host"]) {
    assert.ok(sdp.split("\r\n").includes(line), line);
  }
  assert.match(answer("203.0.113.7", "1", Uint8Array.of(), ""), /c=IN IP4 203\.0\.113\.7/);
});

test("what a tab tells of itself is what another one needs, and no more", () => {
  const sdp = [
    "v=0",
    "a=ice-ufrag:abcd",
    "a=ice-pwd:0123456789abcdefghijklmn",
    "a=fingerprint:sha-256 01:AB",
    "a=candidate:1 1 udp 2113937151 7c1b8f6e-1c0a-4b6e-9d54-4c9f8a0e1d2f.local 40000 typ host generation 0",
    "a=candidate:2 1 tcp 1518280447 203.0.113.7 9 typ host tcptype active",
    "a=candidate:3 1 UDP 5 2001:db8::7 4710 typ host",
    "a=candidate:4 1 udp 5 198.51.100.1 4710 typ srflx raddr 0.0.0.0 rport 0",
  ].join("\r\n");
  const ours = readDescription(sdp);
  assert.deepEqual(ours, {
    user: "abcd",
    password: "0123456789abcdefghijklmn",
    fingerprint: Uint8Array.of(1, 0xab),
    places: [
      { host: "198.51.100.1", port: 4710, priority: 5 },
      { host: "7c1b8f6e-1c0a-4b6e-9d54-4c9f8a0e1d2f.local", port: 40000, priority: 2113937151 },
      { host: "2001:db8::7", port: 4710, priority: 5 },
    ],
  });
  const lines = described(ours, "active").split("\r\n");
  for (const line of ["a=ice-ufrag:abcd", "a=fingerprint:sha-256 01:AB", "a=setup:active", "a=candidate:1 1 udp 5 198.51.100.1 4710 typ host", "a=candidate:3 1 udp 5 2001:db8::7 4710 typ host"]) {
    assert.ok(lines.includes(line), line);
  }
  assert.deepEqual(readDescription(lines.join("\r\n")), ours);
});
