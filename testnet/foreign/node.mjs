// A peer in Node that visits a node over TCP or WebSocket, and answers who dials it.
//
//   node node.mjs ADDRESS RUN ENTRIES SECONDS         Node 20 needs --experimental-websocket for WebSocket
//
// It prints two lines of JSON: where it listens, then what it found. It ends when its standard input does.

import "./src/node20.js"; // first
import { tcp } from "@libp2p/tcp";
import { webSockets } from "@libp2p/websockets";
import { begin, visit } from "./src/visit.js";

const [addr, run, entries, seconds] = process.argv.slice(2);
const peer = await begin([tcp(), webSockets()], ["/ip4/127.0.0.1/tcp/0"]);
console.log(JSON.stringify({ listening: peer.getMultiaddrs().map(String) }));
console.log(JSON.stringify(await visit(peer, addr, run, Number(entries), Number(seconds))));
process.stdin.resume().on("end", () => peer.stop().then(() => process.exit(0)));
