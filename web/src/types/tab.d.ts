// The border to the Go program of the tab (wasm/tab): libp2p, coordinator and store.

/** What the tab has to be told. Nothing of it is asked of the volunteer. */
export interface TabConfig {
  /** Multiaddrs with /p2p of nodes to dial; those a browser cannot dial are passed over. */
  addresses: string[];
  /** The run that is expected there, or "" to take part in whatever the node runs. */
  run: string;
  /** Web Workers to evaluate with, at least 1. */
  workers: number;
  paused: boolean;
  /** Address of the script that each Web Worker runs. */
  workerScript: string;
  /** The Go program for it, compiled once. */
  workerModule: WebAssembly.Module;
  /** Called when the way to the swarm changes. */
  onPhase(phase: Phase): void;
  /** Called on every change and every second while the phase is "running". */
  onStatus(status: Status): void;
  /** Called when something went wrong that the person should know. */
  onError(problem: Problem): void;
}

/** connecting: no node has answered. no run: one has, but trains nothing. running: takes part in a run. */
export type Phase = "connecting" | "no run" | "running";

/** Something that went wrong, and what to do about it. */
export interface Problem {
  error: string;
  hint: string;
  /** Whether the tab has ended. */
  fatal: boolean;
}

/** The JSON form of peer.Status, as in `evonode status --json`. */
export interface Status {
  run: string;
  env: string;
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
  workers: number;
  /** Of the newest generation; null: none. */
  best: number | null;
  mean: number | null;
  /** Of the newest look at the mean policy; null: no look yet. */
  return: number | null;
  return_height: number;
  /** Mean return at which the world counts as solved; null: it has none. */
  threshold: number | null;
  state: "training" | "idle" | "paused";
  /** One sentence for a person. */
  why: string;
  /** What is wrong with this computer. */
  error?: string;
}

/** A look at the mean policy on held-out episodes. */
export interface Look {
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
  /** All looks so far, in order of height. */
  curve(): Look[];
  /** Generations above a height, at most some hundreds, evenly spread, with the newest. */
  history(after: number): Generation[];
  /** null until there is a run. */
  policy(): PolicyBytes | null;
  /** Says goodbye to the swarm and ends. */
  stop(): Promise<void>;
}

export interface Evoswarm {
  start(config: TabConfig): Tab;
}

declare global {
  /** Set by wasm/tab when it runs. */
  var evoswarm: Evoswarm | undefined;
}
