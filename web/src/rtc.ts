// The page's end of connections over WebRTC, to nodes (WebRTC-Direct) and to other tabs: browsers give RTCPeerConnection
// to pages only, so the network worker (internal/mesh/webrtc_js.go, tablink_js.go) has the page hold its connections, each
// behind a port.

/** What one tab tells another, to connect: the network worker checks it before it gets here (internal/mesh/signal.go). */
export interface Description {
  user: string;
  password: string;
  fingerprint: Uint8Array;
  places: Place[];
}

/** Where a browser can be reached: its address, or that of its NAT, or the name that it goes by in its local network. */
export interface Place {
  host: string;
  port: number;
  priority: number;
}

/** What the network worker asks of a connection. Channels that it opens have numbers from 0, those of the node below. */
export type RTCAsk =
  | { op: "dial"; host: string; port: string; fingerprint: Uint8Array }
  | { op: "offer"; stun: string[] }
  | { op: "accept"; theirs: Description; stun: string[] }
  | { op: "answered"; theirs: Description }
  | { op: "open"; channel: number }
  | { op: "send"; channel: number; parts: Uint8Array<ArrayBuffer>[] }
  | { op: "shut"; channel: number }
  | { op: "end" };

/** What it is told. */
export type RTCTell =
  | { op: "local"; fingerprint: Uint8Array }
  | { op: "described"; ours: Description }
  | { op: "opened"; channel: number }
  | { op: "incoming"; channel: number; id: number }
  | { op: "message"; channel: number; data: Uint8Array }
  | { op: "sent"; channel: number; bytes: number }
  | { op: "shut"; channel: number }
  | { op: "ended"; why: string };

/** Below so much that waits in the browser, the worker may send more. [bytes] */
const low = 64 << 10;

/** How long a connection that is interrupted has to come back. [ms] */
const interruption = 5000;

/** Connections that one tab has at most; it dials a few nodes, and has a few other tabs. */
const maxLinks = 16;

/** How long a browser has to find out where it can be reached. [ms] */
const gathering = 1000;

/** Places that are told to another tab. */
const maxPlaces = 8;

interface Channel {
  channel: RTCDataChannel;
  /** Bytes that were handed to the browser, and of which the worker was not told yet that they are sent. */
  waiting: number;
}

/** Links are the connections of one network worker. */
export class Links {
  private readonly all = new Set<Link>();

  /** Holds one more connection, which the worker asks for through the port. */
  add(port: MessagePort): void {
    if (this.all.size >= maxLinks) {
      port.postMessage({ op: "ended", why: `the page holds ${maxLinks} connections already` } satisfies RTCTell);
      return;
    }
    const link = new Link(port, () => this.all.delete(link));
    this.all.add(link);
  }

  /** Ends all: their worker is gone. */
  close(): void {
    for (const link of this.all) link.end("");
  }
}

class Link {
  private readonly connection = new RTCPeerConnection();
  private readonly channels = new Map<number, Channel>();
  private incoming = 0;
  private interrupted = 0;
  private ended = false;
  private naming = "the address names";

  constructor(
    private readonly port: MessagePort,
    private readonly gone: () => void,
  ) {
    port.onmessage = ({ data }: MessageEvent<RTCAsk>) => this.hear(data);
    this.connection.ondatachannel = ({ channel }) => {
      const number = --this.incoming;
      this.tell({ op: "incoming", channel: number, id: channel.id ?? 0 });
      this.hold(number, channel); // now, since messages come right after this event
    };
    this.connection.onconnectionstatechange = () => this.watch();
  }

  private hear(ask: RTCAsk): void {
    switch (ask.op) {
      case "dial":
        return this.begin(this.dial(ask));
      case "offer":
        return this.begin(this.offer(ask.stun));
      case "accept":
        return this.begin(this.accept(ask.theirs, ask.stun));
      case "answered":
        return this.begin(this.connection.setRemoteDescription({ type: "answer", sdp: described(ask.theirs, "active") }));
      case "open":
        return this.attempt(ask.channel, () => this.hold(ask.channel, this.connection.createDataChannel("")));
      case "send":
        return this.attempt(ask.channel, () => this.send(ask.channel, ask.parts));
      case "shut":
        this.channels.get(ask.channel)?.channel.close();
        this.channels.delete(ask.channel);
        return;
      case "end":
        return this.end("");
    }
  }

