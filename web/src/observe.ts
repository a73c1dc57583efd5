// Shows a run as the node sees it, over plain HTTP: until this tab has taken it in itself, and in a tab that takes no part
// because another tab of this browser does.

import { nodeURL } from "./load.ts";
import type { HeldOut, Status } from "./types/tab";

/** How often the node is asked. [ms] */
const period = 2000;

/** How many generations the node may be ahead of a tab that has taken in the run. */
const ahead = 16;

/**
 * takenIn reports whether a tab's own status says how the run is. Of one that has just joined it says how the run began;
 * node is what the node said last, null where none answers.
 */
export function takenIn(own: Status, node: Status | null): boolean {
  if (own.behind > 0 || own.reason === "catching-up") return false;
  return node === null || node.run !== own.run || own.height + ahead >= node.height;
}

/** Polls the node for the status of a run, "" for its first, while wanted says so. Failed answers are skipped. */
export async function observe(wanted: () => boolean, run: () => string, show: (status: Status, curve: HeldOut[]) => void): Promise<void> {
  let curve: HeldOut[] = [];
  let seen = "";
  while (wanted()) {
    try {
      const status = await fetchJSON<Status>(`api/status${query(run())}`);
      const newest = `${status.run} ${status.return_height}`;
      if (status.run && newest !== seen) {
        curve = await fetchCurve(status.run).catch(() => []); // the status is worth showing without it
        seen = newest;
      }
      if (status.run && wanted()) show(status, curve);
    } catch {
      // The node may be restarting. What the tab itself needs from it is reported elsewhere.
    }
    await new Promise((resolve) => setTimeout(resolve, period));
  }
}

/** The node's held-out evaluations of a run, in order of height. */
export function fetchCurve(run: string): Promise<HeldOut[]> {
  return fetchJSON<HeldOut[]>(`api/curve${query(run)}`);
}

function query(run: string): string {
  return run === "" ? "" : `?run=${run}`;
}

async function fetchJSON<T>(path: string): Promise<T> {
  const response = await fetch(new URL(path, nodeURL()), { cache: "no-store" });
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}`);
  return (await response.json()) as T;
}
