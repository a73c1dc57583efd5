// Runs the tests of the page's pure parts (src/*.test.ts) under node's test runner.

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const web = path.dirname(fileURLToPath(import.meta.url));
const out = path.join(path.dirname(web), "build", "web", "test");
const tests = readdirSync(path.join(web, "src")).filter((f) => f.endsWith(".test.ts"));

await esbuild.build({
  absWorkingDir: web,
  entryPoints: tests.map((f) => `src/${f}`),
  bundle: true,
  platform: "node",
  alias: { "#worlds": path.join(path.dirname(web), "internal", "worlds") },
  format: "esm",
  outExtension: { ".js": ".mjs" },
  outdir: out,
  logLevel: "error",
});
const files = tests.map((f) => path.join(out, f.replace(/\.ts$/, ".mjs")));
process.exit(spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1);
