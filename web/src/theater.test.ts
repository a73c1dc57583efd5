import assert from "node:assert/strict";
import { test } from "node:test";
import { Theater } from "./theater.ts";
import type { SpaceLoader } from "./spaceload.ts";
import type { Program } from "./programs.ts";
import type { Frame, Order, Reply, Scene } from "./types/compute";

/** A browser whose frames and worker move when the test says so. */
class Stage {
  orders: Order[] = [];
  hear: (reply: Reply) => void = () => undefined;
  private readonly callbacks: ((now: number) => void)[] = [];
  private now = 0;

  constructor() {
    const stage = this;
    const quiet = { addEventListener: () => undefined, hidden: false };
    Object.assign(globalThis, {
      Worker: class {
        set onmessage(f: (event: { data: Reply }) => void) {
          stage.hear = (data) => f({ data });
        }
        postMessage(order: Order): void {
          stage.orders.push(order);
        }
      },
      ResizeObserver: class {
        observe(): void {}
      },
      document: quiet,
      matchMedia: () => quiet,
      devicePixelRatio: 1,
      getComputedStyle: () => ({ getPropertyValue: () => "" }),
      requestAnimationFrame: (f: (now: number) => void) => this.callbacks.push(f),
    });
  }

  /** Shows one frame of the display, if the theater asked for one. */
  display(): void {
    this.now += 20;
    for (const f of this.callbacks.splice(0)) f(this.now);
  }

  /** Answers what the worker was asked to play, as gen's policy plays it: flat, or in space. */
  play(gen: number, fps = 50, camera?: Scene["camera"]): void {
    assert.equal(this.orders.at(-1)?.op, "show", "the worker is not asked to play");
    const scene: Scene = { bounds: { min_x: 0, min_y: 0, max_x: 1, max_y: 1 }, shapes: [] };
    if (camera) scene.camera = camera;
    const frames = Array.from({ length: 61 }, (_, step): Frame => ({ scene, gen, candidate: false, step, return: 0, over: false }));
    this.orders = [];
    this.hear({ op: "reel", id: 0, json: JSON.stringify({ fps, frames }) });
  }
}

/** What the painter of scenes in space was told; it is there once that is let. */
const space = {
  painted: [] as { scene: Scene; next: Scene | null; share: number }[],
  closed: 0,
  there: false,
  arrive: (): void => undefined,
  fail: (_: Error): void => undefined,
  loads: 0,
  load(): Promise<void> {
    this.loads++;
    return new Promise((resolve, reject) => {
      this.arrive = () => ((this.there = true), resolve());
      this.fail = reject;
    });
  },
  open() {
    if (!this.there) return null;
    const paint = (_ctx: unknown, scene: Scene, _w: number, _h: number, _c: unknown, next: Scene | null, share: number): void => void this.painted.push({ scene, next, share });
    return { paint, close: () => void this.closed++ };
  },
};

/** A theater with a policy of a generation that the test chooses. */
function open(height: () => number, failed = (error: string): void => assert.fail(error)): { stage: Stage; theater: Theater; shown: Frame[] } {
  const stage = new Stage();
  const shown: Frame[] = [];
  const theater = new Theater({
    canvas: { style: {}, getContext: () => ctx } as unknown as HTMLCanvasElement,
    script: "",
    program: () => Promise.resolve({} as Program),
    space: space as unknown as SpaceLoader,
    policy: () => Promise.resolve({ setup: new Uint8Array(), state: new Uint8Array(), height: height() }),
    caption: (frame) => shown.push(frame),
    failed,
  });
  return { stage, theater, shown };
}

/** A canvas on which nothing is seen. */
const ctx = { setTransform() {}, clearRect() {}, save() {}, beginPath() {}, rect() {}, clip() {}, restore() {} };

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

