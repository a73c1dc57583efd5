// The newest entries of the log as a list to scroll, newest first.

import { make, write } from "./dom.ts";
import { count, real, short } from "./format.ts";
import { say } from "./lang.ts";
import type { Entry } from "./types/tab";

/** How many entries are in the document at most. */
const rowsMax = 80;

/** How often rows are added at most: a fast run would be a blur. [ms] */
const period = 900;

/** What a row says. */
export interface Row {
  height: string;
  leader: string;
  results: string;
  best: string;
  yours: string;
}

/** rowOf says what an entry holds, for the peer self. */
export function rowOf(e: Entry, self: string): Row {
  return {
    height: count(e.height),
    leader: e.leader === self ? say("log.you") : short(e.leader),
    results: say("log.results", { n: e.total }),
    best: real(e.best),
    yours: e.mine > 0 ? say("log.yours", { n: e.mine }) : "",
  };
}

/** merge puts newer entries, in order, on a list that begins with the newest: at most limit, of one branch. */
export function merge(list: readonly Entry[], newer: readonly Entry[], limit = rowsMax): Entry[] {
  const first = newer[0];
  if (!first) return [...list];
  return [...newer.slice(-limit).reverse(), ...list.filter((e) => e.height < first.height)].slice(0, limit);
}

export class LogList {
  private entries: Entry[] = [];
  private shown: Entry[] = [];
  private self = "";
  private run = "";
  private last = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly box: HTMLElement,
    private readonly list: HTMLElement,
    private readonly more: HTMLButtonElement,
  ) {
    more.onclick = () => {
      box.scrollTop = 0;
      this.show();
    };
    box.addEventListener("scroll", () => box.scrollTop <= 4 && this.ask(), { passive: true });
    document.addEventListener("visibilitychange", () => this.ask());
  }

  /** Takes in entries of a run, in order. The list stands still for a person who has scrolled down to read. */
  add(run: string, self: string, entries: readonly Entry[]): void {
    if (run !== this.run) this.entries = [];
    this.run = run;
    this.self = self;
    this.entries = merge(this.entries, entries);
    this.ask();
  }

  /** Writes all rows again, in another language. */
  retell(): void {
    this.list.replaceChildren();
    this.shown = [];
    this.show();
  }

  private ask(): void {
    if (this.timer !== undefined || document.hidden || this.entries === this.shown) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.box.scrollTop > 4) return this.announce();
      this.show();
    }, Math.max(0, this.last + period - performance.now()));
  }

  private announce(): void {
    const top = this.shown[0]?.height ?? 0;
    const n = this.entries.filter((e) => e.height > top).length;
    this.more.hidden = n === 0;
    write(this.more, say("log.newer", { n }));
  }

  private show(): void {
    this.last = performance.now();
    this.more.hidden = true;
    const known = new Map(this.shown.map((e, i) => [e, this.list.children[i]!] as const));
    for (const [e, row] of known) if (!this.entries.includes(e)) row.remove();
    let before: Element | null = this.list.firstElementChild;
    for (const e of this.entries) {
      const row = known.get(e);
      if (row) before = row.nextElementSibling;
      else this.list.insertBefore(newRow(rowOf(e, this.self)), before);
    }
    this.shown = this.entries;
  }
}

function newRow(r: Row): HTMLElement {
  const row = make("li", r.yours === "" ? "" : "own");
  row.append(make("span", "height", r.height), make("span", "leader", r.leader), make("span", "results", r.results), make("span", "yours", r.yours), make("span", "score", r.best));
  return row;
}
