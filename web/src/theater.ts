// Shows the environment with the newest policy: a separate worker plays episodes, this draws them in real time.

import { message } from "./message.ts";
import { aspect, paint, readPalette, type Palette } from "./scene.ts";
import type { Program } from "./programs.ts";
import type { SpaceLoader, SpacePainter } from "./spaceload.ts";
import type { Frame, Order, Reel, Reply, Scene } from "./types/compute";
import type { CandidateBytes, PolicyBytes } from "./types/tab";

/** How many steps are asked for at once, and how few left ask for more. */
const reelSteps = 60;
const lowTide = 30;

/** How many generations the policy in view may be behind; wasm/worker has the same number. */
const maxLag = 100;

/** How long the end of an episode stays in view, in frames. */
const endFrames = 25;

/** When the painter of scenes in space is fetched again, if that failed. [ms] */
const retry = 10_000;

export interface TheaterConfig {
  canvas: HTMLCanvasElement;
  script: string;
  /** What computes the environment; asked for once there is a policy. */
  program(): Promise<Program>;
  /** Has the painter of scenes in space. */
  space: SpaceLoader;
  /** The newest policy, or the candidate to show; null while there is none. Asked for before each episode. */
  policy(): Promise<PolicyBytes | CandidateBytes | null>;
  /** Receives the frame in view. */
  caption(frame: Frame): void;
  failed(error: string): void;
}

export class Theater {
  private readonly worker: Worker;
  private frames: Frame[] = [];
  private fps = 50;
  private asking = false;
  private booted = false;
  private setup = "";
  private playing = false;
  /** Whether the episode in view is of a policy too old to be worth watching to its end. */
  private outdated = false;
  /** Whether what was asked for is not wanted any more. */
  private cutting = false;
  /** The frame that the browser was asked for; 0: none. */
  private requested = 0;
  private shown: Frame | null = null;
  private colors: Palette | null = null;
  /** Of the canvas, as far as it was measured: to ask the document at each frame has it lay out everything each time. */
  private size: { width: number; height: number } | null = null;
  private shape = "";
  private next = 0;
  private rest = 0;
  /** Draws scenes in space, once there is one. */
  private painter: SpacePainter | null = null;
  private loading = false;

  constructor(private readonly config: TheaterConfig) {
    this.worker = new Worker(config.script, { name: "theater" });
    this.worker.onmessage = ({ data }: MessageEvent<Reply>) => this.hear(data);
    this.worker.onerror = (event) => config.failed(event.message);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
    new ResizeObserver(() => this.repaint()).observe(config.canvas);
    document.addEventListener("visibilitychange", () => this.wake());
  }

  /** Plays or stops; while stopped, nothing is computed. */
  play(on: boolean): void {
    this.playing = on;
    this.wake();
  }

  /** Reports a policy of this generation. An episode of a policy far behind it is not worth watching to its end. */
  news(gen: number): void {
    const last = this.frames.at(-1) ?? this.shown;
    if (last !== null && gen > last.gen + maxLag && !this.asking) {
      this.frames = [];
      this.rest = 0;
      this.outdated = true;
    }
    this.wake();
  }

  /** Ends the episode in view: something else is to be shown. */
  cut(): void {
    this.frames = [];
    this.rest = 0;
    this.outdated = true;
    this.cutting = this.asking;
    this.wake();
  }

  /** Continues showing. */
  wake(): void {
    this.next = 0;
    void this.ask();
    this.request();
  }

  private post(order: Order): void {
    this.worker.postMessage(order);
  }

  private hear(reply: Reply): void {
    switch (reply.op) {
      case "reel": {
        const reel = JSON.parse(reply.json) as Reel;
        this.fps = reel.fps;
        if (this.cutting) this.outdated = true;
        else this.frames.push(...reel.frames);
        this.asking = this.cutting = false;
        if (this.shown === null && this.frames.length > 0) this.show(this.frames.shift()!);
        this.wake();
        return;
      }
      case "failed":
      case "crash":
        this.config.failed(reply.error);
    }
  }

  /** ask requests more frames when few are left, with the newest policy at the start of an episode. Nothing is played that nobody sees. */
  private async ask(): Promise<void> {
    if (this.asking || this.frames.length > lowTide) return;
    if (this.shown !== null && (!this.playing || document.hidden)) return;
    this.asking = true;
    const last = this.frames.at(-1) ?? this.shown;
    if ((last === null || last.over || this.outdated) && !(await this.rehearse())) {
      this.asking = this.cutting = false;
      return;
    }
    this.post({ op: "show", id: 0, steps: reelSteps, seed: Math.floor(Math.random() * 2 ** 52) });
  }