test("a theater shows its first frame at once, and the next ones while it plays", async () => {
  const { stage, theater, shown } = open(() => 11);
  theater.news(11);
  await settled();
  stage.play(11);
  stage.display();
  assert.deepEqual(shown.map((f) => f.step), [0], "it plays before it is told to");
  theater.play(true);
  for (let i = 0; i < 10; i++) stage.display();
  assert.ok(shown.at(-1)!.step >= 9, `after ten frames of the display it shows step ${shown.at(-1)!.step}`);
});

test("the reel of a new policy survives news that comes before its first frame is shown", async () => {
  let height = 11;
  const { stage, theater, shown } = open(() => height);
  theater.play(true);
  await settled();
  stage.play(11);
  for (height = 112; height < 120; height++) {
    theater.news(height);
    await settled();
    if (stage.orders.at(-1)?.op === "show") stage.play(height);
  }
  stage.display();
  assert.equal(shown.at(-1)!.gen, 112);
});

test("a candidate is shown at once, even if more of the policy was asked for, and then the policy again", async () => {
  const { stage, theater, shown } = open(() => 11);
  theater.play(true);
  await settled();
  theater.cut(); // while the first reel is under way
  stage.play(11);
  await settled();
  const casts = (): number => stage.orders.filter((o) => o.op === "cast").length;
  assert.equal(casts(), 1, "it did not ask again what to play");
  stage.play(12);
  stage.display();
  assert.equal(shown.at(-1)!.gen, 12);
  theater.cut();
  await settled();
  assert.equal(casts(), 1);
  stage.play(13);
  stage.display();
  assert.equal(shown.at(-1)!.gen, 13, "what was cut is still shown");
});

const camera = { target: [0, 0, 0], distance: 1, azimuth: 0, elevation: 0 } as const;

test("a scene in space is drawn when its painter is there, at the rate of the display, and the painter goes with it", async () => {
  Object.assign(space, { painted: [], closed: 0, there: false, loads: 0 });
  const { stage, theater, shown } = open(() => 11);
  theater.play(true);
  await settled();
  stage.play(11, 10, camera as unknown as Scene["camera"]); // 10 frames a second, on a display with 50
  for (let i = 0; i < 3; i++) stage.display();
  assert.equal(space.loads, 1);
  assert.deepEqual(space.painted, [], "it is drawn by nobody");
  space.arrive();
  await settled();
  assert.equal(space.painted.length, 1, "it is not drawn when the painter comes");
  space.painted = [];
  for (let i = 0; i < 10; i++) stage.display();
  assert.equal(space.painted.length, 10, "the display shows a picture twice");
  const shares = space.painted.map((p) => Math.round(100 * p.share));
  assert.deepEqual(new Set(shares), new Set([0, 20, 40, 60, 80]), "frames are not mixed evenly");
  assert.ok(space.painted.every((p) => (p.next === null) === (p.share === 0)));
  assert.equal(shown.at(-1)!.step, 3);
  theater.cut();
  await settled();
  if (stage.orders.at(-1)?.op === "show") stage.play(11);
  for (let i = 0; i < 3; i++) stage.display();
  assert.equal(space.closed, 1, "a flat scene leaves the painter open");
});

test("a painter that does not come is reported once, and the theater continues", async () => {
  Object.assign(space, { painted: [], closed: 0, there: false, loads: 0 });
  const failures: string[] = [];
  const real = setTimeout;
  globalThis.setTimeout = ((f: () => void, ms?: number) => (ms ? undefined : real(f))) as typeof setTimeout; // nobody waits for the next try
  const { stage, theater } = open(() => 11, (error) => failures.push(error));
  theater.play(true);
  await settled();
  stage.play(11, 50, camera as unknown as Scene["camera"]);
  stage.display();
  space.fail(new Error("space.js answered 404"));
  await settled();
  for (let i = 0; i < 10; i++) stage.display();
  globalThis.setTimeout = real;
  assert.deepEqual(failures, ["space.js answered 404"]);
  assert.equal(space.loads, 1);
});
