declare module "*.css";

// Go's own glue, aliased by build.mjs to GOROOT/lib/wasm/wasm_exec.js. It sets globalThis.Go.
declare module "#wasm_exec";

// The kernels of Go programs, aliased by build.mjs to internal/kernel.
declare module "#kernel/border.mjs" {
  export function kernelBorder(
    border: Uint8Array<ArrayBuffer>,
    simd128: Uint8Array<ArrayBuffer>,
  ): Promise<{ imports: WebAssembly.ModuleImports; connect(program: WebAssembly.Instance): Promise<void> }>;
  export function kernelsOn(
    memory: WebAssembly.Memory,
    border: Uint8Array<ArrayBuffer>,
    simd128: Uint8Array<ArrayBuffer>,
  ): Promise<WebAssembly.ModuleImports>;
}
declare module "#kernel/*.wasm" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}

// The translated worlds, aliased by build.mjs to internal/worlds.
declare module "#worlds/border.mjs" {
  export function worldsBorder(
    modules: (WebAssembly.Module | null | undefined)[],
    kernels: (memory: WebAssembly.Memory) => Promise<WebAssembly.ModuleImports>,
  ): { imports: WebAssembly.ModuleImports; connect(program: WebAssembly.Instance): Promise<void> };
}
declare module "#worlds/modules.json" {
  const modules: Record<string, string[]>;
  export default modules;
}

/** Go's wasm_exec.js. */
declare class Go {
  argv: string[];
  env: Record<string, string>;
  exit: (code: number) => void;
  importObject: WebAssembly.Imports;
  run(instance: WebAssembly.Instance): Promise<void>;
}
