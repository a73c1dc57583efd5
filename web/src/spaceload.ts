// Loads the painter of scenes in space, which is as large as the rest of the page's scripts, when there is one to draw.

import type { Palette } from "./scene.ts";
import type { Scene } from "./types/compute";

/** Draws scenes that have a camera. */
export interface SpacePainter {
  /** Clears a canvas of width x height CSS pixels and draws the scene, or what lies between it and the next. */
  paint(ctx: CanvasRenderingContext2D, scene: Scene, width: number, height: number, colors: Palette, next: Scene | null, share: number): void;
  /** Gives back what it holds of the GPU. */
  close(): void;
}

/** What the file exports (space.ts). */
export interface SpaceChunk {
  open(): SpacePainter;
}

export class SpaceLoader {
  private chunk: SpaceChunk | null = null;
  private loading: Promise<void> | null = null;
  private tries = 0;

  /** url is relative to the page. */
  constructor(private readonly url: string) {}

  /** load fetches the file, once. After a failure it may be called again. */
  load(): Promise<void> {
    this.loading ??= (import(this.address()) as Promise<SpaceChunk>).then(
      (chunk) => void (this.chunk = chunk),
      (err: unknown) => {
        this.loading = null;
        throw err;
      },
    );
    return this.loading;
  }

  /** A browser may keep in mind that a module failed: another try has another address. */
  private address(): string {
    const url = new URL(this.url, document.baseURI);
    if (this.tries++ > 0) url.search = `try=${this.tries}`;
    return url.href;
  }

  /** open returns a new painter, or null until the file is there. */
  open(): SpacePainter | null {
    return this.chunk?.open() ?? null;
  }
}
