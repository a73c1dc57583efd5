// The script of the network worker: runs the tab's Go program away from the page's thread, and passes calls and events
// between the two.

import { GoExit, runGo } from "./go.ts";
import type { Ask, Call, Tab, Tell } from "./types/tab";

interface Port {
  postMessage(told: Tell, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<Ask>) => void) | null;
}

const port = self as unknown as Port;
let tab: Promise<Tab> = Promise.reject(new Error("the network worker was asked something before it was started"));
tab.catch(() => undefined);

port.onmessage = ({ data }) => {
  if (data.op === "call") return void answer(data);
  tab = start(data);
  tab.catch(die);
};

async function start({ module, config }: Extract<Ask, { op: "start" }>): Promise<Tab> {
  const { ended } = await runGo(module);
  ended.catch(die);
  if (!globalThis.evoswarm) throw new Error("the tab's program did not start");
  return globalThis.evoswarm.start({
    ...config,
    onPhase: (phase) => port.postMessage({ op: "phase", phase }),
    onStatus: (status) => port.postMessage({ op: "status", status }),
    onError: (problem) => port.postMessage({ op: "problem", problem }),
    onEngine: (engine) => port.postMessage({ op: "engine", engine }),
  });
}

async function answer({ id, name, args }: Call): Promise<void> {
  try {
    const method = (await tab)[name] as (...args: unknown[]) => unknown;
    const value = await method(...args);
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

function message(err: unknown): string {
  return err instanceof Error ? err.message : String(err);
}
