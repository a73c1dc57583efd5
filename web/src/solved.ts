// A run that is solved: says so, celebrates once, and offers what is next.

import { element, make, write } from "./dom.ts";
import { count } from "./format.ts";
import { say } from "./lang.ts";
import type { Status } from "./types/tab";

const pieces = 36;
const colors = ["accent", "second", "wait", "faint"];

export class Solved {
  private celebrated = "";

  /** Shows it, or hides it for a run that is open. own: the status is this tab's, not what the node says of itself. */
  show(status: Status, own: boolean): void {
    const panel = element("solved");
    const solved = status.solved_height > 0 && status.ended;
    panel.hidden = !solved;
    if (!solved) return;
    write(element("solved-title"), say("solved.title", { world: status.env }));
    const all = count(status.evaluations);
    const part = own && status.mine > 0 ? say("solved.yours", { n: status.mine, all }) : say("solved.nothing-yours", { all });
    write(element("solved-words"), own ? `${part} ${say("solved.watch")}` : part);
    for (const button of panel.querySelectorAll("button")) button.disabled = !own;
    if (!own || this.celebrated === status.run) return;
    this.celebrated = status.run;
    celebrate(panel);
  }
}

/** celebrate lets confetti fall once, unless the person wants no motion. */
function celebrate(panel: HTMLElement): void {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const sky = make("div", "confetti");
  sky.ariaHidden = "true";
  for (let i = 0; i < pieces; i++) {
    const piece = make("i", colors[i % colors.length]!);
    piece.style.left = `${(100 * (i + 0.5)) / pieces}%`;
    piece.style.animationDelay = `${((i * 7) % 12) / 10}s`;
    piece.style.animationDuration = `${1.6 + ((i * 5) % 7) / 5}s`;
    sky.append(piece);
  }
  panel.append(sky);
  setTimeout(() => sky.remove(), 5000);
}
