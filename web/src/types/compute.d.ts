// The border to the Go program of a Web Worker (wasm/worker).

import type { Program } from "../programs.ts";

/** A Go function cannot throw: it answers with a value or an error. */
export type Answer<T> = { value: T; error?: undefined } | { error: string; value?: undefined };

export interface Compute {
  /** Prepares for a run; bytes of a rollout.Setup. The value names the engine that plays its episodes: "c" or "go". */
  setup(bytes: Uint8Array): Answer<string>;
  /** Sets what tasks are run on from now on; bytes of an evolve.State. */
  state(bytes: Uint8Array): Answer<null>;
  /** Runs a task (rollout.MarshalTask) and returns its results (rollout.MarshalResults). */
  evaluate(bytes: Uint8Array): Answer<Uint8Array>;
  /**
   * Runs held-out episodes: bytes of an evolve.State, null for the one before; seeds (uint64) and returns
   * (float64), both little endian.
   */
  validate(state: Uint8Array | null, seeds: Uint8Array): Answer<Uint8Array>;
  /**
   * Applies generations (rollout.MarshalFold) to the bytes of an evolve.State, null for what the last fold
   * gave; what they gave (rollout.MarshalFolded).
   */
  fold(state: Uint8Array | null, bytes: Uint8Array): Answer<Uint8Array>;
  /**
   * Sets the policy that is shown from the next episode on: its generation, bytes of an evolve.State. With a
   * seed and a sign, it is that candidate of the state, and is shown at once.
   */
  cast(gen: number, bytes: Uint8Array, seed: string | null, sign: number): Answer<null>;
  /** Plays at most so many steps of an episode, which starts from seed; a Reel as JSON. */
  show(steps: number, seed: number): Answer<string>;
}

/** What the tab and the page post to a worker. Bytes may be transferred. */
export type Order =
  | { op: "port" } // with the port over which other orders come
  | { op: "boot"; program: Program } // other orders may come before it, and wait
  | { op: "setup"; bytes: Uint8Array }
  | { op: "state"; bytes: Uint8Array }
  | { op: "task"; id: number; bytes: Uint8Array }
  | { op: "validate"; id: number; state: Uint8Array | null; seeds: Uint8Array }
  | { op: "fold"; id: number; state: Uint8Array | null; bytes: Uint8Array }
  | { op: "cast"; gen: number; bytes: Uint8Array; seed: string | null; sign: number }
  | { op: "show"; id: number; steps: number; seed: number };

/** What a worker posts back. After a crash it is of no use any more. */
export type Reply =
  | { op: "ready" }
  | { op: "engine"; engine: string }
  | { op: "result"; id: number; bytes: Uint8Array }
  | { op: "reel"; id: number; json: string }
  | { op: "failed"; id: number; error: string }
  | { op: "crash"; error: string };

/** A piece of an episode. */
export interface Reel {
  frames: Frame[];
  /** Frames in a second of watching. */
  fps: number;
}

export interface Frame {
  scene: Scene;
  /** Generation of the policy that plays. */
  gen: number;
  /** Whether it is a candidate of this tab. */
  candidate: boolean;
  /** 0 is the start of an episode. */
  step: number;
  /** Return so far. */
  return: number;
  /** Whether the episode ends here. */
  over: boolean;
}

/** A drawing in world units: flat, y up, shapes in order from the back; or, with a camera, in space, z up (envs.Scene). */
export interface Scene {
  bounds: { min_x: number; min_y: number; max_x: number; max_y: number };
  camera?: Camera;
  shapes: Shape[] | null;
}

/** Where a scene in space is seen from; angles in degrees (envs.Camera). */
export interface Camera {
  target: [number, number, number];
  distance: number;
  azimuth: number;
  elevation: number;
}

export type Role = "ground" | "body" | "accent" | "joint" | "goal" | "terrain" | "flame" | "ray";

export interface Shape {
  kind: "line" | "polygon" | "circle" | "sphere" | "capsule" | "cylinder" | "box" | "floor";
  /** x, y pairs; in space x, y, z triples. */
  points: number[];
  radius?: number;
  /** Of a line or outline; 0 is the thinnest there is. */
  width?: number;
  fill?: Role;
  stroke?: Role;
}
