// What the page says of itself: one state, in words, chosen from everything that is known.

import { plural } from "./format.ts";
import type { Phase, Status } from "./types/tab";

/** How the state is marked: a colour and a symbol stand beside the words. */
export type Tone = "work" | "wait" | "rest" | "trouble";

export interface Words {
  tone: Tone;
  headline: string;
  detail: string;
}

/** Why the person, or the computer for him, put the work on hold. */
export type Hold = "none" | "paused" | "battery";

/** Everything that the words depend on. */
export interface Situation {
  /** The page's own phases, then the tab's. */
  phase: "unsupported" | "failed" | "loading" | "elsewhere" | Phase;
  /** Of the programs, 0 to 1, while loading. */
  loaded: number;
  online: boolean;
  hold: Hold;
  /** The browser froze the hidden tab, and it has only just woken up. */
  woken: boolean;
  /** The newest; null before the first. */
  status: Status | null;
}

/** describe says what is going on and, if nothing is, why. */
export function describe(s: Situation): Words {
  switch (s.phase) {
    case "unsupported":
      return words("trouble", "This browser cannot help", "It lacks WebAssembly, Web Workers or IndexedDB.");
    case "failed":
      return words("trouble", "Stopped", "Something went wrong; what to do is said below.");
    case "loading":
      return words("wait", "Loading", `${Math.round(s.loaded * 100)} % of the programs are here. The next visit starts at once.`);
    case "elsewhere":
      return words("rest", "Another tab of this browser is working", "This one only watches, and takes over when the other is closed.");
  }
  if (s.hold === "paused") return words("rest", "Paused", "Nothing is computed here until you continue.");
  if (s.hold === "battery") return words("rest", "Paused to spare the battery", "It goes on when the computer is plugged in.");
  if (!s.online) return words("wait", "No network", "This computer is offline. It reconnects by itself.");
  if (s.phase === "no run") return words("wait", "No run", "The node can be reached but trains nothing at present.");
  if (s.phase === "connecting" || s.status === null) return words("wait", "Connecting", asleep(s) ?? "Looking for the swarm.");
  return describeRunning(s, s.status);
}

function describeRunning(s: Situation, status: Status): Words {
  if (status.connected === 0) {
    const detail = asleep(s) ?? "No other peer can be reached at present; trying again.";
    if (status.state === "training") return words("work", "Alone, and going on", detail);
    return words("wait", "Alone", detail);
  }
  if (status.state === "paused") return words("rest", "Paused", "Nothing is computed here until you continue.");
  // The words of internal/peer: a tab that has done its part waits for the others a moment, again and again.
  const partDone = /^has done its part/.test(status.why) && status.mine_evals_per_s > 0;
  if (status.state === "idle" && !partDone) {
    const headline = /^catching up/.test(status.why) ? "Catching up" : "Waiting";
    return words("wait", headline, sentence(status.why) || "There is no work at present.");
  }
  return words("work", "Your computer is helping", `It trains ${status.env} together with ${plural(status.peers, "other")}.`);
}

function asleep(s: Situation): string | undefined {
  return s.woken ? "The browser had put this hidden tab to sleep; reconnecting." : undefined;
}

function words(tone: Tone, headline: string, detail: string): Words {
  return { tone, headline, detail };
}

/** sentence makes a sentence of the words of a program. */
function sentence(text: string): string {
  if (text === "") return "";
  return text[0]!.toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
