declare module "*.css";

// Go's own glue, aliased by build.mjs to GOROOT/lib/wasm/wasm_exec.js. It sets globalThis.Go.
declare module "#wasm_exec";

/** Go's wasm_exec.js. */
declare class Go {
  argv: string[];
  env: Record<string, string>;
  exit: (code: number) => void;
  importObject: WebAssembly.Imports;
  run(instance: WebAssembly.Instance): Promise<void>;
}
