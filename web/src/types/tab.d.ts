// The border to the Go program of the tab (wasm/tab): libp2p, coordinator and store. It runs in the network worker
// (network.ts), so that nothing it does keeps the page from answering the person.

import type { ProgramFiles } from "../programs.ts";
import type { Order, Reply } from "./compute";

/** What the tab needs to know. The volunteer is asked for nothing. */
export interface TabConfig {
  /** Multiaddrs with /p2p of nodes to dial; those that a browser cannot dial are skipped. */
  addresses: string[];
  /** Those that the page's link names. The tab says what is wrong with them. */
  peers: string[];
  /** Whether the page can hold connections over WebRTC for the tab. */
  rtc: boolean;
  /** The run that is expected there, or "" to take part in whatever the node runs. */
  run: string;
  /** Web Workers to evaluate with, at least 1. One more folds generations. */
  workers: number;
  paused: boolean;
}

/** What the network worker gives the tab's program. */
export interface TabHost {
  /** Has the page start one more Web Worker that computes an environment. */
  openWorker(env: string): PoolWorker;
}

/** A Web Worker that the page started for the network worker, which uses it as if it were its own. */
export interface PoolWorker {
  onmessage: ((event: MessageEvent<Reply>) => void) | null;
  /** Its script failed. */
  onerror: ((event: { message: string }) => void) | null;
  postMessage(order: Order): void;
  terminate(): void;
}

/** Events of the tab's program. */
export interface TabEvents {
  /** The way to the swarm changed. */
  onPhase(phase: Phase): void;
  /** What became of each way to the swarm, in the order in which they are tried. */
  onWays(ways: WayState[]): void;
  /** On every change and every second once the tab takes part in a run. */
  onStatus(status: Status): void;
  /** Something went wrong that the person should know. */
  onError(trouble: Trouble): void;
  /** What plays the episodes of a worker that has got ready: "c" (translated worlds) or "go". */
  onEngine(engine: string): void;
}

/**
 * connecting: no node has answered. no run: one has, but trains nothing. running: takes part in a run. alone:
 * takes part, but nobody is connected, and nobody could be reached in a whole round of dialing.
 */
export type Phase = "connecting" | "no run" | "running" | "alone";

/** A transport, and what became of it (mesh.WayState). */
export interface WayState {
  way: string;
  /**
   * used: a connection goes over it. spare: not needed so far. failed: the last try failed. forbidden: the
   * browser does not let a page that came over TLS use it. unsupported: the browser lacks it. unknown: no known
   * node offers it.
   */
  state: "used" | "spare" | "failed" | "forbidden" | "unsupported" | "unknown";
  /** Why it failed. */
  why?: string;
}

/** Something that went wrong in the tab's program: the page says it, in the texts trouble.KIND and trouble.KIND-hint. */
export interface Trouble {
  kind: "link" | "unsaved" | "damaged" | "removed" | "dropped" | "strayed" | "stayed" | "workers" | "version" | "ended";
  /** What the program says of it, "" for nothing. */
  why: string;
  /** Whether the tab has ended. */
  fatal: boolean;
}

/** Something that went wrong, and what to do about it, in words. */
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
  /** The best state by held-out episodes, as the log says: its generation, mean return and episodes; null: none. */
  best_state: { height: number; score: number; episodes: number } | null;
  /** Generation whose policy passed the test and ended the run; 0: none. */
  solved_height: number;
  /** Whether the run has ended. */
  ended: boolean;
  state: "training" | "catching-up" | "idle" | "paused" | "solved";
  reason: Reason;
  /** The reason as a sentence for a person. */
  why: string;
  /** Whether it follows the run by the policies that hubs give, without the results of others; older nodes do not say. */
  light?: boolean;
  /** While catching up, or light: the generation whose state it works on meanwhile; 0: none. */
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

/** One of the newest generations, as the log says (wasm/tab/recent.go). */
export interface Entry {
  height: number;
  /** Key in hexadecimal. */
  leader: string;
  /** Results of candidates, and how many of them are this tab's. */
  total: number;
  mine: number;
  /** Authors of the results. */
  peers: number;
  /** null: every evaluation failed. */
  best: number | null;
  /** Returns of some of the others' results and of this tab's own, the best ones among them. */
  others: number[];
  own: number[];
  move?: Move;
}

