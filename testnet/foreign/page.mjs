// A peer in a page, which visits a node over what browsers have. esbuild bundles it.

import { webRTCDirect } from "@libp2p/webrtc";
import { webSockets } from "@libp2p/websockets";
import { webTransport } from "@libp2p/webtransport";
import { begin, visit } from "./src/visit.js";

// visitFrom visits, and leaves what it found, or why it failed, in globalThis.found.
globalThis.visitFrom = async (addr, run, entries, seconds) => {
  globalThis.found = undefined;
  try {
    const peer = await begin([webSockets(), webTransport(), webRTCDirect()]);
    globalThis.found = await visit(peer, addr, run, entries, seconds);
    await peer.stop();
  } catch (err) {
    globalThis.found = { failed: String(err?.stack ?? err) };
  }
};
