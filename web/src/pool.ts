// The page's end of the Web Workers that compute for the network worker. The page starts them, since Firefox may never return
// from a worker's own call to start another: both then wait for the same news, and one is woken.

import type { Order } from "./types/compute";
import type { Ask } from "./types/tab";

/** Pool holds the computing workers of one network worker, which talks to each over a port of its own. */
export class Pool {
  private readonly all = new Map<number, Worker>();

  constructor(
    private readonly script: string,
    private readonly module: WebAssembly.Module,
    private readonly tell: (ask: Ask) => void,
  ) {}

  /** Starts a worker that takes its orders from the port. */
  add(id: number, port: MessagePort): void {
    const worker = new Worker(this.script);
    worker.onerror = (event) => this.tell({ op: "worker failed", id, error: event.message });
    this.all.set(id, worker);
    worker.postMessage({ op: "boot", module: this.module } satisfies Order, [port]);
  }

  end(id: number): void {
    this.all.get(id)?.terminate();
    this.all.delete(id);
  }

  /** Ends all: who they computed for is gone. */
  close(): void {
    for (const id of this.all.keys()) this.end(id);
  }
}
