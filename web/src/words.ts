// What the page says: one state, in words, derived from everything that is known.

import { say } from "./lang.ts";
import type { Phase, Problem, Status, Trouble, WayState } from "./types/tab";

/** How the state is marked, by a color and a symbol. */
export type Tone = "work" | "wait" | "rest" | "trouble";

export interface Words {
  tone: Tone;
  headline: string;
  detail: string;
}

/** Why the work is on hold: the volunteer paused it, the battery is low, or it is as the volunteer asked (manners.ts). */
export type Hold = "none" | "paused" | "battery" | "unplugged" | "data" | "hours";

/** Why connections were lost: the browser froze the hidden tab, or the computer slept. */
export type Sleep = "none" | "frozen" | "slept";

/** Everything that the words depend on. */
export interface Situation {
  /** The page's own phases, then the tab's. */
  phase: "unsupported" | "failed" | "asked" | "loading" | "elsewhere" | Phase;
  /** Of the programs, 0 to 1, while loading. */
  loaded: number;
  online: boolean;
  hold: Hold;
  /** What the tab has just woken up from. */
  sleep: Sleep;
  /** The newest; null before the first. */
  status: Status | null;
  /** What became of each transport; empty before the first try. */
  ways: readonly WayState[];
}

/** describe says what is going on and, if nothing is, why. */
export function describe(s: Situation): Words {
  switch (s.phase) {
    case "unsupported":
      return words("trouble", say("state.unsupported"), say("state.unsupported-detail"));
    case "failed":
      return words("trouble", say("state.failed"), say("state.failed-detail"));
    case "asked":
      return words("rest", say("state.asked"), say("state.asked-detail"));
    case "loading":
      return words("wait", say("state.loading"), say("state.loading-detail", { percent: Math.round(s.loaded * 100) }));
    case "elsewhere":
      return words("rest", say("state.elsewhere"), say("state.elsewhere-detail"));
  }
  if (s.hold === "paused") return words("rest", say("state.paused"), paused(s.status));
  if (s.hold === "battery") return words("rest", say("state.battery"), say("state.battery-detail"));
  if (s.hold === "unplugged") return words("rest", say("state.unplugged"), say("state.unplugged-detail"));
  if (s.hold === "data") return words("rest", say("state.data"), say("state.data-detail"));
  if (s.hold === "hours") return words("rest", say("state.hours"), say("state.hours-detail"));
  if (!s.online) return words("wait", say("state.network"), say("state.network-detail"));
  if (s.phase === "no run") return words("wait", say("state.no-run"), say("state.no-run-detail"));
  if (s.phase === "connecting" || s.status === null) return words("wait", say("state.connecting"), searching(s));
  if (s.phase === "alone" && !s.status.ended) return describeAlone(s, s.status);
  return describeRunning(s, s.status);
}

function searching(s: Situation): string {
  const hopeless = s.ways.length > 0 && s.ways.every((w) => w.state === "unknown" || w.state === "forbidden" || w.state === "unsupported");
  return woken(s) ?? say(hopeless ? "state.hopeless" : "state.searching");
}

/** describeWays says over what the tab is connected, and why not over the rest. */
export function describeWays(ways: readonly WayState[]): string {
  const used = ways.filter((w) => w.state === "used").map(nameOf);
  const head = used.length > 0 ? say("ways.over", { ways: used.join(say("ways.and")) }) : say("ways.none");
  const rest = ways.filter((w) => w.state !== "used").map((w) => `${capital(nameOf(w))}: ${whyNot(w)}`);
  return [head, ...rest].join(" ");
}

/** troubled says what went wrong in the tab's program, and what to do about it. */
export function troubled(t: Trouble): Problem {
  return { error: say(`trouble.${t.kind}`, { why: t.why }), hint: say(`trouble.${t.kind}-hint`), fatal: t.fatal };
}

/** nodeless reports whether the tab is connected to other tabs at most. */
export function nodeless(ways: readonly WayState[]): boolean {
  return !ways.some((w) => w.state === "used" && w.way !== otherTabs);
}

/** What the tab calls its connections to others (internal/mesh/tablink_js.go). */
const otherTabs = "WebRTC with other tabs";

/** What it calls connections through a node, to one that nobody can dial (internal/mesh/ways.go). */
const relay = "a relay";

/** nameOf is what a person calls a way; names of transports are the same in all languages. */
function nameOf(w: WayState): string {
  return w.way === relay ? say("ways.relay") : w.way === otherTabs ? say("ways.tabs") : w.way;
}

function whyNot(w: WayState): string {
  switch (w.state) {
    case "spare":
      return say("ways.spare");
    case "failed":
      return say("ways.failed", { why: sentence(w.why ?? "") });
    case "forbidden":
      return say("ways.forbidden");
    case "unsupported":
      return say("ways.unsupported");
    default:
      return say(w.way === relay ? "ways.needless" : "ways.unknown");
  }
}

