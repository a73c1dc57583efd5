// What this browser computed in all its visits and was logged, also what a heavier branch replaced later.

import type { Status } from "./types/tab";

const key = "evoswarm-lifetime";

export class Lifetime {
  /** Logged before what `last` counts. */
  private before: number;
  /** Logged since this tab took part. */
  private last = 0;
  private computed = 0;
  private run = "";

  constructor() {
    this.before = load();
  }

  /** Takes in a status of this tab and returns the sum. */
  add(s: Pick<Status, "run" | "own">): number {
    if (s.run !== this.run || s.own.computed < this.computed) { // it began to count again
      this.before += this.last;
      this.last = 0;
      this.run = s.run;
    }
    this.computed = s.own.computed;
    const logged = s.own.logged + s.own.replaced;
    if (logged > this.last) { // what was replaced is in neither for a while
      this.last = logged;
      save(this.before + this.last);
    }
    return this.before + this.last;
  }
}

function load(): number {
  try {
    const kept = Number(localStorage.getItem(key));
    return Number.isSafeInteger(kept) && kept > 0 ? kept : 0;
  } catch {
    return 0; // storage is forbidden: this visit is counted
  }
}

function save(evaluations: number): void {
  try {
    localStorage.setItem(key, String(evaluations));
  } catch {
    // The count then lasts as long as the page.
  }
}
