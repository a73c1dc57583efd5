// Runs a Go program and reports what it wrote before it died.

import "#wasm_exec";
import { kernelBorder, kernelsOn } from "#kernel/border.mjs";
import border from "#kernel/border.wasm";
import simd128 from "#kernel/simd128.wasm";
import { worldsBorder } from "#worlds/border.mjs";

/** How many characters of a dying program's output are kept. */
const lastWordsLimit = 4000;

/** A Go program ended, which none of ours does on purpose. */
export class GoExit extends Error {
  readonly output: string;

  constructor(code: number, output: string) {
    super(firstLine(output) ?? `the program ended with status ${code}`);
    this.output = output;
  }
}

/**
 * Starts the program and resolves when it waits for the first time. ended is rejected with a GoExit when the program
 * ends. Its output goes to the console. It gets the kernels that this browser can run and, if it evaluates, the modules of
 * translated worlds, in the order of their names (moduleNames); undefined for those that it does without.
 */
export async function runGo(module: WebAssembly.Module, worlds: (WebAssembly.Module | null | undefined)[] = []): Promise<{ ended: Promise<never> }> {
  const go = new Go();
  let code = 0;
  go.exit = (c) => (code = c);
  const words = listen();
  const kernels = await kernelBorder(border, simd128);
  go.importObject["evokernel"] = kernels.imports;
  const translated = worldsBorder(worlds, (memory) => kernelsOn(memory, border, simd128));
  go.importObject["evoworlds"] = translated.imports;
  // Browsers refuse to do this synchronously for programs of more than 8 MB.
  const instance = await WebAssembly.instantiate(module, go.importObject);
  await kernels.connect(instance);
  await translated.connect(instance);
  const ended: Promise<never> = go.run(instance).then(
    () => Promise.reject(new GoExit(code, words())),
    (err) => Promise.reject(new GoExit(code || 2, `${words()}\n${err}`)),
  );
  ended.catch(() => undefined);
  return { ended };
}

/** listen keeps the newest output to the console's file descriptors. */
function listen(): () => string {
  const fs = (globalThis as unknown as { fs: { writeSync(fd: number, buf: Uint8Array): number } }).fs;
  const decoder = new TextDecoder();
  const write = fs.writeSync.bind(fs);
  let text = "";
  fs.writeSync = (fd, buf) => {
    text = (text + decoder.decode(buf, { stream: true })).slice(-lastWordsLimit);
    return write(fd, buf);
  };
  return () => text;
}

/** firstLine finds the line that says why a Go program died. */
function firstLine(output: string): string | undefined {
  const lines = output.split("\n");
  return lines.find((l) => /^(panic|fatal error|runtime error):/.test(l)) ?? lines.filter((l) => l.trim() !== "").at(-1);
}
