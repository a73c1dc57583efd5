// The script of the network worker: fetches and compiles programs and runs the tab's, all away from the page's thread,
// and passes calls and events between the two.

import { fetchProgram } from "./load.ts";
import { message } from "./message.ts";
import { GoExit, runGo } from "./go.ts";
import { Programs } from "./programs.ts";
import type { Order, Reply } from "./types/compute";
import type { Ask, Call, PoolWorker, Tab, Tell } from "./types/tab";

interface Port {
  postMessage(told: Tell, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<Ask>) => void) | null;
}

const port = self as unknown as Port;
let booted: Promise<{ ended: Promise<never> }> | null = null; // the tab's program, which waits to be started
let programs = new Programs({}, false);
let tab: Promise<Tab> = Promise.reject(new Error("the network worker was asked something before it was started"));
tab.catch(() => undefined);

port.onmessage = ({ data }) => {
  if (data.op === "load") return void load(data);
  if (data.op === "prepare") return void prepare(data.env);
  if (data.op === "call") return void answer(data);
  if (data.op === "program") return void give(data.id, () => programs.of(data.env));
  if (data.op === "check") return void check(data).catch(die);
  if (data.op === "worker failed") return pool.get(data.id)?.onerror?.({ message: data.error });
  tab = start(data);
  tab.catch(die);
};

async function load(ask: Extract<Ask, { op: "load" }>): Promise<void> {
  programs = new Programs(ask.programs, ask.kept);
  try {
    const own = await fetchProgram(ask.tab, ask.kept, (loaded) => port.postMessage({ op: "loading", loaded }));
    booted = runGo(own);
    booted.catch(() => undefined); // start says so
    port.postMessage({ op: "loaded", tab: own });
  } catch (err) {
    port.postMessage({ op: "not loaded", error: message(err) });
  }
}

/**
 * prepare gives the page what computes an environment as soon as it is there: later this thread may be busy with the tab's
 * program, and workers would wait for it. Where that fails, who needs it tries again.
 */
async function prepare(env: string): Promise<void> {
  const program = await programs.of(env).catch(() => null);
  if (program) port.postMessage({ op: "prepared", program });
}

async function start({ config }: Extract<Ask, { op: "start" }>): Promise<Tab> {
  if (!booted) throw new Error("the network worker was started before its program was there");
  if (config.rtc) globalThis.openRTC = openRTC;
  const { ended } = await booted;
  ended.catch(die);
  if (!globalThis.evoswarm) throw new Error("the tab's program did not start");
  return globalThis.evoswarm.start({
    ...config,
    onPhase: (phase) => port.postMessage({ op: "phase", phase }),
    onWays: (ways) => port.postMessage({ op: "ways", ways }),
    onStatus: (status) => port.postMessage({ op: "status", status }),
    onError: (trouble) => port.postMessage({ op: "trouble", trouble }),
    onEngine: (engine) => port.postMessage({ op: "engine", engine }),
    openWorker: (env) => new Borrowed(env),
  });
}

/** check computes a log again in this worker, which does nothing else. */
async function check({ module, log, height, head }: Extract<Ask, { op: "check" }>): Promise<void> {
  await runGo(module);
  const found = await globalThis.evoswarm!.check(log, height, head, (height, done) => port.postMessage({ op: "checking", height, done }));
  port.postMessage({ op: "checked", found });
}

/** The workers that compute for this one, by their numbers. */
const pool = new Map<number, Borrowed>();
let borrowed = 0;

/** A worker that the page started, and the port to it (pool.ts). */
class Borrowed implements PoolWorker {
  onmessage: PoolWorker["onmessage"] = null;
  onerror: PoolWorker["onerror"] = null;
  private readonly id = borrowed++;
  private readonly line: MessagePort;

  constructor(env: string) {
    const { port1, port2 } = new MessageChannel();
    this.line = port1;
    this.line.onmessage = (event: MessageEvent<Reply>) => this.onmessage?.(event);
    pool.set(this.id, this);
    port.postMessage({ op: "open worker", id: this.id, env }, [port2]);
  }

  postMessage(order: Order): void {
    this.line.postMessage(order);
  }

  terminate(): void {
    pool.delete(this.id);
    this.line.close();
    port.postMessage({ op: "end worker", id: this.id });
  }
}

/** openRTC has the page hold one more connection, and returns the port over which it is used. */
function openRTC(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port.postMessage({ op: "rtc" }, [port2]);
  return port1;
}

function answer({ id, name, args }: Call): Promise<void> {
  return give(id, async () => {
    const method = (await tab)[name] as (...args: unknown[]) => unknown;
    return method(...args);
  });
}

/** give answers the page with a value, or says why there is none. */
async function give(id: number, make: () => Promise<unknown>): Promise<void> {
  try {
    const value = await make();
    port.postMessage({ op: "answer", id, value }, buffers(value));
  } catch (err) {
    port.postMessage({ op: "refused", id, error: message(err) });
  }
}

/** buffers lists what can be transferred instead of copied: bytes, and bytes in the fields of an object. */
function buffers(value: unknown): Transferable[] {
  if (value instanceof Uint8Array) return [value.buffer];
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  return Object.values(value).flatMap((field) => (field instanceof Uint8Array ? [field.buffer] : []));
}

function die(err: unknown): void {
  port.postMessage({ op: "crash", error: message(err), output: err instanceof GoExit ? err.output : "" });
}
