// The policy on the whole screen, with a line of figures; for a monitor in a classroom, or a computer that
// nobody uses.

import { element, write } from "./dom.ts";
import { count, real } from "./format.ts";
import { say } from "./lang.ts";
import type { Status } from "./types/tab";

/** After so long without a movement the pointer and the buttons go. [ms] */
const idleAfter = 3000;

export class Saver {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private lock: { release(): Promise<void> } | null = null;
  private on = false;

  constructor() {
    element("screen").onclick = () => this.enter();
    element("leave").onclick = () => this.leave();
    addEventListener("keydown", (event) => event.key === "Escape" && this.leave());
    document.addEventListener("fullscreenchange", () => !document.fullscreenElement && this.leave());
    document.addEventListener("visibilitychange", () => void this.stayAwake());
    for (const name of ["pointermove", "keydown"]) addEventListener(name, () => this.on && this.rouse(), { passive: true });
  }

  /** Fills the page, and the screen where the browser lets it: it wants a click for that. */
  enter(): void {
    if (this.on) return;
    this.on = true;
    document.body.classList.add("saver");
    element("leave").hidden = false;
    document.documentElement.requestFullscreen?.().catch(() => undefined);
    void this.stayAwake();
    this.rouse();
  }

  leave(): void {
    if (!this.on) return;
    this.on = false;
    clearTimeout(this.timer);
    document.body.classList.remove("saver", "idle");
    element("leave").hidden = true;
    write(element("saver-words"), "");
    if (document.fullscreenElement) void document.exitFullscreen();
    void this.lock?.release().catch(() => undefined);
    this.lock = null;
    element("screen").focus();
  }

  /** Shows how the run is doing, while the screen is filled. */
  show(s: Status): void {
    if (!this.on) return;
    write(element("saver-words"), say("saver.words", { world: s.env, height: s.height, return: real(s.return), rate: real(s.evals_per_s), mine: count(s.mine) }));
  }

  private rouse(): void {
    document.body.classList.remove("idle");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => document.body.classList.add("idle"), idleAfter);
  }

  /** Keeps the screen from going dark, where the browser can; it lets go when the page is hidden. */
  private async stayAwake(): Promise<void> {
    if (!this.on || document.hidden) return;
    const wake = (navigator as { wakeLock?: { request(kind: "screen"): Promise<{ release(): Promise<void> }> } }).wakeLock;
    this.lock = (await wake?.request("screen").catch(() => null)) ?? null;
  }
}