  /** begin ends the connection if it cannot be begun. */
  private begin(step: Promise<void>): void {
    step.catch((err: unknown) => this.end(String(err)));
  }

  /** dial connects by version 2 of WebRTC-Direct: the node learns this side's password from the name that we give to it. */
  private async dial(to: { host: string; port: string; fingerprint: Uint8Array }): Promise<void> {
    this.hold(0, this.connection.createDataChannel("", { negotiated: true, id: 0 }));
    await this.connection.setLocalDescription();
    const own = readOffer(this.connection.localDescription?.sdp ?? "");
    this.tell({ op: "local", fingerprint: own.fingerprint });
    await this.connection.setRemoteDescription({ type: "answer", sdp: answer(to.host, to.port, to.fingerprint, own.password) });
  }

  /** offer prepares a connection to another tab, which hears of it over nodes. */
  private async offer(stun: string[]): Promise<void> {
    this.askThere(stun);
    this.hold(0, this.connection.createDataChannel("", { negotiated: true, id: 0 }));
    await this.describe();
  }

  /** accept takes a connection that another tab offers. */
  private async accept(theirs: Description, stun: string[]): Promise<void> {
    this.askThere(stun);
    this.hold(0, this.connection.createDataChannel("", { negotiated: true, id: 0 }));
    await this.connection.setRemoteDescription({ type: "offer", sdp: described(theirs, "actpass") });
    await this.describe();
  }

  /** askThere has the browser ask nodes from where its packets come: behind a NAT it cannot know. */
  private askThere(stun: string[]): void {
    try {
      this.connection.setConfiguration({ iceServers: stun.map((urls) => ({ urls })) });
    } catch {
      // A browser that takes none of them finds tabs in its own network.
    }
  }

  /** describe tells what the other tab has to know of this one. */
  private async describe(): Promise<void> {
    this.naming = "the other tab named";
    await this.connection.setLocalDescription();
    await gathered(this.connection);
    this.tell({ op: "described", ours: readDescription(this.connection.localDescription?.sdp ?? "") });
  }

  private hold(number: number, channel: RTCDataChannel): void {
    const held: Channel = { channel, waiting: 0 };
    this.channels.set(number, held);
    channel.binaryType = "arraybuffer";
    channel.bufferedAmountLowThreshold = low;
    channel.onopen = () => this.tell({ op: "opened", channel: number });
    channel.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => this.tell({ op: "message", channel: number, data: new Uint8Array(data) }, [data]);
    channel.onbufferedamountlow = () => this.settle(number, held);
    channel.onclose = () => {
      if (this.channels.delete(number)) this.tell({ op: "shut", channel: number });
    };
    if (channel.readyState === "open") this.tell({ op: "opened", channel: number });
  }

  private send(number: number, parts: Uint8Array<ArrayBuffer>[]): void {
    const held = this.channels.get(number);
    if (!held) return;
    for (const part of parts) {
      held.channel.send(part);
      held.waiting += part.byteLength;
    }
    if (held.channel.bufferedAmount <= low) this.settle(number, held);
  }

  /** settle tells the worker that what it gave is sent. */
  private settle(number: number, held: Channel): void {
    if (held.waiting === 0) return;
    this.tell({ op: "sent", channel: number, bytes: held.waiting });
    held.waiting = 0;
  }

  /** attempt does what the browser may refuse, which shuts the channel. */
  private attempt(number: number, what: () => void): void {
    try {
      what();
    } catch {
      this.channels.get(number)?.channel.close();
      this.channels.delete(number);
      this.tell({ op: "shut", channel: number });
    }
  }

  private watch(): void {
    clearTimeout(this.interrupted);
    switch (this.connection.connectionState) {
      case "failed":
        return this.end(`nobody answers over UDP, or with another certificate than ${this.naming}`);
      case "closed":
        return this.end("the browser closed the connection");
      case "disconnected":
        this.interrupted = setTimeout(() => this.end("the connection was interrupted"), interruption) as unknown as number;
    }
  }

  private tell(what: RTCTell, transfer: Transferable[] = []): void {
    if (!this.ended) this.port.postMessage(what, transfer);
  }

