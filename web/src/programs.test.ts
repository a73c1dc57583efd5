import assert from "node:assert/strict";
import test from "node:test";

import { moduleNames, moduleOf, Programs } from "./programs.ts";

test("every environment has the program of its module, and somebody's own the first", () => {
  assert.equal(moduleNames[0], "worlds");
  for (const [env, module] of [["CartPole-v1", "worlds"], ["BipedalWalker-v3", "worlds"], ["HalfCheetah-v5", "mujoco"], ["Humanoid-v5", "mujoco"], ["Tumble-v0", "worlds"]] as const) {
    assert.equal(moduleOf(env), module);
  }
});

/** The smallest module of WebAssembly. */
const empty = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);

const files = { worlds: { compute: "a", worlds: "b" }, mujoco: { compute: "c", worlds: "d" } };

/** host answers fetches from a list of files that are damaged or not there; it returns what was fetched. */
function host(broken: () => string[]): string[] {
  const fetched: string[] = [];
  globalThis.fetch = (url) => {
    fetched.push(String(url));
    const body = new ReadableStream({ start: (c) => (c.enqueue(empty), c.close()) });
    return Promise.resolve(broken().includes(String(url)) ? new Response("", { status: 404 }) : new Response(body, { headers: { "Content-Type": "application/wasm" } }));
  };
  return fetched;
}

test("a page fetches the pair that its run needs, once", async () => {
  const fetched = host(() => []);
  const programs = new Programs(files, false);
  const [one, two] = await Promise.all([programs.of("Ant-v5"), programs.of("Hopper-v5")]);
  assert.equal(one, two);
  assert.equal(one.name, "mujoco");
  assert.ok(one.compute instanceof WebAssembly.Module && one.worlds instanceof WebAssembly.Module);
  assert.deepEqual(fetched.sort(), ["c", "d"]);
});

test("worlds that do not come are played in Go, and a program that does not come is fetched again", async () => {
  let broken = ["b"];
  host(() => broken);
  const programs = new Programs(files, false);
  assert.equal((await programs.of("CartPole-v1")).worlds, null);
  broken = ["c"];
  await assert.rejects(programs.of("Ant-v5"), /c answered 404/);
  broken = [];
  assert.equal((await programs.of("Ant-v5")).name, "mujoco");
  await assert.rejects(new Programs({}, false).of("Ant-v5"), /reload it/);
});
