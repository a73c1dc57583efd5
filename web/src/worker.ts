// The script of a computing Web Worker: starts the Go program it is given and passes messages to and from it.

import { message } from "./message.ts";
import { runGo } from "./go.ts";
import worlds from "#worlds/worlds.wasm";
import type { Answer, Compute, Order, Reply } from "./types/compute";

interface Port {
  postMessage(reply: Reply, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<Order>) => void) | null;
}

let port = self as unknown as Port; // or the one that comes with the program
let booted: Promise<void> = Promise.reject(new Error("the worker was given work before it was booted"));
booted.catch(() => undefined);
let dead = false;

port.onmessage = hear;

function hear({ data, ports }: MessageEvent<Order>): void {
  // Orders wait for the program in the order in which they came.
  if (data.op !== "boot") return void booted.then(() => dead || obey(data)).catch(die);
  booted = boot(data.module);
  if (!ports[0]) return;
  port = ports[0];
  port.onmessage = hear;
}

async function boot(module: WebAssembly.Module): Promise<void> {
  const { ended } = await runGo(module, worlds);
  ended.catch(die);
  port.postMessage({ op: "ready" });
}

function obey(order: Exclude<Order, { op: "boot" }>): void {
  switch (order.op) {
    case "setup":
      return port.postMessage({ op: "engine", engine: must(compute().setup(order.bytes)) });
    case "state":
      return void must(compute().state(order.bytes));
    case "task":
      return send(order.id, compute().evaluate(order.bytes));
    case "validate":
      return send(order.id, compute().validate(order.state, order.seeds));
    case "fold":
      return send(order.id, compute().fold(order.state, order.bytes));
    case "cast":
      return void must(compute().cast(order.gen, order.bytes, order.seed, order.sign));
    case "show": {
      const answer = compute().show(order.steps, order.seed);
      if (answer.error !== undefined) return port.postMessage({ op: "failed", id: order.id, error: answer.error });
      return port.postMessage({ op: "reel", id: order.id, json: answer.value });
    }
  }
}

function send(id: number, answer: Answer<Uint8Array>): void {
  if (answer.error !== undefined) return port.postMessage({ op: "failed", id, error: answer.error });
  port.postMessage({ op: "result", id, bytes: answer.value }, [answer.value.buffer]);
}

function compute(): Compute {
  return (globalThis as unknown as { evocompute: Compute }).evocompute;
}

function must<T>(answer: Answer<T>): T {
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer.value;
}

function die(err: unknown): void {
  if (dead) return;
  dead = true;
  port.postMessage({ op: "crash", error: message(err) });
}
