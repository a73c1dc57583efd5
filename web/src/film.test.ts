import assert from "node:assert/strict";
import { test } from "node:test";
import { cueOf, nameOf, type Cue } from "./film.ts";

/** film plays steps to a film that waits, an "!" after a step that ends its episode, and returns what it did. */
function film(steps: string): Cue[] {
  let stage: "waiting" | "recording" | "ending" = "waiting";
  let before: number | null = null;
  return steps.split(" ").map((text) => {
    const frame = { step: Number.parseInt(text, 10), over: text.endsWith("!") };
    const cue = cueOf(stage, before, frame);
    before = frame.step;
    if (cue === "start") stage = "recording";
    if (cue === "end") stage = "ending";
    return cue;
  });
}

test("a film is of one episode, from its start to its end", () => {
  assert.deepEqual(film("57 58 59! 0 1 2! 0 1"), ["skip", "skip", "skip", "start", "keep", "end", "skip", "skip"]);
  assert.deepEqual(film("0 1!"), ["start", "end"], "the episode begins as soon as it is asked for");
  assert.deepEqual(film("40 3 6 9!"), ["skip", "start", "keep", "end"], "a slow display skips frames, the first among them");
  assert.deepEqual(film("40 0! 0 1!"), ["skip", "skip", "start", "end"], "an episode of one step is no film");
  assert.deepEqual(film("0 1 2 0 1"), ["start", "keep", "keep", "end", "skip"], "something else was chosen to be played");
});

test("a film is called by what it shows", () => {
  assert.equal(nameOf("CartPole-v1", 12, "video/webm;codecs=vp8"), "CartPole-v1-12.webm");
  assert.equal(nameOf("CartPole-v1", 12, "video/mp4"), "CartPole-v1-12.mp4");
});