  /** end closes the connection; why is for people, "" if nobody asks. */
  end(why: string): void {
    if (this.ended) return;
    clearTimeout(this.interrupted);
    if (why !== "") this.tell({ op: "ended", why });
    this.ended = true;
    this.port.close();
    this.connection.close();
    this.gone();
  }
}

/** readOffer finds this side's ICE password and certificate in a description that the browser made. */
export function readOffer(sdp: string): { password: string; fingerprint: Uint8Array } {
  const password = /^a=ice-pwd:(\S+)/m.exec(sdp)?.[1];
  const fingerprint = /^a=fingerprint:sha-256 ([\da-f:]+)/im.exec(sdp)?.[1];
  if (!password || !fingerprint) throw new Error("the browser's offer lacks a password or a SHA-256 fingerprint");
  return { password, fingerprint: Uint8Array.from(fingerprint.split(":"), (byte) => Number.parseInt(byte, 16)) };
}

/** gathered waits until a browser knows where it can be reached, but not for long. */
async function gathered(connection: RTCPeerConnection): Promise<void> {
  const late = Date.now() + gathering;
  while (connection.iceGatheringState !== "complete" && Date.now() < late) {
    await new Promise((resolve) => {
      connection.addEventListener("icegatheringstatechange", resolve, { once: true });
      setTimeout(resolve, late - Date.now());
    });
  }
}

/** readDescription finds what another tab has to know in a description that the browser made. */
export function readDescription(sdp: string): Description {
  const user = /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1];
  if (!user) throw new Error("the browser's offer lacks a user name");
  const found = Array.from(sdp.matchAll(/^a=candidate:\S+ 1 udp (\d+) (\S+) (\d+) typ (host|srflx)/gim), ([, priority, host, port, kind]) => ({
    place: { host: host ?? "", port: Number(port), priority: Number(priority) },
    kind: kind?.toLowerCase(),
  }));
  // Where nodes saw this browser's packets come from, then its own addresses, of which there may be many.
  const places = ["srflx", "host"].flatMap((kind) => found.filter((f) => f.kind === kind).map((f) => f.place));
  return { ...readOffer(sdp), user, places: places.slice(0, maxPlaces) };
}

/** described is a description for the browser, made of what another tab said and nothing else. */
export function described(theirs: Description, setup: "actpass" | "active"): string {
  const lines = [
    "v=0",
    "o=- 1 1 IN IP4 0.0.0.0",
    "s=-",
    "t=0 0",
    "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
    "c=IN IP4 0.0.0.0",
    "a=mid:0",
    `a=ice-ufrag:${theirs.user}`,
    `a=ice-pwd:${theirs.password}`,
    `a=fingerprint:sha-256 ${hex(theirs.fingerprint)}`,
    `a=setup:${setup}`,
    "a=sctp-port:5000",
    "a=max-message-size:16384",
    ...theirs.places.map(({ host, port, priority }, i) => `a=candidate:${i + 1} 1 udp ${priority} ${host} ${port} typ host`),
    "a=end-of-candidates",
    "",
  ];
  return lines.join("\r\n");
}

function hex(fingerprint: Uint8Array): string {
  return Array.from(fingerprint, (byte) => byte.toString(16).padStart(2, "0").toUpperCase()).join(":");
}

/** answer is what the node would say, if there were a way to ask it. */
export function answer(host: string, port: string, fingerprint: Uint8Array, password: string): string {
  const version = host.includes(":") ? "IP6" : "IP4";
  const name = `libp2p+webrtc+v2/${password}`;
  const lines = [
    "v=0",
    `o=- 0 0 IN ${version} ${host}`,
    "s=-",
    "t=0 0",
    "a=ice-lite",
    `m=application ${port} UDP/DTLS/SCTP webrtc-datachannel`,
    `c=IN ${version} ${host}`,
    "a=mid:0",
    "a=ice-options:ice2",
    `a=ice-ufrag:${name}`,
    `a=ice-pwd:${name}`,
    `a=fingerprint:sha-256 ${hex(fingerprint)}`,
    "a=setup:passive",
    "a=sctp-port:5000",
    "a=max-message-size:16384",
    `a=candidate:1 1 UDP 1 ${host} ${port} typ host`,
    "a=end-of-candidates",
    "",
  ];
  return lines.join("\r\n");
}
