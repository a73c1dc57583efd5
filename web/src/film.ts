// A film of what the page draws: one episode, recorded by the browser as it plays.

import { save } from "./dom.ts";
import { real } from "./format.ts";
import { say } from "./lang.ts";
import { aspect, paint, readPalette, type Palette } from "./scene.ts";
import type { SpaceLoader, SpacePainter } from "./spaceload.ts";
import type { Frame } from "./types/compute";

/** A film is so wide, whatever the screen is, so that it plays anywhere. [px] */
const width = 640;

/** Episodes longer than this are cut: a film is kept in memory until it is saved. [ms] */
const longest = 120_000;

/** The end of an episode stays in view for so long. [ms] */
const ending = 700;

/** Formats by preference: what costs least to record goes first. */
const formats = ["video/webm;codecs=vp8", "video/webm", "video/mp4"];

/** How the film stands: waits for an episode to begin, records it, or shows its end. */
type Stage = "idle" | "waiting" | "recording" | "ending";

/** What a film does next, when a frame is shown. */
export type Cue = "skip" | "start" | "keep" | "end";

/** cueOf says what a frame is to a film; before is the step of the frame before, null for none. */
export function cueOf(stage: Stage, before: number | null, frame: Pick<Frame, "step" | "over">): Cue {
  const another = before === null ? frame.step === 0 : frame.step <= before; // episode begins
  if (stage === "waiting") return another && !frame.over ? "start" : "skip";
  if (stage !== "recording") return "skip";
  return another || frame.over ? "end" : "keep";
}

/** canFilm reports whether this browser records what a canvas shows. */
export function canFilm(): boolean {
  return typeof MediaRecorder === "function" && typeof HTMLCanvasElement.prototype.captureStream === "function" && formatOf() !== undefined;
}

function formatOf(): string | undefined {
  return formats.find((format) => MediaRecorder.isTypeSupported(format));
}

/** nameOf is what a film is called as a file. */
export function nameOf(world: string, height: number, format: string): string {
  return `${world}-${height}.${format.startsWith("video/mp4") ? "mp4" : "webm"}`;
}

export class Film {
  private stage: Stage = "idle";
  private before: number | null = null;
  private readonly canvas = document.createElement("canvas");
  private recorder: MediaRecorder | null = null;
  private palette: Palette | null = null;
  private ground = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private painter: SpacePainter | null = null;

  /** told gets what the page says, and whether a film is being made. */
  constructor(
    private readonly world: () => string,
    private readonly space: SpaceLoader,
    private readonly told: (words: string, filming: boolean) => void,
  ) {
    document.addEventListener("visibilitychange", () => {
      if (this.recorder?.state === "recording" && document.hidden) this.recorder.pause(); // nothing is drawn meanwhile
      else if (this.recorder?.state === "paused" && !document.hidden) this.recorder.resume();
    });
  }

  /** Whether a film is being made: what it shows is to be played to its end. */
  get busy(): boolean {
    return this.stage !== "idle";
  }

  /** toggle films the next episode, or gives that up; it reports whether one is to begin. */
  toggle(): boolean {
    if (this.stage === "idle") {
      this.stage = "waiting";
      this.before = null;
      this.told(say("film.waiting"), true);
      return true;
    }
    const { recorder } = this;
    this.reset("");
    if (recorder && recorder.state !== "inactive") recorder.stop();
    return false;
  }

  /** take records a frame that is shown, if it is of the film. */
  take(frame: Frame): void {
    const cue = cueOf(this.stage, this.before, frame);
    this.before = frame.step;
    if (cue === "skip") return;
    if (frame.scene.camera && !(this.painter ??= this.space.open())) return; // nothing is drawn yet
    if (cue === "start") this.start(frame);
    if (cue !== "end" || frame.over) this.draw(frame);
    if (cue !== "end") return;
    this.stage = "ending";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.recorder?.stop(), ending);
  }

  private start(frame: Frame): void {
    const style = getComputedStyle(document.querySelector(".world")!);
    this.palette = readPalette(document.querySelector(".world")!);
    this.ground = style.backgroundColor;
    this.canvas.width = width;
    this.canvas.height = 2 * Math.round(width / aspect(frame.scene.bounds) / 2); // recorders want even numbers
    this.draw(frame);
    const format = formatOf()!;
    const recorder = new MediaRecorder(this.canvas.captureStream(), { mimeType: format, videoBitsPerSecond: 2_500_000 });
    const pieces: Blob[] = [];
    recorder.ondataavailable = ({ data }) => pieces.push(data);
    recorder.onerror = () => this.recorder === recorder && this.reset(say("film.failed"));
    recorder.onstop = () => {
      if (this.recorder !== recorder) return; // it was given up
      save(new Blob(pieces, { type: format }), nameOf(this.world(), frame.gen, format));
      this.reset(say("film.saved"));
    };
    recorder.start(1000);
    this.recorder = recorder;
    this.stage = "recording";
    this.told(say("film.recording"), true);
    this.timer = setTimeout(() => recorder.state !== "inactive" && recorder.stop(), longest);
  }

  private draw(frame: Frame): void {
    const ctx = this.canvas.getContext("2d")!;
    const { height } = this.canvas;
    if (frame.scene.camera) this.painter!.paint(ctx, frame.scene, width, height, this.palette!, null, 0);
    else paint(ctx, frame.scene, width, height, this.palette!);
    ctx.globalCompositeOperation = "destination-over"; // a film has no holes
    ctx.fillStyle = this.ground;
    ctx.fillRect(0, 0, width, height);
    ctx.globalCompositeOperation = "source-over";
    ctx.fillStyle = this.palette!.body;
    ctx.font = "14px sans-serif";
    ctx.textBaseline = "top";
    ctx.fillText(say("film.title", { world: this.world(), height: frame.gen, return: real(frame.return) }), 12, 10);
  }

  private reset(words: string): void {
    clearTimeout(this.timer);
    this.stage = "idle";
    this.recorder = null;
    this.painter?.close();
    this.painter = null;
    this.told(words, false);
  }
}
