// Gives a js/wasm program of this module the translated worlds: modules that have memories of their own. It copies what a
// candidate needs from one memory to the other.

/** What connect answers; internal/worlds/engine_js_wasm.go has the same list. */
const state = { connected: 0, notProvided: 1, noVectors: 2, damaged: 3, otherBuild: 4, noMemory: 5 };

/** The version of the ABI (docs/spec/worlds.md), and how many integers and reals describe an evaluation. */
const abi = 2;
const integers = 22;
const reals = 4;

/** What a module starts with, in units of 64 KiB. */
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
 * Prepares the imports of a Go program. modules are the files of its modules of worlds, as bytes or compiled, in the order of
 * Modules in internal/worlds/table.go: undefined for one that the program does without, null for one that could not be
 * fetched or compiled. kernels instantiates the kernels on a memory. imports goes into the program's import object as
 * evoworlds; connect is to be awaited with the program's instance before it runs. Where worlds cannot run, the program
 * learns why and plays them in Go.
 */
export function worldsBorder(modules = [], kernels) {
  const all = modules.map((file) => new Module(file));
  return {
    imports: {
      connect: (module, build, table, n) => all[module]?.connect(build, table, n) ?? state.notProvided,
      play: (module, ...args) => all[module].play(...args),
    },
    async connect(program) {
      for (const module of all) await module.start(program.exports.mem, kernels);
    },
  };
}

/** A module of worlds, with a memory of its own. */
class Module {
  constructor(file) {
    this.file = file;
    this.found = file === null ? state.damaged : state.notProvided;
    this.broken = false;
  }

  /** start instantiates the module for a program whose memory is go. */
  async start(go, kernels) {
    this.go = go;
    if (this.file === undefined) return;
    if (!WebAssembly.validate(vectors)) return void (this.found = state.noVectors);
    if (this.file === null) return;
    try {
      this.memory = new WebAssembly.Memory({ initial: pages });
      const made = await WebAssembly.instantiate(this.file, { env: { memory: this.memory }, kernel: await kernels(this.memory) });
      this.worlds = (made.instance ?? made).exports;
      this.found = state.connected;
    } catch (err) {
      this.found = err instanceof RangeError ? state.noMemory : state.damaged;
    }
  }

  /** refresh makes new views of memories that have grown. */
  refresh() {
    if (this.goWords?.buffer !== this.go.buffer) this.goWords = new Int32Array(this.go.buffer);
    if (this.words?.buffer !== this.memory.buffer) this.words = new Int32Array(this.memory.buffer);
  }

  connect(build, table, n) {
    if (this.found !== state.connected) return this.found;
    try {
      if (this.worlds.abi() !== abi || this.worlds.build() !== build) return (this.found = state.otherBuild);
      this.refresh();
      copy(this.words, this.worlds.table() >>> 2, this.goWords, table >>> 2, n);
    } catch {
      return (this.found = state.damaged);
    }
    return this.found;
  }

  play(world, variant, numbers, real, seeds, seedsLen, bounds, boundsLen, params, paramsLen, returns, sums, sumsLen, theta, thetaLen, norm, normLen) {
    if (this.broken) return -2;
    const size = 2 * (integers + reals + 2 * seedsLen + boundsLen + paramsLen + sumsLen) + thetaLen + normLen;
    try {
      const address = this.worlds.reserve(4 * size);
      if (address === 0) return -1;
      this.refresh();
      let at = address >>> 2;
      const put = (from, n) => {
        copy(this.words, at, this.goWords, from >>> 2, n);
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
      const steps = this.worlds.play(world, variant, address, seedsLen, boundsLen, paramsLen, sumsLen, thetaLen, normLen);
      if (steps < 0) return steps;
      this.refresh();
      copy(this.goWords, returns >>> 2, this.words, results, 2 * seedsLen);
      copy(this.goWords, sums >>> 2, this.words, results + 2 * seedsLen, 2 * sumsLen);
      return steps;
    } catch (err) {
      if (!(err instanceof WebAssembly.RuntimeError)) throw err;
      this.broken = true; // its stack is not what it was
      return -2;
    }
  }
}

function copy(to, at, from, start, n) {
  if (n > few) return void to.set(from.subarray(start, start + n), at);
  for (let i = 0; i < n; i++) to[at + i] = from[start + i];
}
