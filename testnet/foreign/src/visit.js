// A visit to a node with js-libp2p as it comes: nothing here is from evoswarm. It says no hello.

import { identify } from "@libp2p/identify";
import { gossipsub } from "@libp2p/gossipsub";
import { noise } from "@libp2p/noise";
import { ping } from "@libp2p/ping";
import { yamux } from "@libp2p/yamux";
import { multiaddr } from "@multiformats/multiaddr";
import { createLibp2p } from "libp2p";
import { Reader } from "./announce.js";

// begin makes a peer that can dial by the transports.
export function begin(transports, listen = []) {
  return createLibp2p({
    addresses: { listen },
    transports,
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionGater: { denyDialMultiaddr: () => false }, // browsers are kept from private addresses otherwise
    services: { identify: identify(), ping: ping(), gossip: gossipsub() },
  });
}

// visit dials a node, and hears the run's gossip until so many entries were announced. It returns what it found.
export async function visit(peer, addr, run, entries, seconds) {
  const reader = new Reader(run);
  const topics = { entries: `/evoswarm/${run}/entries/2`, control: `/evoswarm/${run}/control/2` };
  const counts = { entries: 0, control: 0 };
  const authors = new Set();
  const { promise, resolve } = Promise.withResolvers();
  peer.services.gossip.addEventListener("message", ({ detail: message }) => {
    authors.add(message.from.toString());
    if (message.topic === topics.control) counts.control++;
    if (message.topic === topics.entries) {
      counts.entries++;
      reader.read(message.data);
    }
    if (reader.entries.length >= entries && counts.control > 0) resolve();
  });
  const identified = new Promise((done) =>
    peer.addEventListener("peer:identify", ({ detail }) => {
      if (addr.endsWith(`/${detail.peerId}`)) done(detail);
    }),
  );
  const connection = await peer.dial(multiaddr(addr), { signal: AbortSignal.timeout(seconds * 1000) });
  const pinged = await peer.services.ping.ping(connection.remotePeer);
  for (const topic of Object.values(topics)) peer.services.gossip.subscribe(topic);
  const late = setTimeout(resolve, seconds * 1000);
  await promise;
  clearTimeout(late);
  const { agentVersion, protocols } = await identified;
  return {
    remote: connection.remoteAddr.toString(),
    agent: agentVersion,
    protocols,
    ping: pinged,
    messages: counts,
    authors: [...authors],
    entries: reader.entries,
    faults: reader.faults,
  };
}
