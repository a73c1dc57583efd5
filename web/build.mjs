// Builds the volunteer page into dist/: the wasm programs of the tab, the bundled TypeScript, and every file with a
// hash in its name and compressed with brotli and gzip. What is up to date is taken from build/web.
//
//   node web/build.mjs programs   the wasm programs alone, and their sizes
//   node web/build.mjs            BROTLI_QUALITY=11 node web/build.mjs   for releases (a minute longer, 15 % smaller)

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import zlib from "node:zlib";

const web = path.dirname(fileURLToPath(import.meta.url));
const root = path.dirname(web);
const cache = path.join(root, "build", "web");
const dist = path.join(web, "dist");
const quality = brotliQuality(process.env.BROTLI_QUALITY ?? "9");
const run = promisify(execFile);

const types = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".webmanifest": "application/manifest+json",
};

// The volunteer page, the list of a node's runs, and the page that evonode watch serves.
const pages = ["index.html", "runs.html", "watch.html"];

class BuildError extends Error {}

main().catch((err) => {
  console.error(err instanceof BuildError ? `web/build.mjs: ${err.message}` : err);
  process.exit(1);
});

async function main() {
  const started = Date.now();
  await mkdir(cache, { recursive: true });
  const goroot = (await go("env", "GOROOT")).trim();
  const modfile = await slimModules();
  if (process.argv[2] === "programs") return programs(modfile, started);
  const modules = await moduleNames();
  const [tab, scripts, ...workers] = await Promise.all([program("tab", modfile), bundle(goroot), ...modules.map((name) => program("worker", modfile, name))]);
  const files = new Map();
  const names = { tab: add(files, "tab.wasm", tab), programs: {} };
  for (const [i, name] of modules.entries()) {
    const worlds = await readFile(path.join(root, "internal", "worlds", `${name}.wasm`));
    names.programs[name] = { compute: add(files, computeName(name, i), workers[i]), worlds: add(files, `${name}.wasm`, worlds) };
  }
  const offline = scripts.find(([name]) => name === "offline.js")[1];
  for (const [name, data] of scripts) if (data !== offline) names[path.parse(name).name + path.extname(name)] = add(files, name, data);
  names.icon = add(files, "icon.svg", await readFile(path.join(web, "src", "icon.svg")));
  const manifest = await readFile(path.join(web, "src", "manifest.webmanifest"), "utf8");

  // The build id names everything the page is made of, so equal sources give equal ids.
  const templates = await Promise.all(pages.map((page) => readFile(path.join(web, "src", page), "utf8")));
  const build = digest(JSON.stringify(names) + templates.join("") + manifest + offline).slice(0, 12);
  files.set("manifest.webmanifest", Buffer.from(render("manifest.webmanifest", manifest, names, build)));
  // The service worker has one address for all builds: browsers ask for it again, and see that it changed.
  const kept = [names.tab, names.icon, names["page.js"], names["page.css"], names["worker.js"], names["network.js"], "manifest.webmanifest"];
  const later = [names["space.js"], ...Object.values(names.programs).flatMap((files) => Object.values(files))];
  files.set("offline.js", Buffer.concat([Buffer.from(`const page=${JSON.stringify({ build, files: kept, later })};`), offline]));
  pages.forEach((page, i) => files.set(page, Buffer.from(render(page, templates[i], names, build))));

  const sizes = await write(files, build);
  report(sizes, build, Date.now() - started);
}

// roomy are packages whose small functions are not copied to where they are called: that takes 6 % of what a tab
// downloads. They move messages or write text, which is little next to what is in those.
const roomy = [
  ...["google.golang.org/protobuf/...", "github.com/libp2p/...", "github.com/multiformats/...", "github.com/ipfs/...", "github.com/mr-tron/..."],
  ...["github.com/flynn/noise", "github.com/evoswarm/evoswarm/internal/mesh", "github.com/evoswarm/evoswarm/wasm/tab"],
  ...["archive/zip", "bufio", "compress/flate", "context", "encoding/json", "fmt", "log", "log/slog", "math/big"],
  ...["net", "net/netip", "os", "reflect", "sort", "strings", "time"],
];

