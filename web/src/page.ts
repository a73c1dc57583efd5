// What the volunteer sees and touches: writes the present state into the document, and reports what is pressed.

import "./page.css";
import { Curve } from "./curve.ts";
import { element } from "./dom.ts";
import { count, real, short } from "./format.ts";
import { say } from "./lang.ts";
import { Lifetime } from "./lifetime.ts";
import { takenIn } from "./observe.ts";
import type { Addresses } from "./load.ts";
import type { Frame } from "./types/compute";
import type { Generation, HeldOut, Problem, Status } from "./types/tab";
import { clock, minuteOf, type Asked } from "./manners.ts";
import type { Prefs } from "./prefs.ts";
import { drawCode, frame, onlyHere } from "./share.ts";
import { Solved } from "./solved.ts";
import { best, type Words } from "./words.ts";

/** What the volunteer can do. */
export interface Controls {
  pause(paused: boolean): void;
  workers(n: number): void;
  /** When to help. */
  manners(asked: Partial<Asked>): void;
  play(on: boolean): void;
  log(): void;
  policy(): void;
  certificate(): void;
  check(): void;
  /** Films an episode, or gives that up. */
  film(): void;
  /** Shows the policy again after a candidate. */
  back(): void;
  /** The link that leads others here. */
  invitation(): string;
}

/** How often the caption follows what is drawn: nobody reads fifty numbers in a second, and each has the page laid out again. [ms] */
const captionPeriod = 500;

