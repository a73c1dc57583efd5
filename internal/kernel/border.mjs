// Gives a js/wasm program of this module its kernels: see _gen/simd128/main.go.

/**
 * Prepares the imports of a Go program. border and simd128 are the bytes of border.wasm and simd128.wasm. imports goes
 * into the program's import object as evokernel; connect is to be awaited with the program's instance before it runs.
 * Where the host has no SIMD128, the program finds no kernel and computes without.
 */
export async function kernelBorder(border, simd128) {
  const { instance } = await WebAssembly.instantiate(border);
  return {
    imports: instance.exports,
    async connect(program) {
      if (!WebAssembly.validate(simd128)) return;
      await WebAssembly.instantiate(simd128, { go: program.exports, border: instance.exports });
    },
  };
}

/**
 * Instantiates the kernels on another memory and returns them by name, for code that calls them without a border. The
 * names are those of border.wasm's exports, which are in the order of its table.
 */
export async function kernelsOn(memory, border, simd128) {
  const { instance } = await WebAssembly.instantiate(border);
  await WebAssembly.instantiate(simd128, { go: { mem: memory }, border: instance.exports });
  const names = Object.keys(instance.exports).filter((name) => name !== "table");
  return Object.fromEntries(names.map((name, i) => [name, instance.exports.table.get(i)]));
}
