import assert from "node:assert/strict";
import { test } from "node:test";
import jsQR from "jsqr";
import { readLink } from "./link.ts";
import { frame, invitation, modules, onlyHere } from "./share.ts";

const run = "bafyreie72pidbcdj7l22yoakbuoop4venmgf6pcfowm62fswha3xrfbrl4";
const peers = Array.from({ length: 6 }, (_, i) => `/ip4/203.0.113.${i}/udp/4710/quic-v1/webtransport/certhash/uEi${"A".repeat(43)}/p2p/12D3KooWHrX4gsZrg6fwWVSEiPpNzdHKbkNqfPbX3yCA9AxTgvPc`);

/** read decodes a QR code with a decoder of somebody else, from an image as a camera sees it. */
function read(text: string): string | undefined {
  const rows = modules(text);
  const scale = 4;
  const size = rows.length * scale;
  const image = new Uint8ClampedArray(4 * size * size);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const dark = rows[Math.floor(y / scale)]![Math.floor(x / scale)];
      image.set(dark ? [0, 0, 0, 255] : [255, 255, 255, 255], 4 * (y * size + x));
    }
  }
  return jsQR(image, size, size)?.data;
}

test("another program reads the codes of invitations, short and long", () => {
  for (const link of ["http://192.168.1.5:8080/", invitation("http://example.org:8080/", run, []), invitation("https://example.org/swarm/", run, peers), "https://example.org/?x=äöü%20€"]) {
    assert.equal(read(link), link);
  }
});

test("the page reads what an invitation says", () => {
  const link = new URL(invitation("https://example.org/swarm/?embed&node=http%3A%2F%2Fa.example%2F#old", run, peers));
  const got = readLink(link.search, link.hash);
  assert.equal(got.run, run);
  assert.deepEqual(got.peers, peers.slice(0, 4));
  assert.equal(got.wrong, "");
  assert.equal(link.searchParams.get("node"), "http://a.example/");
  assert.equal(link.searchParams.has("embed"), false, "an invitation of a frame is one to the whole page");
  assert.equal(invitation("http://a.example/", "", []), "http://a.example/");
});

test("a link to the computer itself is told from others", () => {
  for (const link of ["http://localhost:8080/", "http://127.0.0.1:8080/#x", "http://[::1]:8080/"]) assert.equal(onlyHere(link), true, link);
  for (const link of ["http://192.168.1.5:8080/", "https://localhost.example.org/"]) assert.equal(onlyHere(link), false, link);
});

test("nothing breaks out of the frame that an author copies", () => {
  const text = frame(`https://example.org/?node=%22onload%3D%22x#${run}`);
  assert.equal(text.split('"').length, 11, text);
  assert.match(text, new RegExp(`src="https://example.org/\\?[^"]*embed#${run}"`));
});