export class Page {
  readonly canvas = element<HTMLCanvasElement>("world");
  private readonly plot = new Curve(element("curve"));
  private readonly lifetime = new Lifetime();
  private readonly solution = new Solved();
  private readonly said = new Map<string, string>();
  private best = 0;
  /** In view. */
  private frame: Frame | null = null;
  private captioned = -captionPeriod;

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
    for (const button of document.querySelectorAll<HTMLElement>("[data-certificate]")) button.onclick = () => controls.certificate();
    for (const name of ["plugged", "thrifty"] as const) {
      const box = element<HTMLInputElement>(name);
      box.onchange = () => controls.manners({ [name]: box.checked });
    }
    const [hours, from, to] = ["hours", "hours-from", "hours-to"].map((id) => element<HTMLInputElement>(id)) as [HTMLInputElement, HTMLInputElement, HTMLInputElement];
    hours.onchange = from.onchange = to.onchange = () => {
      const span = [minuteOf(from.value), minuteOf(to.value)];
      if (span[0] !== null && span[1] !== null) controls.manners({ hours: hours.checked ? (span as [number, number]) : null });
    };
    element("invite").onclick = () => this.invite(controls.invitation());
    element("invitation-copy").onclick = () => copy(element<HTMLInputElement>("invitation-link").value, say("copy.link"));
    element("frame-copy").onclick = () => copy(element<HTMLInputElement>("invitation-frame").value, say("copy.frame"));
    element("away-close").onclick = () => (element("away").hidden = true);
    element("log").onclick = () => controls.log();
    element("check").onclick = () => controls.check();
    element("film").onclick = () => controls.film();
    element("back").onclick = () => controls.back();
    for (const button of document.querySelectorAll<HTMLElement>("[data-policy]")) button.onclick = () => controls.policy();
    element("run").onclick = (event) => copy((event.currentTarget as HTMLElement).title, say("copy.run"));
    element("join").onclick = (event) => copy((event.currentTarget as HTMLElement).title, say("copy.command"));
    element("thrifty-row").hidden = !("connection" in navigator);
    for (const button of document.querySelectorAll<HTMLElement>("[data-reload]")) button.onclick = () => location.reload();
  }

  /** Says what is going on. */
  words(w: Words): void {
    this.write("headline", w.headline);
    this.write("detail", w.detail);
    const state = document.querySelector<HTMLElement>(".state")!;
    if (state.dataset["tone"] !== w.tone) state.dataset["tone"] = w.tone;
    const title = `${w.headline} · evoswarm`;
    if (document.title !== title) document.title = title;
  }

  /** Shows what the volunteer has chosen and, once known, the kernel and the engine in use. */
  choices(prefs: Prefs, cores: number, kernel?: string, engine?: string): void {
    const { paused, workers } = prefs;
    const pause = element<HTMLButtonElement>("pause");
    pause.ariaPressed = String(paused);
    pause.textContent = say(paused ? "button.continue" : "button.pause");
    element<HTMLInputElement>("workers").value = String(workers);
    this.write("workers-value", String(workers));
    element<HTMLInputElement>("plugged").checked = prefs.plugged;
    element<HTMLInputElement>("thrifty").checked = prefs.thrifty;
    element<HTMLInputElement>("hours").checked = prefs.hours !== null;
    if (prefs.hours) ["hours-from", "hours-to"].forEach((id, i) => (element<HTMLInputElement>(id).value = clock(prefs.hours![i]!)));
    const note = say(workers >= cores && cores > 1 ? "workers.all" : "workers.of", { n: cores });
    const computing = [kernel && say("workers.kernel", { name: kernel }), engine && say("workers.engine", { name: engine })];
    this.write("workers-note", [note, ...computing].filter((text) => text).join(" "));
  }

  /** Shows over what the tab is connected. */
  ways(words: string): void {
    this.write("ways", words);
  }

  /**
   * Shows the swarm and, if the status is this tab's own, this computer's part. node is what the node said last, null for
   * nothing: the swarm's figures are from there until the tab has taken in the run.
   */
  status(s: Status, node: Status | null, curve: readonly HeldOut[], earlier: readonly Generation[], own: boolean): void {
    this.best = best(s);
    const run = own && node !== null && !takenIn(s, node) ? node : s;
    const current = takenIn(run, null); // until then a rate would measure reading, not work
    this.write("height", count(Math.max(run.height, s.height, s.ahead)));
    this.write("return", run.return === null || !current ? "–" : run.threshold === null ? real(run.return) : say("swarm.goal", { return: real(run.return), goal: real(run.threshold) }));
    this.write("leader", own && s.leads ? say("log.you") : run.leader ? short(run.leader) : say("swarm.no-leader"));
    this.write("peers", count(s.peers));
    this.write("evaluations", current ? count(run.evaluations) : "–");
    this.write("rate", current ? real(run.evals_per_s) : "–");
    if (own) this.part(s);
    this.links(s, own);
    this.solution.show(s, own);
    this.curve(s, curve, earlier);
  }

  /** Offers what there is of a run. */
  private links(s: Status, own: boolean): void {
    const run = element<HTMLButtonElement>("run");
    run.disabled = s.run === "";
    run.title = s.run;
    run.ariaLabel = say("run.copy", { run: short(s.run) });
    this.write("run", s.run === "" ? "–" : short(s.run));
    for (const id of ["log", "policy", "certificate", "check"]) element<HTMLButtonElement>(id).disabled = !own || s.run === "";
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

  /** Says that the node has several runs, and how this one was chosen. */
  runs(node: Addresses, chosen: string, list: string): void {
    const several = (node.runs?.length ?? 0) > 1;
    element("runs").hidden = !several;
    if (!several) return;
    this.write("runs-words", say(chosen === "" ? "runs.advised" : "runs.chosen", { n: node.runs!.length }));
    element<HTMLAnchorElement>("runs-link").href = list;
    element<HTMLAnchorElement>("solved-runs").href = list;
    element("solved-runs").hidden = false;
  }

  /** Shows the invitation to this run: a link, its QR code, and a frame. */
  private invite(link: string): void {
    element<HTMLInputElement>("invitation-link").value = link;
    element<HTMLInputElement>("invitation-frame").value = frame(link);
    this.write("invitation-note", onlyHere(link) ? say("invite.here") : say("invite.good"));
    element<HTMLDialogElement>("invitation").showModal();
    drawCode(element<HTMLCanvasElement>("code"), link);
  }

  /** Asks the person of a page in somebody's frame, and resolves when he agrees to help. */
  consent(): Promise<void> {
    element("consent").hidden = false;
    return new Promise((resolve) => {
      element("agree").onclick = () => {
        element("consent").hidden = true;
        resolve();
      };
    });
  }

  /** Shows the command that lends another computer. */
  join(command: string): void {
    const button = element("join");
    button.title = command;
    button.ariaLabel = say("join.copy", { command });
    button.querySelector("code")!.textContent = command;
  }

  /** Says why nothing is in view yet. */
  still(why: string): void {
    this.write("caption", why);
    element("play").hidden = true;
  }

  /** Has everything written again, in another language. */
  retell(): void {
    this.said.clear();
    element("play").textContent = say(element<HTMLButtonElement>("play").ariaPressed === "true" ? "button.still" : "button.play");
    if (this.frame) this.describe(this.frame);
  }

  /** Offers what this browser can tell: whether it has a battery. */
  offers(can: { battery: boolean }): void {
    element("plugged-row").hidden = !can.battery;
  }

  /** Says what happened while nobody looked; "" for nothing. */
  away(words: string): void {
    if (words === "") return;
    element("away").hidden = false;
    this.write("away-words", words);
  }

  /** Offers to pause, where there is something to pause. */
  pausable(on: boolean): void {
    element("pause").hidden = !on;
  }

  /** Says what is in view. */
  caption(f: Frame): void {
    const before = this.frame;
    this.frame = f;
    const same = before !== null && !f.over && f.gen === before.gen && f.candidate === before.candidate;
    if (same && performance.now() - this.captioned < captionPeriod) return;
    this.captioned = performance.now();
    this.describe(f);
  }

  private describe(f: Frame): void {
    element("play").hidden = false;
    element("back").hidden = !f.candidate;
    delete document.querySelector<HTMLElement>(".world")!.dataset["empty"];
    if (f.candidate) return this.write("caption", say(f.over ? "moves.caption-over" : "moves.caption", { height: f.gen, score: real(f.return) }));
    const key = f.gen === this.best ? "caption.best" : "caption.policy";
    const over = f.over ? say("caption.over") : "";
    this.write("caption", say(key, { height: f.gen, return: real(f.return), over }));
  }

  /** Shows how a check of the log stands: done is the part that is true, 0 to 1; null: it has ended. */
  check(words: string, done: number | null): void {
    const bar = element<HTMLProgressElement>("check-bar");
    bar.hidden = done === null;
    bar.value = done ?? 0;
    this.write("check-words", words);
    this.write("check", done === null ? say("check.start") : say("check.stop"));
  }

  /** Shows how a film stands. */
  film(words: string, filming: boolean): void {
    this.write("film-words", words);
    this.write("film", say(filming ? "film.stop" : "film.start"));
  }

  /** Offers to film what is drawn, or says that this browser cannot. */
  filmable(can: boolean): void {
    element<HTMLButtonElement>("film").disabled = !can;
    if (!can) this.write("film-words", say("film.never"));
  }

  /** Shows whether the drawing runs. */
  playing(on: boolean): void {
    const play = element<HTMLButtonElement>("play");
    play.ariaPressed = String(on);
    play.textContent = say(on ? "button.still" : "button.play");
    if (!on && this.frame) this.describe(this.frame);
  }

  /** Shows a problem; a fatal one offers to reload instead of going away. */
  problem(p: Problem): void {
    this.write("problem-error", p.error);
    this.write("problem-hint", p.hint);
    const action = element<HTMLButtonElement>("problem-action");
    action.textContent = say(p.fatal ? "button.reload" : "button.dismiss");
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

/** copy puts text on the clipboard, or shows it for copying where the browser forbids that. */
function copy(text: string, what: string): void {
  const done = (): void => void (element("copied").textContent = say("copy.done", { what }));
  if (navigator.clipboard) return void navigator.clipboard.writeText(text).then(done, () => prompt(what, text));
  prompt(what, text);
}