/** A result of this tab that moved the model more than most did. */
export interface Move {
  id: string;
  height: number;
  score: number;
  /** 1: the best of its generation, which had so many results. */
  rank: number;
  of: number;
  /** Of all that moved the model in its generation, 0 to 1; null: the strategy does not say. */
  share: number | null;
}

/** A peer with a direct connection. */
export interface Neighbor {
  key: string;
  tab: boolean;
  hub: boolean;
}

/** What a check of a whole log found. */
export interface Checked {
  height: number;
  head: string;
  /** Digest of the parameters. */
  theta: string;
  evaluations: number;
  peers: number;
  /** Generation that the log begins at; 0: the first. */
  base: number;
}

/** What a drawing worker needs to play a candidate of this tab. */
export interface CandidateBytes extends PolicyBytes {
  seed: string;
  sign: number;
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
  log(): Promise<Blob>;
  /** All held-out evaluations so far, in order of height. */
  curve(): HeldOut[];
  /** Generations above a height, at most some hundreds, evenly spread, with the newest. */
  history(after: number): Promise<Generation[]>;
  /** The newest generations above a height, in order; what it holds is bounded. None in a tab that follows without them. */
  recent(after: number): Promise<Entry[]>;
  /** The candidate of a move that recent told of, as long as it is among the newest ones. */
  candidate(id: string): Promise<CandidateBytes>;
  /** At most twelve. */
  neighbors(): Neighbor[];
  /** null until there is a run. */
  policy(): PolicyBytes | null;
  /** The policy that is in view, as safetensors. */
  policyFile(): Promise<Blob>;
  /** What the log holds of this tab, signed with its key (node/contribution). */
  certificate(): Promise<Blob>;
  /** Says goodbye to the swarm and ends. */
  stop(): Promise<void>;
}

export interface Evoswarm {
  start(config: TabConfig & TabEvents & TabHost): Tab;
  /** Computes a log again; the entry of height must be head. tell learns how far it is, 0 to 1. For a worker of its own. */
  check(log: Blob, height: number, head: string, tell: (height: number, done: number) => void): Promise<Checked>;
}

/** What the page posts to the network worker. */
export type Ask =
  | { op: "load"; tab: string; programs: Record<string, ProgramFiles>; kept: boolean } // addresses; kept: by the service worker
  | { op: "prepare"; env: string } // the run's environment, once it is known: what computes it will be needed
  | { op: "start"; config: TabConfig } // once the tab's program is loaded
  | { op: "program"; id: number; env: string } // answered with a Program
  | { op: "worker failed"; id: number; error: string } // the script of a worker
  | { op: "check"; module: WebAssembly.Module; log: Blob; height: number; head: string } // in place of load and start
  | Call;

/** A call of one of the tab's methods. */
export interface Call {
  op: "call";
  id: number;
  name: keyof Tab;
  args: unknown[];
}

/** What the network worker posts back. After a crash it is of no use any more. */
export type Tell =
  | { op: "loading"; loaded: number } // the fraction that is here, 0 to 1
  | { op: "loaded"; tab: WebAssembly.Module } // the tab's own program (wasm/tab)
  | { op: "prepared"; program: Program } // answers prepare
  | { op: "not loaded"; error: string }
  | { op: "answer"; id: number; value: unknown }
  | { op: "refused"; id: number; error: string }
  | { op: "phase"; phase: Phase }
  | { op: "ways"; ways: WayState[] }
  | { op: "rtc" } // with a port: see rtc.ts
  | { op: "open worker"; id: number; env: string } // a worker, with a port: see pool.ts
  | { op: "end worker"; id: number }
  | { op: "status"; status: Status }
  | { op: "trouble"; trouble: Trouble }
  | { op: "engine"; engine: string }
  | { op: "checking"; height: number; done: number }
  | { op: "checked"; found: Checked }
  | { op: "crash"; error: string; output: string };

declare global {
  /** Set by wasm/tab when it runs. */
  var evoswarm: Evoswarm | undefined;
  /** Has the page hold one more connection over WebRTC (rtc.ts); undefined where it cannot. */
  var openRTC: (() => MessagePort) | undefined;
}
