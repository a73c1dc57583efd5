// The page's end of the network worker: calls of the tab's methods, and its events.

import { Pool } from "./pool.ts";
import { Links } from "./rtc.ts";
import type { Ask, Tab, TabConfig, TabEvents, Tell } from "./types/tab";

/** The answer of a method of the tab. */
type Given<K extends keyof Tab> = Awaited<ReturnType<Tab[K]>>;

interface Waiting {
  resolve(value: unknown): void;
  reject(err: Error): void;
}

/** The network worker died: its program ended, which it never does on purpose. */
export class Crash extends Error {
  constructor(
    error: string,
    /** What the program wrote before it died. */
    readonly output: string,
  ) {
    super(error);
  }
}

/** RemoteTab is a tab whose program runs in a separate worker. */
export class RemoteTab {
  private readonly worker: Worker;
  private readonly links = new Links();
  private readonly pool: Pool;
  private readonly waiting = new Map<number, Waiting>();
  private serial = 0;
  private crash: Crash | null = null;

  /** Starts the program. crashed is called at most once, and is the last call. */
  constructor(
    assets: { network: string; worker: string },
    programs: { tab: WebAssembly.Module; compute: WebAssembly.Module },
    config: TabConfig,
    private readonly events: TabEvents,
    private readonly crashed: (crash: Crash) => void,
  ) {
    this.worker = new Worker(assets.network, { name: "network" });
    this.pool = new Pool(assets.worker, programs.compute, (ask) => this.post(ask));
    this.worker.onmessage = ({ data, ports }: MessageEvent<Tell>) => this.hear(data, ports);
    this.worker.onerror = (event) => this.die(new Crash(event.message, ""));
    this.post({ op: "start", module: programs.tab, config });
  }

  /** Calls a method of the tab. */
  call<K extends keyof Tab>(name: K, ...args: Parameters<Tab[K]>): Promise<Given<K>> {
    if (this.crash) return Promise.reject(this.crash);
    const id = this.serial++;
    this.post({ op: "call", id, name, args });
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve: (value) => resolve(value as Given<K>), reject }));
  }

  /** Calls a method and ignores its answer. */
  order<K extends keyof Tab>(name: K, ...args: Parameters<Tab[K]>): void {
    this.call(name, ...args).catch(() => undefined); // a crash is reported by crashed
  }

  /** Ends the program at once, and with it its connections and workers. */
  terminate(): void {
    this.worker.terminate();
    this.links.close();
    this.pool.close();
  }

  private post(ask: Ask): void {
    this.worker.postMessage(ask);
  }

  private hear(told: Tell, ports: readonly MessagePort[]): void {
    switch (told.op) {
      case "answer":
        return this.take(told.id)?.resolve(told.value);
      case "refused":
        return this.take(told.id)?.reject(new Error(told.error));
      case "phase":
        return this.events.onPhase(told.phase);
      case "ways":
        return this.events.onWays(told.ways);
      case "rtc":
        return ports.forEach((port) => this.links.add(port));
      case "open worker":
        return ports.forEach((port) => this.pool.add(told.id, port));
      case "end worker":
        return this.pool.end(told.id);
      case "status":
        return this.events.onStatus(told.status);
      case "trouble":
        return this.events.onError(told.trouble);
      case "engine":
        return this.events.onEngine(told.engine);
      case "crash":
        return this.die(new Crash(told.error, told.output));
    }
  }

  private take(id: number): Waiting | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    return waiting;
  }

  private die(crash: Crash): void {
    if (this.crash) return;
    this.crash = crash;
    this.terminate();
    for (const { reject } of this.waiting.values()) reject(crash);
    this.waiting.clear();
    this.crashed(crash);
  }
}
