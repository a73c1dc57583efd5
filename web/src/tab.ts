// The page's end of the network worker: it loads programs, then runs the tab, whose methods are called and events heard.

import type { Assets } from "./load.ts";
import { Pool } from "./pool.ts";
import { Links } from "./rtc.ts";
import { moduleOf, type Program } from "./programs.ts";
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

/** A network worker that has loaded the tab's program, and does not run it. */
export interface Loaded {
  worker: Worker;
  program: WebAssembly.Module;
  /** What computes worlds, by the names of modules, as far as it is there. */
  prepared: Map<string, Program>;
}

/** Loader has a network worker fetch programs. */
export class Loader {
  /** Resolves when the tab's program is there. */
  readonly loaded: Promise<Loaded>;
  private readonly worker: Worker;

  /** progress receives the fraction of the tab's program that is here, 0 to 1. */
  constructor(assets: Assets, progress: (fraction: number) => void) {
    const worker = new Worker(assets.network, { name: "network" });
    const absolute = (name: string): string => new URL(name, document.baseURI).href; // the worker's own address is another one
    const programs = Object.fromEntries(
      Object.entries(assets.programs).map(([name, files]) => [name, { compute: absolute(files.compute), worlds: absolute(files.worlds) }]),
    );
    this.worker = worker;
    this.post({ op: "load", tab: absolute(assets.tab), programs, kept: !!navigator.serviceWorker?.controller });
    const prepared = new Map<string, Program>();
    this.loaded = new Promise((resolve, reject) => {
      worker.onerror = (event) => reject(new Error(event.message));
      worker.onmessage = ({ data }: MessageEvent<Tell>) => {
        if (data.op === "loading") progress(data.loaded);
        if (data.op === "not loaded") reject(new Error(data.error));
        if (data.op === "prepared") prepared.set(data.program.name, data.program);
        if (data.op === "loaded") resolve({ worker, program: data.tab, prepared });
      };
    });
  }

  /** prepare has it fetch what computes an environment, too. */
  prepare(env: string): void {
    this.post({ op: "prepare", env });
  }

  private post(ask: Ask): void {
    this.worker.postMessage(ask);
  }
}

/** RemoteTab is a tab whose program runs in a separate worker. */
export class RemoteTab {
  private readonly worker: Worker;
  private readonly links = new Links();
  private readonly pool: Pool;
  private readonly prepared: Map<string, Program>;
  private readonly waiting = new Map<number, Waiting>();
  private serial = 0;
  private crash: Crash | null = null;

  /** Starts the program; script is that of the workers that compute. crashed is called at most once, and is the last call. */
  constructor(
    { worker, prepared }: Loaded,
    script: string,
    config: TabConfig,
    private readonly events: TabEvents,
    private readonly crashed: (crash: Crash) => void,
  ) {
    this.worker = worker;
    this.prepared = prepared;
    this.pool = new Pool(script, (env) => this.program(env), (ask) => this.post(ask));
    this.worker.onmessage = ({ data, ports }: MessageEvent<Tell>) => this.hear(data, ports);
    this.worker.onerror = (event) => this.die(new Crash(event.message, ""));
    this.post({ op: "start", config });
  }

  /** Calls a method of the tab. */
  call<K extends keyof Tab>(name: K, ...args: Parameters<Tab[K]>): Promise<Given<K>> {
    return this.ask((id) => ({ op: "call", id, name, args }));
  }

  /** Returns what computes an environment. */
  program(env: string): Promise<Program> {
    const program = this.prepared.get(moduleOf(env));
    if (program) return Promise.resolve(program);
    return this.ask((id) => ({ op: "program", id, env }));
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

  /** ask asks what is answered by its id. */
  private ask<T>(make: (id: number) => Ask): Promise<T> {
    if (this.crash) return Promise.reject(this.crash);
    const id = this.serial++;
    this.post(make(id));
    return new Promise((resolve, reject) => this.waiting.set(id, { resolve: (value) => resolve(value as T), reject }));
  }

  private post(ask: Ask): void {
    this.worker.postMessage(ask);
  }

  private hear(told: Tell, ports: readonly MessagePort[]): void {
    switch (told.op) {
      case "prepared":
        return void this.prepared.set(told.program.name, told.program);
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
        return ports.forEach((port) => this.pool.add(told.id, told.env, port));
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
