// Which of this tab's results moved the model, with a button to watch each of these candidates.

import { make } from "./dom.ts";
import { real } from "./format.ts";
import { say } from "./lang.ts";
import type { Entry, Move } from "./types/tab";

/** How many are listed at most. */
const movesMax = 4;

/** How often the list changes at most: a button must not run away. [ms] */
const period = 3000;

/** newest keeps the newest moves, one for each generation, newest first; entries are in order. */
export function newest(moves: readonly Move[], entries: readonly Entry[], limit = movesMax): Move[] {
  const first = entries[0];
  if (!first) return [...moves];
  const fresh = entries.flatMap((e) => (e.move ? [e.move] : [])).reverse();
  return [...fresh, ...moves.filter((m) => m.height < first.height)].slice(0, limit);
}

/** describe says how far a candidate moved the model. */
export function describe(m: Move): string {
  const place = m.rank === 1 ? say("moves.first", { of: m.of, score: real(m.score) }) : say("moves.rank", { rank: m.rank, of: m.of, score: real(m.score) });
  return m.share === null ? place : `${place} · ${say("moves.share", { share: real(100 * m.share) })}`;
}

export class Moves {
  private moves: Move[] = [];
  private shown: Move[] = [];
  private run = "";
  private last = -period;

  constructor(
    private readonly list: HTMLElement,
    private readonly empty: HTMLElement,
    private readonly watch: (move: Move) => void,
  ) {}

  /** Takes in entries of a run, in order. The list stands still while somebody is about to press a button in it. */
  add(run: string, entries: readonly Entry[]): void {
    if (run !== this.run) this.moves = [];
    this.run = run;
    this.moves = newest(this.moves, entries);
    const busy = this.list.matches(":hover") || this.list.contains(document.activeElement);
    if (busy || performance.now() - this.last < period || document.hidden) return;
    this.show();
  }

  /** Writes all again, in another language. */
  retell(): void {
    this.shown = [];
    this.show();
  }

  private show(): void {
    const same = this.moves.length === this.shown.length && this.moves.every((m, i) => m.id === this.shown[i]!.id);
    if (same) return;
    this.last = performance.now();
    this.shown = this.moves;
    this.empty.hidden = this.moves.length > 0;
    this.list.replaceChildren(...this.moves.map((m) => this.item(m)));
  }

  private item(m: Move): HTMLElement {
    const text = make("div");
    text.append(make("strong", "", say("moves.title", { height: m.height })), make("p", "small", describe(m)));
    const button = make("button", "", say("moves.show")) as HTMLButtonElement;
    button.type = "button";
    button.ariaLabel = say("moves.show-label", { height: m.height });
    button.onclick = () => this.watch(m);
    const item = make("li");
    item.append(text, button);
    return item;
  }
}