  /** rehearse gives the worker the newest policy and reports whether there is one. */
  private async rehearse(): Promise<boolean> {
    const policy = await this.config.policy();
    if (policy === null || !(await this.boot())) return false;
    const setup = new TextDecoder().decode(policy.setup);
    if (setup !== this.setup) this.post({ op: "setup", bytes: policy.setup });
    this.setup = setup;
    const candidate = "seed" in policy ? policy : { seed: null, sign: 1 };
    this.post({ op: "cast", gen: policy.height, bytes: policy.state, seed: candidate.seed, sign: candidate.sign });
    this.outdated = false;
    return true;
  }

  /** boot gives the worker its program, once, and reports whether it has one. */
  private async boot(): Promise<boolean> {
    if (this.booted) return true;
    try {
      this.post({ op: "boot", program: await this.config.program() });
      this.booted = true;
    } catch (err) {
      this.config.failed(message(err)); // the next policy tries again
    }
    return this.booted;
  }

  /** request asks the browser for the next frame, once. */
  private request(): void {
    if (this.requested !== 0 || !this.playing || document.hidden) return;
    this.requested = requestAnimationFrame((now) => {
      this.requested = 0;
      this.tick(now);
    });
  }

  /** tick shows the frame that is due. Frames are skipped where a display is slower than the environment. */
  private tick(now: number): void {
    if (!this.playing || document.hidden) return;
    const period = 1000 / this.fps;
    if (this.next !== 0 && now < this.next - 2) {
      this.glide(1 - (this.next - now) / period);
      return this.request();
    }
    if (this.next === 0 || now - this.next > 500) this.next = now;
    let frame: Frame | undefined;
    while (this.next <= now + 2) {
      this.next += period;
      if (this.rest > 0) {
        this.rest--;
        continue;
      }
      const f = this.frames.shift();
      if (f === undefined) break;
      frame = f;
      if (f.over) this.rest = endFrames;
    }
    if (frame) this.show(frame);
    void this.ask();
    if (this.frames.length > 0 || this.rest > 0) this.request();
  }

  private show(frame: Frame): void {
    this.shown = frame;
    this.config.caption(frame); // which shows the canvas, so that it has a size
    this.draw();
  }

  /** glide draws what lies between two frames in space, where a display is faster than the environment: share 0 is the one in view. */
  private glide(share: number): void {
    const [shown, next] = [this.shown, this.frames[0]];
    if (!this.painter || !shown?.scene.camera || next?.step !== shown.step + 1) return;
    this.draw(next.scene, Math.min(Math.max(share, 0), 1));
  }

  private repaint(): void {
    this.colors = null;
    this.size = null;
    this.draw();
  }

  /** draw draws the frame in view, or what lies between it and the next. */
  private draw(next: Scene | null = null, share = 0): void {
    if (this.shown === null) return;
    const { scene } = this.shown;
    const canvas = this.config.canvas;
    this.colors ??= readPalette(canvas);
    const shape = String(aspect(scene.bounds));
    if (shape !== this.shape) {
      canvas.style.aspectRatio = this.shape = shape;
      this.size = null;
    }
    const ratio = devicePixelRatio || 1;
    const { width, height } = (this.size ??= { width: canvas.clientWidth, height: canvas.clientHeight });
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const ctx = canvas.getContext("2d");
    if (!ctx) return;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (scene.camera) this.openPainter()?.paint(ctx, scene, width, height, this.colors, next, share);
    else {
      this.closePainter();
      paint(ctx, scene, width, height, this.colors);
    }
  }

  /** openPainter returns the painter of scenes in space, or null while it is being fetched; what is in view is drawn when it is there. */
  private openPainter(): SpacePainter | null {
    this.painter ??= this.config.space.open();
    if (!this.painter && !this.loading) void this.loadPainter();
    return this.painter;
  }

  private async loadPainter(): Promise<void> {
    this.loading = true;
    try {
      await this.config.space.load();
    } catch (err) {
      this.config.failed(message(err));
      await new Promise((resolve) => setTimeout(resolve, retry));
    }
    this.loading = false;
    this.draw();
  }

  private closePainter(): void {
    this.painter?.close();
    this.painter = null;
  }
}
