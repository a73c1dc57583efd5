// What the volunteer sees and touches: writes the present state into the document, and reports what is pressed.

import "./page.css";
import { Curve } from "./curve.ts";
import { count, plural, real, short } from "./format.ts";
import { Lifetime } from "./lifetime.ts";
import type { Frame } from "./types/compute";
import type { Generation, HeldOut, Problem, Status } from "./types/tab";
import type { Words } from "./words.ts";

/** What the volunteer can do. */
export interface Controls {
  pause(paused: boolean): void;
  workers(n: number): void;
  play(on: boolean): void;
  log(): void;
}

export class Page {
  readonly canvas = element<HTMLCanvasElement>("world");
  private readonly plot = new Curve(element("curve"));
  private readonly lifetime = new Lifetime();
  private readonly said = new Map<string, string>();

  constructor(
    controls: Controls,
    cores: number,
  ) {
    const pause = element<HTMLButtonElement>("pause");
    pause.onclick = () => controls.pause(pause.ariaPressed !== "true");
    const play = element<HTMLButtonElement>("play");
    play.onclick = () => controls.play(play.ariaPressed !== "true");
    const workers = element<HTMLInputElement>("workers");
    workers.max = String(cores);
    workers.oninput = () => controls.workers(Number(workers.value));
    element("log").onclick = () => controls.log();
    element("run").onclick = (event) => copy((event.currentTarget as HTMLElement).title, "The run id");
    element("join").onclick = (event) => copy((event.currentTarget as HTMLElement).title, "The command");
    for (const button of document.querySelectorAll<HTMLElement>("[data-reload]")) button.onclick = () => location.reload();
  }

  /** Says what is going on. */
  words(w: Words): void {
    this.write("headline", w.headline);
    this.write("detail", w.detail);
    document.querySelector<HTMLElement>(".state")!.dataset["tone"] = w.tone;
    document.title = `${w.headline} · evoswarm`;
  }

  /** Shows what the volunteer has chosen and, once known, the kernel and the engine in use. */
  choices(paused: boolean, workers: number, cores: number, kernel?: string, engine?: string): void {
    const pause = element<HTMLButtonElement>("pause");
    pause.ariaPressed = String(paused);
    pause.textContent = paused ? "Continue" : "Pause";
    element<HTMLInputElement>("workers").value = String(workers);
    this.write("workers-value", String(workers));
    const note = workers >= cores && cores > 1 ? `All ${cores} cores: other programs may slow down.` : `Of ${plural(cores, "core")}.`;
    const computing = [kernel && `Kernel: ${kernel}.`, engine && `Engine: ${engine}.`];
    this.write("workers-note", [note, ...computing].filter((text) => text).join(" "));
  }

  /** Shows the swarm and, if the status is this tab's own, this computer's part. */
  status(s: Status, curve: readonly HeldOut[], earlier: readonly Generation[], own: boolean): void {
    const current = s.behind === 0 && s.reason !== "catching-up"; // until then a rate would measure reading, not work
    this.write("height", count(Math.max(s.height, s.ahead)));
    this.write("return", s.return === null || !current ? "–" : s.threshold === null ? real(s.return) : `${real(s.return)} (goal ${real(s.threshold)})`);
    this.write("leader", own && s.leads ? "this tab" : s.leader ? short(s.leader) : "none");
    this.write("peers", count(s.peers));
    this.write("evaluations", current ? count(s.evaluations) : "–");
    this.write("rate", current ? real(s.evals_per_s) : "–");
    if (own) this.part(s);
    const run = element<HTMLButtonElement>("run");
    run.disabled = s.run === "";
    run.title = s.run;
    run.ariaLabel = `Copy the run id ${s.run}`;
    this.write("run", s.run === "" ? "–" : short(s.run));
    element<HTMLButtonElement>("log").disabled = !own || s.run === "";
    this.curve(s, curve, earlier);
  }

  /** Draws the learning curve as far as it is known. */
  curve(s: Status, curve: readonly HeldOut[], earlier: readonly Generation[]): void {
    const words = this.plot.update(s, curve, earlier);
    if (words !== null) this.write("curve-words", words);
  }

  /** Shows what this computer has done. */
  private part(s: Status): void {
    this.write("mine", count(s.mine));
    this.write("my-rate", s.reason !== "catching-up" ? real(s.mine_evals_per_s) : "–");
    this.write("my-steps", count(s.mine_steps));
    this.write("my-share", s.evaluations === 0 || s.behind > 0 ? "–" : `${real((100 * s.mine) / s.evaluations)} %`);
    const settled = s.own.computed - s.own.waiting;
    this.write("my-logged", settled === 0 ? "–" : `${real((100 * s.own.logged) / settled)} %`);
    this.write("my-lifetime", count(this.lifetime.add(s)));
  }

  /** Shows the command that lends another computer. */
  join(command: string): void {
    const button = element("join");
    button.title = command;
    button.ariaLabel = `Copy the command ${command}`;
    button.querySelector("code")!.textContent = command;
  }

  /** Says why nothing is in view yet. */
  still(why: string): void {
    this.write("caption", why);
    element("play").hidden = true;
  }

  /** Offers to pause, where there is something to pause. */
  pausable(on: boolean): void {
    element("pause").hidden = !on;
  }

  /** Says what is in view. */
  caption(f: Frame): void {
    element("play").hidden = false;
    this.write("caption", `Policy of generation ${count(f.gen)} · return ${real(f.return)}${f.over ? ", the end" : ""}`);
  }

  /** Shows whether the drawing runs. */
  playing(on: boolean): void {
    const play = element<HTMLButtonElement>("play");
    play.ariaPressed = String(on);
    play.textContent = on ? "Stop the drawing" : "Draw it live";
  }

  /** Shows a problem; a fatal one offers to reload instead of going away. */
  problem(p: Problem): void {
    this.write("problem-error", p.error);
    this.write("problem-hint", p.hint);
    const action = element<HTMLButtonElement>("problem-action");
    action.textContent = p.fatal ? "Reload" : "Dismiss";
    action.onclick = () => (p.fatal ? location.reload() : this.solved());
    element("problem").hidden = false;
  }

  /** Hides the problem. */
  solved(): void {
    element("problem").hidden = true;
  }

  /** Offers the newer page that the node has. */
  stale(): void {
    element("stale").hidden = false;
  }

  /** write changes the document only where the text differs, so that screen readers announce it once. */
  private write(id: string, text: string): void {
    if (this.said.get(id) === text) return;
    this.said.set(id, text);
    element(id).textContent = text;
  }
}

function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found as T;
}

/** copy puts text on the clipboard, or shows it for copying where the browser forbids that. */
function copy(text: string, what: string): void {
  const done = (): void => void (element("copied").textContent = `${what} is on the clipboard.`);
  if (navigator.clipboard) return void navigator.clipboard.writeText(text).then(done, () => prompt(what, text));
  prompt(what, text);
}
