// The page's end of the Web Workers that compute for the network worker. The page starts them, since Firefox may never return
// from a worker's own call to start another: both then wait for the same news, and one is woken.

import { message } from "./message.ts";
import type { Program } from "./programs.ts";
import type { Order } from "./types/compute";
import type { Ask } from "./types/tab";

/** Pool holds the computing workers of one network worker, which talks to each over a port of its own. */
export class Pool {
  private readonly all = new Map<number, Worker>();

  constructor(
    private readonly script: string,
    private readonly program: (env: string) => Promise<Program>,
    private readonly tell: (ask: Ask) => void,
  ) {}

  /** Starts a worker that takes its orders from the port, and computes an environment. */
  add(id: number, env: string, port: MessagePort): void {
    const worker = new Worker(this.script);
    const failed = (error: string): void => this.tell({ op: "worker failed", id, error });
    worker.onerror = (event) => failed(event.message);
    this.all.set(id, worker);
    worker.postMessage({ op: "port" } satisfies Order, [port]);
    this.program(env).then(
      (program) => worker.postMessage({ op: "boot", program } satisfies Order),
      (err: unknown) => failed(message(err)),
    );
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
