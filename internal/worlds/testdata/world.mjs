// Plays a module of the World ABI (docs/spec/worlds.md) as a host would: node world.mjs FILE EPISODES STEPS VALUE..., with
// values of all parameters. After every
// step it moves the State elsewhere and destroys the old one, since nothing else may belong to an episode. Prints the
// SHA-256 of what each episode yields.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const [file, episodes, steps, ...values] = process.argv.slice(2);
const module = new WebAssembly.Module(readFileSync(file));
const imports = WebAssembly.Module.imports(module);
if (imports.length > 0) throw new Error(`it imports ${imports.map((i) => i.name)}`);
const exports = WebAssembly.Module.exports(module).map((e) => `${e.kind} ${e.name}`).sort().join(", ");
const wanted = "function abi, function act, function begin, function choose, function reserve, function revision, function set, function sizes, memory memory";
if (exports !== wanted) throw new Error(`it exports ${exports}, want ${wanted}`);

const w = new WebAssembly.Instance(module).exports;
if (w.abi() !== 2 || w.sizes(7, 0) !== 0 || w.sizes(6, 0) !== values.length || w.sizes(0, -1) !== 0) throw new Error(`abi ${w.abi()}, sizes(6, 0) ${w.sizes(6, 0)}, sizes(7, 0) ${w.sizes(7, 0)}`);
const [size, obs, , , , variants] = [0, 1, 2, 3, 4, 5].map((i) => w.sizes(i, 0));
const longest = Math.max(...Array.from({ length: variants }, (_, v) => w.sizes(2, v)));
const lengths = [size, size, 64, 8 * longest, 4 * obs, 8].map((n) => Math.ceil(n / 8) * 8);
let next = w.reserve(lengths.reduce((a, b) => a + b));
if (next === 0 || next % 16 !== 0) throw new Error(`reserve returned ${next}`);
const places = lengths.map((n) => (next += n) - n);
const [, , rngAt, actAt, obsAt, rewardAt] = places;
const view = new DataView(w.memory.buffer);
const bytes = new Uint8Array(w.memory.buffer);

for (let variant = 0; variant < variants; variant++) {
  const act = w.sizes(2, variant);
  let [at, other] = places;
  bytes.fill(0x55, at, at + size);
  w.choose(at, variant);
  values.forEach((value, param) => w.set(at, param, Number(value)));
  for (let seed = 0; seed < Number(episodes); seed++) {
    bytes.fill(0, rngAt, rngAt + 64);
    view.setBigUint64(rngAt, BigInt(seed), true);
    view.setUint32(rngAt + 48, 2, true);
    w.begin(at, rngAt, obsAt);
    const hash = createHash("sha256").update(bytes.subarray(obsAt, obsAt + 4 * obs));
    let x = seed;
    for (let i = 0, over = 0; i < Number(steps) && !over; i++) {
      for (let k = 0; k < act; k++) {
        x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
        view.setFloat64(actAt + 8 * k, i % 17 === 16 ? NaN : (x / 4294967296) * 5 - 1, true);
      }
      over = w.act(at, rngAt, actAt, obsAt, rewardAt);
      hash.update(bytes.subarray(obsAt, obsAt + 4 * obs)).update(bytes.subarray(rewardAt, rewardAt + 8)).update(Uint8Array.of(over));
      bytes.copyWithin(other, at, at + size);
      bytes.fill(0xaa, at, at + size);
      [at, other] = [other, at];
    }
    console.log(hash.digest("hex"));
  }
}
