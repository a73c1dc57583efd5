// Reads what announces new entries, by docs/spec/protocol.md (section 2, type 5) and docs/spec/seedlog.md alone.

import { publicKeyFromRaw } from "@libp2p/crypto/keys";
import { decode } from "./cbor.js";

const announce = 5;

// Reader checks the announcements of one run, and keeps what they announce.
export class Reader {
  constructor(run) {
    this.run = run;
    this.entries = []; // height, link, parent, and whether it lies on the entry before
    this.faults = [];
    this.last = Promise.resolve();
  }

  // read takes a message of the topic of entries. Those of other types are not looked at.
  read(data) {
    if (data[0] !== announce) return;
    this.last = this.last.then(() => this.check(data)).catch((err) => this.faults.push(String(err)));
  }

  async check(data) {
    const [block, sealBlock] = decode(data.subarray(1));
    const entry = decode(block);
    const [sealed, signature] = decode(sealBlock);
    const link = await linkOf(block);
    if (base32(entry.get("run")) !== this.run) throw new Error(`an entry of run ${base32(entry.get("run"))}`);
    if (base32(sealed) !== base32(link)) throw new Error("the seal is that of another entry");
    const signed = concat(new TextEncoder().encode("evoswarm/seal/1\0"), link);
    if (!(await publicKeyFromRaw(entry.get("leader")).verify(signed, signature))) throw new Error("the leader did not sign");
    const before = this.entries.at(-1);
    this.entries.push({
      height: entry.get("height"),
      link: base32(link),
      evaluations: entry.get("evaluations"),
      follows: before !== undefined && before.link === base32(entry.get("parent")),
    });
  }
}

// linkOf is the CID of a block: version 1, dag-cbor, SHA-256.
async function linkOf(block) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", block));
  return concat(new Uint8Array([0x01, 0x71, 0x12, 0x20]), digest);
}

// base32 is a CID as text.
function base32(bytes) {
  const alphabet = "abcdefghijklmnopqrstuvwxyz234567";
  let text = "b";
  for (let bit = 0; bit < bytes.length * 8; bit += 5) {
    const at = bit >> 3;
    const pair = (bytes[at] << 8) | (bytes[at + 1] ?? 0);
    text += alphabet[(pair >> (11 - (bit & 7))) & 31];
  }
  return text;
}

function concat(...parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
