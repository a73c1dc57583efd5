#!/usr/bin/env -S node --stack-size=8192
// Runs a js/wasm program of this module in Node with its kernels and the translated worlds, as Go's go_js_wasm_exec does without:
//
//   GOOS=js GOARCH=wasm go test -exec="$PWD/testnet/wasmexec/node.mjs" ./internal/kernel
//
// EVOSWARM_WORLDS names another folder with the modules of worlds than internal/worlds.

import { execFileSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { kernelBorder, kernelsOn } from "../../internal/kernel/border.mjs";
import { worldsBorder } from "../../internal/worlds/border.mjs";

const [program] = process.argv.slice(2);
if (program === undefined) {
  console.error("usage: testnet/wasmexec/node.mjs PROGRAM [ARGUMENT ...]");
  process.exit(2);
}
const require = createRequire(import.meta.url);
Object.assign(globalThis, { require, fs, path });
globalThis.crypto ??= crypto.webcrypto;
const goroot = execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim();
require(path.join(goroot, "lib", "wasm", "wasm_exec.js"));

const kernels = new URL("../../internal/kernel/", import.meta.url);
const go = new Go();
go.argv = process.argv.slice(2);
go.env = { TMPDIR: os.tmpdir(), ...process.env };
go.exit = process.exit;
const kernelFiles = ["border.wasm", "simd128.wasm"].map((name) => fs.readFileSync(new URL(name, kernels)));
const border = await kernelBorder(...kernelFiles);
go.importObject.evokernel = border.imports;
const folder = fileURLToPath(new URL("../../internal/worlds", import.meta.url));
const modules = Object.keys(JSON.parse(fs.readFileSync(path.join(folder, "modules.json"), "utf8")));
const files = modules.map((name) => fs.readFileSync(path.join(process.env.EVOSWARM_WORLDS ?? folder, `${name}.wasm`)));
const worlds = worldsBorder(files, (memory) => kernelsOn(memory, ...kernelFiles));
go.importObject.evoworlds = worlds.imports;
const { instance } = await WebAssembly.instantiate(fs.readFileSync(program), go.importObject);
await border.connect(instance);
await worlds.connect(instance);
process.on("exit", (code) => {
  // Node exits when no event is pending; Go then prints where its goroutines wait.
  if (code === 0 && !go.exited) {
    go._pendingEvent = { id: 0 };
    go._resume();
  }
});
await go.run(instance);
