// The script of a computing Web Worker: starts the Go program it is given and passes messages to and from it.

import { message } from "./message.ts";
import { runGo } from "./go.ts";
import { moduleNames, type Program } from "./programs.ts";
import type { Answer, Compute, Order, Reply } from "./types/compute";

interface Port {
  postMessage(reply: Reply, transfer?: Transferable[]): void;
  onmessage: ((event: MessageEvent<Order>) => void) | null;
}

let port = self as unknown as Port; // or the one that is told of
let start!: (booted: Promise<void>) => void;
/** Orders wait for the program in the order in which they came. */
const booted = new Promise<void>((resolve) => (start = resolve));
let dead = false;

port.onmessage = hear;

function hear({ data, ports }: MessageEvent<Order>): void {
  if (data.op === "boot") return start(boot(data.program));
  if (data.op !== "port") return void booted.then(() => dead || obey(data)).catch(die);
  port = ports[0]!;
  port.onmessage = hear;
}

async function boot({ name, compute, worlds }: Program): Promise<void> {
  const { ended } = await runGo(compute, moduleNames.map((n) => (n === name ? worlds : undefined)));
  ended.catch(die);
  port.postMessage({ op: "ready" });
}

function obey(order: Exclude<Order, { op: "boot" | "port" }>): void {
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
