// What happens in the run, entry by entry: the cloud of candidates, the log, the mesh, and what of it is this tab's.

import { Cloud } from "./cloud.ts";
import { element, write } from "./dom.ts";
import { say } from "./lang.ts";
import { LogList } from "./loglist.ts";
import { MeshView } from "./meshview.ts";
import { Moves } from "./moves.ts";
import type { RemoteTab } from "./tab.ts";
import type { Move, Status } from "./types/tab";

/** How often the tab is asked at most. [ms] */
const period = 1000;

export class Live {
  private readonly cloud = new Cloud(element<HTMLCanvasElement>("cloud"), (words) => write(element("cloud-words"), words));
  private readonly log = new LogList(element("entries-box"), element("entries"), element<HTMLButtonElement>("entries-newer"));
  private readonly mesh = new MeshView(element("mesh"));
  private readonly moves: Moves;
  private run = "";
  private height = 0;
  private reorgs = 0;
  private last = -period;
  private asking = false;

  constructor(watch: (move: Move) => void) {
    this.moves = new Moves(element("moves"), element("moves-empty"), watch);
  }

  /** Shows what is new since the last time; status is this tab's own. */
  async look(tab: Pick<RemoteTab, "call">, status: Status): Promise<void> {
    if (this.asking || document.hidden || performance.now() - this.last < period) return;
    this.asking = true;
    this.last = performance.now();
    try {
      const neighbors = await tab.call("neighbors");
      this.mesh.show({ self: status.self, leader: status.leader ?? "", neighbors, peers: status.peers });
      if (status.behind > 0 || status.reason === "catching-up") return;
      if (status.light) write(element("cloud-words"), say("scatter.light"));
      await this.read(tab, status);
    } catch {
      // The tab's program died, which is reported elsewhere.
    } finally {
      this.asking = false;
    }
  }

  /** Writes all again, in another language. */
  retell(): void {
    this.log.retell();
    this.moves.retell();
    this.mesh.retell();
  }

  private async read(tab: Pick<RemoteTab, "call">, status: Status): Promise<void> {
    if (status.run !== this.run) [this.run, this.height, this.reorgs] = [status.run, 0, status.reorgs];
    if (status.reorgs !== this.reorgs) {
      this.reorgs = status.reorgs;
      this.height = Math.min(this.height, status.reorg?.height ?? 0);
    }
    if (status.height <= this.height) return;
    const entries = await tab.call("recent", this.height);
    this.height = Math.max(this.height, entries.at(-1)?.height ?? 0);
    this.cloud.add(status.run, entries, status.threshold);
    this.log.add(status.run, status.self, entries);
    this.moves.add(status.run, entries);
  }
}
