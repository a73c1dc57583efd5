// Gives a js/wasm program of this module the translated worlds: worlds.wasm, which has a memory of its own, and copies
// what a candidate needs from one memory to the other.

/** What connect answers; internal/worlds/engine_js_wasm.go has the same list. */
const state = { connected: 0, notProvided: 1, noVectors: 2, damaged: 3, otherBuild: 4, noMemory: 5 };

/** The version of the ABI (docs/spec/worlds.md), and how many integers and reals describe an evaluation. */
const abi = 2;
const integers = 22;
const reals = 4;

/** What worlds.wasm starts with, in units of 64 KiB. */
const pages = 64;

/** A module with one function that returns a vector: it is valid where SIMD128 is. */
const vectors = new Uint8Array([
  ...[0, 97, 115, 109, 1, 0, 0, 0], // header
  ...[1, 5, 1, 96, 0, 1, 123], // type () -> v128
  ...[3, 2, 1, 0], // function
  ...[10, 22, 1, 20, 0, 253, 12, ...Array(16).fill(0), 11], // v128.const 0
]);

/** Copies so few words faster than TypedArray.set does. */
const few = 64;

/**
 * Prepares the imports of a Go program. bytes are those of worlds.wasm, or nothing for a program that evaluates nothing;
 * kernels instantiates the kernels on a memory. imports goes into the program's import object as evoworlds; connect is to
 * be awaited with the program's instance before it runs. Where the worlds cannot run, the program learns why and plays in
 * Go.
 */
export function worldsBorder(bytes, kernels) {
  let found = state.notProvided;
  let broken = false;
  let worlds, memory, go, goWords, words;

  /** refresh makes new views of memories that have grown. */
  function refresh() {
    if (goWords?.buffer !== go.buffer) goWords = new Int32Array(go.buffer);
    if (words?.buffer !== memory.buffer) words = new Int32Array(memory.buffer);
  }

  function copy(to, at, from, start, n) {
    if (n > few) return void to.set(from.subarray(start, start + n), at);
    for (let i = 0; i < n; i++) to[at + i] = from[start + i];
  }

  const imports = {
    connect(build, table, n) {
      if (found !== state.connected) return found;
      try {
        if (worlds.abi() !== abi || worlds.build() !== build) return (found = state.otherBuild);
        refresh();
        copy(words, worlds.table() >>> 2, goWords, table >>> 2, n);
      } catch {
        return (found = state.damaged);
      }
      return found;
    },
    play(world, variant, numbers, real, seeds, seedsLen, bounds, boundsLen, params, paramsLen, returns, sums, sumsLen, theta, thetaLen, norm, normLen) {
      if (broken) return -2;
      const size = 2 * (integers + reals + 2 * seedsLen + boundsLen + paramsLen + sumsLen) + thetaLen + normLen;
      try {
        const address = worlds.reserve(4 * size);
        if (address === 0) return -1;
        refresh();
        let at = address >>> 2;
        const put = (from, n) => {
          copy(words, at, goWords, from >>> 2, n);
          at += n;
        };
        put(numbers, 2 * integers);
        put(real, 2 * reals);
        put(seeds, 2 * seedsLen);
        put(bounds, 2 * boundsLen);
        put(params, 2 * paramsLen);
        const results = at;
        at += 2 * seedsLen;
        put(sums, 2 * sumsLen);
        put(theta, thetaLen);
        put(norm, normLen);
        const steps = worlds.play(world, variant, address, seedsLen, boundsLen, paramsLen, sumsLen, thetaLen, normLen);
        if (steps < 0) return steps;
        refresh();
        copy(goWords, returns >>> 2, words, results, 2 * seedsLen);
        copy(goWords, sums >>> 2, words, results + 2 * seedsLen, 2 * sumsLen);
        return steps;
      } catch (err) {
        if (!(err instanceof WebAssembly.RuntimeError)) throw err;
        broken = true; // its stack is not what it was
        return -2;
      }
    },
  };
  return {
    imports,
    async connect(program) {
      go = program.exports.mem;
      if (bytes === undefined) return;
      if (!WebAssembly.validate(vectors)) return void (found = state.noVectors);
      try {
        memory = new WebAssembly.Memory({ initial: pages });
        worlds = (await WebAssembly.instantiate(bytes, { env: { memory }, kernel: await kernels(memory) })).instance.exports;
        found = state.connected;
      } catch (err) {
        found = err instanceof RangeError ? state.noMemory : state.damaged;
      }
    },
  };
}
