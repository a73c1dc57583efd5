// The border to the Go program of the tab (wasm/tab): libp2p, coordinator and store. It runs in the network worker
// (network.ts), so that nothing it does keeps the page from answering the person.

/** What the tab needs to know. The volunteer is asked for nothing. */
export interface TabConfig {
  /** Multiaddrs with /p2p of nodes to dial; those that a browser cannot dial are skipped. */
  addresses: string[];
  /** The run that is expected there, or "" to take part in whatever the node runs. */
  run: string;
  /** Web Workers to evaluate with, at least 1. One more folds generations. */
  workers: number;
  paused: boolean;
  /** Absolute address of the script that each Web Worker runs. */
  workerScript: string;
  /** The Go program for it, compiled once. */
  workerModule: WebAssembly.Module;
}

/** Events of the tab's program. */
export interface TabEvents {
  /** The way to the swarm changed. */
  onPhase(phase: Phase): void;
  /** On every change and every second once the tab takes part in a run. */
  onStatus(status: Status): void;
  /** Something went wrong that the person should know. */
  onError(problem: Problem): void;
  /** What plays the episodes of a worker that has got ready: "c" (worlds.wasm) or "go". */
  onEngine(engine: string): void;
}

/**
 * connecting: no node has answered. no run: one has, but trains nothing. running: takes part in a run. alone: takes part,
 * but nobody is connected, and nobody could be reached in a whole round of dialing.
 */
export type Phase = "connecting" | "no run" | "running" | "alone";

/** Something that went wrong, and what to do about it. */
export interface Problem {
  error: string;
  hint: string;
  /** Whether the tab has ended. */
  fatal: boolean;
}

/** Why a peer does what it does (peer.Reason). */
export type Reason =
  | "evaluating"
  | "part-done"
  | "catching-up"
  | "searching"
  | "no-leader"
  | "no-run"
  | "testing"
  | "passed-test"
  | "run-ended"
  | "not-trusted"
  | "paused"
  | "disk-full"
  | "disk-failed";

/** The JSON form of peer.Status, as in `evonode status --json`. */
export interface Status {
  run: string;
  env: string;
  env_params?: Record<string, number>;
  strategy: string;
  height: number;
  head: string;
  /** Keys in hexadecimal; no leader: none known. */
  leader?: string;
  self: string;
  leads: boolean;
  term: number;
  /** Others that are heard. */
  peers: number;
  /** Others with a direct connection. */
  connected: number;
  /** Peers with work in the log, ever. */
  volunteers: number;
  evaluations: number;
  steps: number;
  evals_per_s: number;
  /** Own evaluations in the log. */
  mine: number;
  mine_steps: number;
  /** Computed here, over the last 10 s. */
  mine_evals_per_s: number;
  /** What this peer computed since it started, in evaluations, and what became of it. */
  own: { computed: number; logged: number; waiting: number; late: number; replaced: number };
  /** How often entries were replaced since it started, and the last time: above which height, how many, by how many. */
  reorgs: number;
  reorg: { height: number; gone: number; come: number } | null;
  workers: number;
  /** Of the newest generation; null: none. */
  best: number | null;
  mean: number | null;
  /** Of the newest held-out evaluation of the mean policy; null: none yet. */
  return: number | null;
  return_height: number;
  /** Mean return at which the environment counts as solved; null: it has none. */
  threshold: number | null;
  /** Generation whose policy passed the test and ended the run; 0: none. */
  solved_height: number;
  /** Whether the run has ended. */
  ended: boolean;
  state: "training" | "catching-up" | "idle" | "paused" | "solved";
  reason: Reason;
  /** The reason as a sentence for a person. */
  why: string;
  /** While catching up: the generation whose state it works on meanwhile; 0: none. */
  ahead: number;
  /** While catching up: generations still to take in, of how many, and the time that it will take; 0: not known. [s] */
  behind: number;
  behind_of: number;
  behind_s: number;
  /** What is wrong with this computer. */
  error?: string;
}

/** A held-out evaluation of the mean policy: a point of the learning curve. */
export interface HeldOut {
  height: number;
  evaluations: number;
  steps: number;
  return: number;
}

/** What the log says of a generation. */
export interface Generation {
  height: number;
  best: number;
  mean: number;
}

/** What a drawing worker needs to play the newest policy. */
export interface PolicyBytes {
  /** A rollout.Setup. */
  setup: Uint8Array;
  /** An evolve.State. */
  state: Uint8Array;
  height: number;
}

/** A tab at work. */
export interface Tab {
  pause(paused: boolean): void;
  setWorkers(n: number): void;
  /** Assumes that all connections are dead and dials again. */
  redial(addresses: string[]): void;
  /** Name of the kernel that this browser computes with. */
  kernel(): string;
  /** The seed log of the run as a file. */
  log(): Promise<Uint8Array>;
  /** All held-out evaluations so far, in order of height. */
  curve(): HeldOut[];
  /** Generations above a height, at most some hundreds, evenly spread, with the newest. */
  history(after: number): Generation[];
  /** null until there is a run. */
  policy(): PolicyBytes | null;
  /** Says goodbye to the swarm and ends. */
  stop(): Promise<void>;
}

export interface Evoswarm {
  start(config: TabConfig & TabEvents): Tab;
}

/** What the page posts to the network worker. */
export type Ask = { op: "start"; module: WebAssembly.Module; config: TabConfig } | Call;

/** A call of one of the tab's methods. */
export interface Call {
  op: "call";
  id: number;
  name: keyof Tab;
  args: unknown[];
}

/** What the network worker posts back. After a crash it is of no use any more. */
export type Tell =
  | { op: "answer"; id: number; value: unknown }
  | { op: "refused"; id: number; error: string }
  | { op: "phase"; phase: Phase }
  | { op: "status"; status: Status }
  | { op: "problem"; problem: Problem }
  | { op: "engine"; engine: string }
  | { op: "crash"; error: string; output: string };

declare global {
  /** Set by wasm/tab when it runs. */
  var evoswarm: Evoswarm | undefined;
}
