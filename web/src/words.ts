// What the page says: one state, in words, derived from everything that is known.

import { count, plural } from "./format.ts";
import type { Phase, Status } from "./types/tab";

/** How the state is marked, by a color and a symbol. */
export type Tone = "work" | "wait" | "rest" | "trouble";

export interface Words {
  tone: Tone;
  headline: string;
  detail: string;
}

/** Why the work is on hold: the volunteer paused it, or the battery is low. */
export type Hold = "none" | "paused" | "battery";

/** Why connections were lost: the browser froze the hidden tab, or the computer slept. */
export type Sleep = "none" | "frozen" | "slept";

/** Everything that the words depend on. */
export interface Situation {
  /** The page's own phases, then the tab's. */
  phase: "unsupported" | "failed" | "loading" | "elsewhere" | Phase;
  /** Of the programs, 0 to 1, while loading. */
  loaded: number;
  online: boolean;
  hold: Hold;
  /** What the tab has just woken up from. */
  sleep: Sleep;
  /** The newest; null before the first. */
  status: Status | null;
}

/** describe says what is going on and, if nothing is, why. */
export function describe(s: Situation): Words {
  switch (s.phase) {
    case "unsupported":
      return words("trouble", "This browser cannot help", "It lacks WebAssembly, Web Workers or IndexedDB. Try a current Firefox, Chrome or Safari.");
    case "failed":
      return words("trouble", "Stopped", "Something went wrong. See below for what you can do.");
    case "loading":
      return words("wait", "Loading", `${Math.round(s.loaded * 100)} % of the programs are here. Your next visit will start at once.`);
    case "elsewhere":
      return words("rest", "This browser already helps in another tab", "This tab only shows the run. It takes over when you close the other one.");
  }
  if (s.hold === "paused") return words("rest", "Paused", paused(s.status));
  if (s.hold === "battery") return words("rest", "Paused to spare your battery", "Training continues when you plug the computer in.");
  if (!s.online) return words("wait", "No network", "This computer is offline. The page reconnects by itself.");
  if (s.phase === "no run") return words("wait", "No run", "The node can be reached but is training nothing at present.");
  if (s.phase === "connecting" || s.status === null) return words("wait", "Connecting", woken(s) ?? "Looking for the swarm.");
  if (s.phase === "alone" && !s.status.ended) return describeAlone(s, s.status);
  return describeRunning(s, s.status);
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
  const detail = woken(s) ?? "No other peer can be reached right now. The page keeps trying.";
  return status.state === "training" ? words("work", "Training alone", detail) : words("wait", "Alone", detail);
}

function describeRunning(s: Situation, status: Status): Words {
  switch (status.reason) {
    case "evaluating":
    case "part-done":
      return words("work", "Your computer is helping", helping(status));
    case "catching-up":
      return words("wait", "Catching up", catchingUp(status));
    case "searching":
      return words("wait", "Connecting", woken(s) ?? "Looking for the swarm.");
    case "no-leader":
      return words("wait", "Waiting for the leader", "Connected. Work starts when the swarm's leader is heard.");
    case "testing":
      return words("wait", "Checking the result", sentence(status.why));
    case "passed-test":
      return words("work", "Solved", solved(status));
    case "run-ended":
      return words("rest", "The run has ended", `${sentence(status.why)} ${next}`);
    case "not-trusted":
      return words("rest", "You can watch this run", "Its owner lets only own computers take part, so yours has nothing to do.");
    case "paused":
      return words("rest", "Paused", paused(status));
    case "disk-full":
      return words("trouble", "Storage is full", "Free some space for this browser. The tab continues by itself.");
    case "disk-failed":
      return words("trouble", "Storage failed", "This browser refuses to store the run. The tab tries again by itself.");
    default: // a reason that this page does not know yet
      return words(status.state === "training" ? "work" : "wait", "Taking part", sentence(status.why));
  }
}

function helping(status: Status): string {
  const others = status.peers > 0 ? ` together with ${plural(status.peers, "other")}` : "";
  const checked = status.behind > 0 ? ` Of its past, ${past(status)} are checked so far.` : "";
  return `It trains ${world(status)}${others}.${checked}`;
}

/** world names the environment, and what parameters it has. */
function world(status: Status): string {
  const params = Object.entries(status.env_params ?? {}).map(([name, value]) => ` ${name}=${value}`);
  return status.env + params.sort().join("");
}

const next = "When the node trains something else, this page joins in.";

/** solved says what became of the run, and what this computer gave. */
function solved(status: Status): string {
  const part = status.mine > 0 ? ` Your computer made ${count(status.mine)} of its ${plural(status.evaluations, "evaluation")}.` : "";
  return `The policy of generation ${count(status.solved_height)} masters ${world(status)}.${part} ${next}`;
}

/** past says how much of what the swarm did before is taken in. */
function past(status: Status): string {
  return `${count(status.behind_of - status.behind)} of ${plural(status.behind_of, "generation")}`;
}

/** catchingUp says how far it is and how long it will take. */
function catchingUp(status: Status): string {
  if (status.behind === 0) return "Fetching what the swarm has done so far. Training starts after that.";
  return `${past(status)}${status.behind_s > 0 ? `, ${duration(status.behind_s)} left` : ""}. Training starts after that.`;
}

function paused(status: Status | null): string {
  return status === null ? "No work starts here until you continue." : "No work starts here until you continue. The tab only follows the run.";
}

function woken(s: Situation): string | undefined {
  if (s.sleep === "frozen") return "The browser had put this hidden tab to sleep; reconnecting.";
  if (s.sleep === "slept") return "This computer was asleep; reconnecting.";
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
function sentence(text: string): string {
  if (text === "") return "";
  return text[0]!.toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
