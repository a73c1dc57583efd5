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
  /** Called about twice a second, and at once when something important changes. */
  onStatus(status: Status): void;
  /** Called when something went wrong that the person should know; the tab goes on if it can. */
  onError(error: Problem): void;
}

/** Something that went wrong, and what to do about it. */
export interface Problem {
  error: string;
  hint: string;
}

/** The fields are those of `evonode status --json`; the page's own are marked. */
export interface Status {
  run: string;
  env: string;
  height: number;
  head: string;
  /** Peer id, "" while none is known. */
  leader: string;
  self: string;
  term: number;
  /** Others that are heard. */
  peers: number;
  /** Connections of this tab; page only. */
  links: number;
  evaluations: number;
  steps: number;
  /** Evaluations per second of this tab's workers. */
  evals_per_s: number;
  /** Fitness of the newest entry as a return. */
  best: number | null;
  mean: number | null;
  state: "training" | "idle" | "paused" | "stopped";
  /** Why it is idle, in words; "" if it is not. */
  why: string;
  /** Whether a heavier chain is being fetched; page only. */
  syncing: boolean;
  /** What the log holds of this tab's work; page only. */
  mine: { evaluations: number; steps: number };
  /** How many peers have work in the log; page only. */
  contributors: number;
  /** Web Workers in use; page only. */
  workers: number;
  /** Mean return at which the world counts as solved; page only. */
  threshold: number | null;
}

/** A point of the curve: a generation, or a held-out look at the mean policy. */
export interface CurvePoint {
  height: number;
  steps: number;
  best: number;
  mean: number;
  /** Mean return over fresh validate episodes, where somebody looked. */
  validate?: number;
}

/** What a drawing worker needs to play the newest policy. */
export interface PolicyBytes {
  setup: Uint8Array;
  state: Uint8Array;
  height: number;
}

/** A tab at work. */
export interface Tab {
  pause(paused: boolean): void;
  setWorkers(n: number): void;
  /** Assumes that all connections are dead and dials again. */
  redial(): void;
  /** The seed log of the run as a file. */
  log(): Promise<Uint8Array>;
  /** The points of the curve above a height. */
  curve(above: number): CurvePoint[];
  /** null until there is a run. */
  policy(): PolicyBytes | null;
  /** Says goodbye to the swarm and ends. */
  stop(): Promise<void>;
}

export interface Evoswarm {
  start(config: TabConfig): Promise<Tab>;
}

declare global {
  /** Set by wasm/tab when it runs. */
  // eslint-disable-next-line no-var
  var evoswarm: Evoswarm | undefined;
}
