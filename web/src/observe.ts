// Shows a run as the node sees it, over plain HTTP: until this tab takes part itself, and in a tab that never does, since
// another one of this browser works.

import { nodeURL } from "./load.ts";
import type { HeldOut, Status } from "./types/tab";

/** How often the node is asked. [ms] */
const period = 2000;

/** Asks the node again and again for its status, as long as wanted says so. Answers that fail are passed over. */
export async function observe(wanted: () => boolean, show: (status: Status, curve: HeldOut[]) => void): Promise<void> {
  let curve: HeldOut[] = [];
  let seen = "";
  while (wanted()) {
    try {
      const status = await fetchJSON<Status>("api/status");
      const newest = `${status.run} ${status.return_height}`;
      if (status.run && newest !== seen) {
        curve = await fetchCurve().catch(() => []); // a node that cannot tell it still tells the rest
        seen = newest;
      }
      if (status.run && wanted()) show(status, curve);
    } catch {
      // The node may be restarting; what the tab itself needs of it is reported where it asks.
    }
    await new Promise((resolve) => setTimeout(resolve, period));
  }
}

/** The node's held-out evaluations of its run, in order of height. */
export function fetchCurve(): Promise<HeldOut[]> {
  return fetchJSON<HeldOut[]>("api/curve");
}

async function fetchJSON<T>(path: string): Promise<T> {
  const response = await fetch(new URL(path, nodeURL()), { cache: "no-store" });
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}`);
  return (await response.json()) as T;
}