// program compiles one of the tab's Go programs, with the worlds that a tag says, and returns its bytes.
async function program(name, modfile, tag = "") {
  const out = path.join(cache, programFile(name, tag));
  const env = { ...process.env, GOOS: "js", GOARCH: "wasm", GOFLAGS: "" };
  await go("build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", ...roomy.map((p) => `-gcflags=${p}=-l`), `-modfile=${modfile}`, `-tags=${tag}`, "-o", out, `./wasm/${name}`, env);
  return readFile(out);
}

function programFile(name, tag) {
  return tag === "" ? `${name}.wasm` : `${name}-${tag}.wasm`;
}

// moduleNames are those of internal/worlds, for each of which there is a program of wasm/worker.
async function moduleNames() {
  return Object.keys(JSON.parse(await readFile(path.join(root, "internal", "worlds", "modules.json"), "utf8")));
}

// computeName is the file of the program for a module's worlds.
function computeName(module, i) {
  return i === 0 ? "compute.wasm" : `compute_${module}.wasm`;
}

// programs compiles the programs, and says how large they and the modules of worlds are packed.
async function programs(modfile, started) {
  const sizes = [];
  const add = async (path, data) => sizes.push({ path, size: data.length, br: (await compressed(data, `q${quality}.br`, brotli)).length });
  await add("build/web/tab.wasm", await program("tab", modfile));
  for (const name of await moduleNames()) {
    await add(`build/web/${programFile("worker", name)}`, await program("worker", modfile, name));
    await add(`internal/worlds/${name}.wasm`, await readFile(path.join(root, "internal", "worlds", `${name}.wasm`)));
  }
  report(sizes, "programs", Date.now() - started);
}

// slimModules writes the go.mod that leaves out of the tab what it never uses, and returns its name.
async function slimModules() {
  await go("run", "./wasm/slim", path.relative(root, cache));
  return path.join(cache, "tab.mod");
}

// go runs the go tool in the module's root; a last argument that is an object is its environment.
async function go(...args) {
  const env = typeof args.at(-1) === "object" ? args.pop() : process.env;
  try {
    return (await run("go", args, { cwd: root, env, maxBuffer: 64 << 20 })).stdout;
  } catch (err) {
    if (err.code === "ENOENT") throw new BuildError("go was not found; install Go 1.26 and put it on the PATH");
    throw new BuildError(`go ${args.join(" ")} failed:\n${err.stderr || err.message}`);
  }
}

// bundle compiles the page's TypeScript and style; it returns file names with their bytes.
async function bundle(goroot) {
  let esbuild;
  try {
    esbuild = await import("esbuild");
  } catch {
    throw new BuildError("the page's libraries are missing; run: npm --prefix web ci");
  }
  const common = {
    absWorkingDir: web,
    bundle: true,
    minify: true,
    target: ["es2022"],
    legalComments: "none",
    outdir: "dist",
    write: false,
    logLevel: "error",
  };
  const scripts = {
    ...common,
    entryPoints: { page: "src/main.ts", runs: "src/runs.ts", viewer: "src/viewer.ts", worker: "src/worker.ts", network: "src/network.ts", offline: "src/offline.ts" },
    format: "iife",
    alias: { "#wasm_exec": path.join(goroot, "lib", "wasm", "wasm_exec.js"), "#kernel": path.join(root, "internal", "kernel"), "#worlds": path.join(root, "internal", "worlds") },
    loader: { ".wasm": "binary" },
  };
  // What draws scenes in space is a module, which the others import where there is one to draw.
  const space = { ...common, entryPoints: { space: "src/space.ts" }, format: "esm", legalComments: "inline" };
  const results = await Promise.all([esbuild.build(scripts), esbuild.build(space)]);
  return results.flatMap((result) => result.outputFiles).map((f) => [path.basename(f.path), Buffer.from(f.contents)]);
}

