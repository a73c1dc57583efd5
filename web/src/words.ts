// What the page says of itself: one state, in words, chosen from everything that is known.

import { plural } from "./format.ts";
import type { Status } from "./types/tab";

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
  phase: "loading" | "elsewhere" | "starting" | "running" | "failed" | "unsupported";
  /** Of the programs, 0 to 1, while loading. */
  loaded: number;
  online: boolean;
  hold: Hold;
  /** The browser froze the tab and it has only just woken up. */
  woken: boolean;
  /** The run that the node announced; "" if it has none. */
  announced: string;
  status: Status | null;
}

/** describe says what is going on and, if nothing is, why. */
export function describe(s: Situation): Words {
  switch (s.phase) {
    case "unsupported":
      return words("trouble", "This browser cannot help", "It lacks WebAssembly, Web Workers or IndexedDB.");
    case "failed":
      return words("trouble", "Something went wrong", "What to do is said below.");
    case "loading":
      return words("wait", "Loading", `${Math.round(s.loaded * 100)} % of the programs are here. The next visit starts at once.`);
    case "elsewhere":
      return words("rest", "Another tab of this browser is working", "This one only watches, and takes over when the other is closed.");
    case "starting":
      return words("wait", "Connecting", "Looking for the swarm.");
  }
  return describeRunning(s);
}

function describeRunning(s: Situation): Words {
  const status = s.status;
  if (s.hold === "paused") return words("rest", "Paused", "Nothing is computed here until you continue.");
  if (s.hold === "battery") return words("rest", "Paused to spare the battery", "It goes on when the computer is plugged in.");
  if (!s.online) return words("wait", "No network", "This computer is offline. It reconnects by itself.");
  if (status === null || (status.links === 0 && status.run === "")) {
    return words("wait", "Connecting", s.woken ? "The browser had put this tab to sleep." : "Looking for the swarm.");
  }
  if (status.run === "") return words("wait", "No run", "The node is reachable but trains nothing at present.");
  if (status.syncing) return words("wait", "Catching up", "Fetching and checking what the swarm has done so far.");
  if (status.links === 0) return describeAlone(s, status);
  if (status.state === "paused") return words("rest", "Paused", "Nothing is computed here until you continue.");
  if (status.state !== "training") return words("wait", "Idle", sentence(status.why) || "Waiting for work.");
  return words("work", "Your computer is helping", `Training ${status.env} together with ${plural(status.peers, "other")}.`);
}

function describeAlone(s: Situation, status: Status): Words {
  const detail = s.woken ? "The browser had put this tab to sleep; reconnecting." : "No other peer can be reached; reconnecting.";
  if (status.state === "training") return words("work", "Alone, and going on", detail);
  return words("wait", "Alone", detail);
}

function words(tone: Tone, headline: string, detail: string): Words {
  return { tone, headline, detail };
}

/** sentence makes a sentence of the words of a program. */
function sentence(text: string): string {
  if (text === "") return "";
  return text[0]!.toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}
