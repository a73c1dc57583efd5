import assert from "node:assert/strict";
import { test } from "node:test";
import { Theater } from "./theater.ts";
import type { Frame, Order, Reply } from "./types/compute";

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

  /** Answers what the worker was asked to play, as gen's policy plays it. */
  play(gen: number): void {
    assert.equal(this.orders.at(-1)?.op, "show", "the worker is not asked to play");
    const scene = { bounds: { min_x: 0, min_y: 0, max_x: 1, max_y: 1 }, shapes: [] };
    const frames = Array.from({ length: 61 }, (_, step): Frame => ({ scene, gen, step, return: 0, over: false }));
    this.orders = [];
    this.hear({ op: "reel", id: 0, json: JSON.stringify({ fps: 50, frames }) });
  }
}

/** A theater with a policy of a generation that the test chooses. */
function open(height: () => number): { stage: Stage; theater: Theater; shown: Frame[] } {
  const stage = new Stage();
  const shown: Frame[] = [];
  const theater = new Theater({
    canvas: { style: {}, getContext: () => null } as unknown as HTMLCanvasElement,
    script: "",
    module: {} as WebAssembly.Module,
    space,
    policy: () => Promise.resolve({ setup: new Uint8Array(), state: new Uint8Array(), height: height() }),
    caption: (frame) => shown.push(frame),
    failed: (error) => assert.fail(error),
  });
  return { stage, theater, shown };
}

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