// add names data by its hash and returns its address relative to the page.
function add(files, name, data) {
  const { name: stem, ext } = path.parse(name);
  const address = `assets/${stem}-${digest(data).slice(0, 10)}${ext}`;
  files.set(address, data);
  return address;
}

// render fills the names of the assets and the build id into a page.
function render(page, template, names, build) {
  const assets = { build, tab: names.tab, programs: names.programs, worker: names["worker.js"], network: names["network.js"], space: names["space.js"] };
  const values = {
    build,
    icon: names.icon,
    style: names["page.css"],
    script: names["page.js"],
    viewer: names["viewer.js"],
    runs: names["runs.js"],
    tab: names.tab,
    assets: JSON.stringify(assets),
  };
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, key) => {
    if (!(key in values)) throw new BuildError(`src/${page} names {{${key}}}, which is not known`);
    return values[key];
  });
}

// write lays files, their compressed forms and the manifest into dist, and removes what is not of this build.
async function write(files, build) {
  await mkdir(path.join(dist, "assets"), { recursive: true });
  const sizes = [];
  const keep = new Set(["manifest.json"]);
  await Promise.all(
    [...files].map(async ([address, data]) => {
      const [br, gz] = await Promise.all([
        compressed(data, `q${quality}.br`, brotli),
        compressed(data, "gz", (d) => promisify(zlib.gzip)(d, { level: 7 })),
      ]);
      const target = path.join(dist, address);
      await Promise.all([writeFile(target, data), writeFile(target + ".br", br), writeFile(target + ".gz", gz)]);
      for (const suffix of ["", ".br", ".gz"]) keep.add(address + suffix);
      sizes.push({ path: address, type: types[path.extname(address)], hash: digest(data), size: data.length, br: br.length, gz: gz.length });
    }),
  );
  sizes.sort((a, b) => (a.path < b.path ? -1 : 1));
  const manifest = { build, files: sizes.map(({ path, type, hash, size }) => ({ path, type, hash, size })) };
  await writeFile(path.join(dist, "manifest.json"), JSON.stringify(manifest, null, 1) + "\n");
  for (const name of await readdir(dist, { recursive: true, withFileTypes: true })) {
    const file = path.relative(dist, path.join(name.parentPath ?? name.path, name.name)).replaceAll(path.sep, "/");
    if (name.isFile() && !keep.has(file)) await rm(path.join(dist, file));
  }
  return sizes;
}

// compressed returns what compress makes of data, from the cache where it is there.
async function compressed(data, suffix, compress) {
  const file = path.join(cache, `${digest(data)}.${suffix}`);
  if (existsSync(file)) return readFile(file);
  const out = await compress(data);
  await writeFile(file, out);
  return out;
}

function brotli(data) {
  const c = zlib.constants;
  const params = {
    [c.BROTLI_PARAM_QUALITY]: quality,
    [c.BROTLI_PARAM_LGWIN]: 24,
    [c.BROTLI_PARAM_SIZE_HINT]: data.length,
  };
  return promisify(zlib.brotliCompress)(data, { params });
}

function brotliQuality(text) {
  const q = Number(text);
  if (!Number.isInteger(q) || q < 0 || q > 11) {
    console.error(`web/build.mjs: BROTLI_QUALITY is ${text}; use a number from 0 to 11`);
    process.exit(2);
  }
  return q;
}

function digest(data) {
  return createHash("sha256").update(data).digest("hex");
}

function report(sizes, build, ms) {
  const mb = (n) => (n / 1e6).toFixed(2).padStart(6) + " MB";
  for (const s of sizes) console.log(`${s.path.padEnd(34)} ${mb(s.size)}   br ${mb(s.br)}${s.gz ? `   gz ${mb(s.gz)}` : ""}`);
  console.log(`${build === "programs" ? build : `page ${build}`} built in ${(ms / 1000).toFixed(1)} s (brotli quality ${quality})`);
}
