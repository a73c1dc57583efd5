// Checks the whole log in a worker of its own: everything is computed again, and compared.

import { short } from "./format.ts";
import { say } from "./lang.ts";
import { message } from "./message.ts";
import type { RemoteTab } from "./tab.ts";
import type { Ask, Checked, Status, Tell } from "./types/tab";

/** What a check tells. */
interface Course {
  /** Up to which generation it is true, and how much of the log that is, 0 to 1. */
  at(height: number, done: number): void;
  good(found: Checked): void;
  bad(error: string): void;
}

/** checkLog checks a log whose entry of a height must be head, and returns a function that gives up. */
function checkLog(script: string, module: WebAssembly.Module, log: Blob, height: number, head: string, course: Course): () => void {
  const worker = new Worker(script, { name: "check" });
  const end = (): void => worker.terminate();
  worker.onmessage = ({ data }: MessageEvent<Tell>) => {
    switch (data.op) {
      case "checking":
        return course.at(data.height, data.done);
      case "checked":
        end();
        return course.good(data.found);
      case "crash":
        end();
        return course.bad(data.error);
    }
  };
  worker.onerror = (event) => {
    end();
    course.bad(event.message);
  };
  worker.postMessage({ op: "check", module, log, height, head } satisfies Ask);
  return end;
}

/** LogCheck is the check that a person begins, and may give up. */
export class LogCheck {
  /** Ends the check that is under way. */
  private giveUp: (() => void) | null = null;
  private readonly script: string;
  private readonly show: (words: string, done: number | null) => void;

  /** script is the worker's; show gets what the page says, and how much of the log is checked, null for none. */
  constructor(script: string, show: (words: string, done: number | null) => void) {
    this.script = script;
    this.show = show;
  }

  /** toggle begins to compute the whole log again, or gives that up. */
  async toggle(tab: RemoteTab, program: WebAssembly.Module, { height, head }: Status): Promise<void> {
    if (this.giveUp) {
      this.giveUp();
      return this.end("");
    }
    const fetching = (): void => undefined;
    this.giveUp = fetching;
    this.show(say("check.fetch"), 0);
    try {
      const log = await tab.call("log");
      if (this.giveUp !== fetching) return; // it was given up meanwhile
      this.giveUp = checkLog(this.script, program, log, height, head, {
        at: (height, done) => this.show(say("check.at", { height }), done),
        good: (found) => this.end(praise(found)),
        bad: (error) => this.end(`${say("check.bad", { why: error })} ${say("check.bad-hint")}`),
      });
    } catch (err) {
      this.end(message(err));
    }
  }

  private end(words: string): void {
    this.giveUp = null;
    this.show(words, null);
  }
}

function praise(found: Checked): string {
  const peers = say("check.peers", { n: found.peers });
  const good = say("check.good", { n: found.height - found.base, peers, digest: short(found.theta) });
  return found.base > 0 ? `${good} ${say("check.base", { height: found.base })}` : good;
}