/** upToDate reports whether a peer knows the policy of today: it took in what the swarm did before, or works ahead of that. */
export function upToDate(status: Status): boolean {
  if (status.behind > 0 && status.ahead === 0) return false;
  switch (status.reason) {
    case "searching":
    case "no-leader":
    case "catching-up":
      return false;
    case "paused":
      return status.height > 0; // a pause hides the other reasons
    default:
      return true;
  }
}

function describeAlone(s: Situation, status: Status): Words {
  const detail = woken(s) ?? say("state.alone-detail");
  return status.state === "training" ? words("work", say("state.training-alone"), detail) : words("wait", say("state.alone"), detail);
}

function describeRunning(s: Situation, status: Status): Words {
  switch (status.reason) {
    case "evaluating":
    case "part-done":
      return words("work", say("state.helping"), helping(status));
    case "catching-up":
      return words("wait", say("state.catching-up"), catchingUp(status));
    case "searching":
      return words("wait", say("state.connecting"), searching(s));
    case "no-leader":
      return words("wait", say("state.no-leader"), say("state.no-leader-detail"));
    case "testing":
      return words("wait", say("state.testing"), say("state.testing-detail", { why: sentence(status.why) }));
    case "passed-test":
      return words("work", say("state.solved"), solved(status));
    case "run-ended":
      return words("rest", say("state.ended"), `${say("state.ended-detail", { why: sentence(status.why) })} ${say("state.next")}`);
    case "not-trusted":
      return words("rest", say("state.not-trusted"), say("state.not-trusted-detail"));
    case "paused":
      return words("rest", say("state.paused"), paused(status));
    case "disk-full":
      return words("trouble", say("state.disk-full"), say("state.disk-full-detail"));
    case "disk-failed":
      return words("trouble", say("state.disk-failed"), say("state.disk-failed-detail"));
    default: // a reason that this page does not know yet
      return words(status.state === "training" ? "work" : "wait", say("state.taking-part"), sentence(status.why));
  }
}

function helping(status: Status): string {
  const parts = [status.peers > 0 ? say("helping.with", { n: status.peers, world: world(status) }) : say("helping.alone", { world: world(status) })];
  if (status.behind > 0) parts.push(say("helping.checked", { past: past(status) }));
  if (status.light) parts.push(say("helping.light"));
  return parts.join(" ");
}

/** world names the environment, and what parameters it has. */
function world(status: Status): string {
  const params = Object.entries(status.env_params ?? {}).map(([name, value]) => ` ${name}=${value}`);
  return status.env + params.sort().join("");
}

/** best is the generation whose policy the log calls the best one so far; 0: none, or the run ended with one that passed the test. */
export function best(status: Status): number {
  return status.solved_height > 0 ? 0 : (status.best_state?.height ?? 0);
}

/** newest is the newest generation whose policy may be in view. */
export function newest(status: Status): number {
  return best(status) || Math.max(status.height, status.ahead);
}

/** solved says what became of the run, and what this computer gave. */
function solved(status: Status): string {
  const parts = [say("state.solved-detail", { height: status.solved_height, world: world(status) })];
  if (status.mine > 0) parts.push(say("state.solved-part", { mine: status.mine, n: status.evaluations }));
  return [...parts, say("state.next")].join(" ");
}

/** past says how much of what the swarm did before is taken in. */
function past(status: Status): string {
  return say("state.past", { done: status.behind_of - status.behind, n: status.behind_of });
}

/** catchingUp says how far it is and how long it will take. */
function catchingUp(status: Status): string {
  if (status.behind === 0) return say("state.fetching");
  const left = status.behind_s > 0 ? say("state.left", { time: duration(status.behind_s) }) : "";
  return say("state.catching-up-detail", { past: past(status), left });
}

function paused(status: Status | null): string {
  return say(status === null ? "state.paused-detail" : "state.paused-follows");
}

function woken(s: Situation): string | undefined {
  if (s.sleep === "frozen") return say("state.frozen");
  if (s.sleep === "slept") return say("state.slept");
  return undefined;
}

function words(tone: Tone, headline: string, detail: string): Words {
  return { tone, headline, detail };
}

/** duration is a time in whole seconds, or in minutes if it is long. */
function duration(seconds: number): string {
  const s = Math.max(1, Math.ceil(seconds));
  return s < 90 ? `${s} s` : `${Math.round(s / 60)} min`;
}

/** sentence makes a sentence of a program's words. */
export function sentence(text: string): string {
  return text === "" || /[.!?]$/.test(text) ? capital(text) : `${capital(text)}.`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
