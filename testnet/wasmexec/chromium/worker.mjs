// Runs a Go program in a Web Worker. Files, output and the end of the program are requests to command chromium.

import { kernelBorder, kernelsOn } from "./border.mjs";
import { worldsBorder } from "./worlds.mjs";

/** Files that are open, and those that the program has written, which are in memory only. */
const opened = new Map();
const written = new Map();
let nextFD = 3;

/** request waits for its answer: Go expects what it writes to be written when it goes on. */
function request(method, url, body) {
  const r = new XMLHttpRequest();
  r.open(method, url, false);
  r.responseType = "arraybuffer";
  r.send(body);
  return r.status === 200 ? new Uint8Array(r.response) : null;
}

function failure(code) {
  return Object.assign(new Error(code), { code });
}

function statOf(data) {
  const stat = { dev: 0, ino: 0, mode: 0o100444, nlink: 1, uid: 0, gid: 0, rdev: 0, size: data.length, blksize: 4096, blocks: 0 };
  return { ...stat, atimeMs: 0, mtimeMs: 0, ctimeMs: 0, isDirectory: () => false };
}

/** find returns a file; null: there is none. */
function find(path) {
  const file = written.get(path);
  if (file) return file;
  const data = request("GET", `file?path=${encodeURIComponent(path)}`);
  return data && { data };
}

const constants = { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_TRUNC: 512, O_APPEND: 1024, O_EXCL: 128, O_DIRECTORY: 65536 };
const refuse = (...args) => args.at(-1)(failure("ENOSYS"));
globalThis.fs = {
  constants,
  writeSync(fd, data) {
    request("POST", `write?fd=${fd}`, data);
    return data.length;
  },
  write(fd, buffer, offset, length, position, done) {
    const part = buffer.slice(offset, offset + length);
    const open = opened.get(fd);
    if (!open) return done(null, this.writeSync(fd, part));
    const { file } = open;
    const at = position ?? open.at;
    const data = new Uint8Array(Math.max(file.data.length, at + length));
    data.set(file.data);
    data.set(part, at);
    file.data = data;
    open.at = at + length;
    done(null, length);
  },
  open(path, flags, _mode, done) {
    let file = find(path);
    if (flags & constants.O_CREAT) {
      if (file === null || flags & constants.O_TRUNC) file = { data: new Uint8Array() };
      written.set(path, file);
    }
    if (file === null) return done(failure("ENOENT"));
    opened.set(nextFD, { file, at: 0 });
    done(null, nextFD++);
  },
  read(fd, buffer, offset, length, position, done) {
    const open = opened.get(fd);
    const at = position ?? open.at;
    const part = open.file.data.subarray(at, at + length);
    buffer.set(part, offset);
    open.at = at + part.length;
    done(null, part.length);
  },
  fstat(fd, done) {
    const open = opened.get(fd);
    open ? done(null, statOf(open.file.data)) : done(failure("EBADF"));
  },
  stat(path, done) {
    const file = find(path);
    file === null ? done(failure("ENOENT")) : done(null, statOf(file.data));
  },
  unlink(path, done) {
    written.delete(path) ? done(null) : done(failure("ENOENT"));
  },
  lstat(path, done) {
    this.stat(path, done);
  },
  close(fd, done) {
    opened.delete(fd);
    done(null);
  },
  fsync: (_fd, done) => done(null),
};
for (const name of ["chmod", "chown", "fchmod", "fchown", "ftruncate", "lchown", "link", "mkdir", "readdir", "readlink", "rename", "rmdir", "symlink", "truncate", "utimes"]) {
  globalThis.fs[name] = refuse;
}
globalThis.process = {
  getuid: () => -1,
  getgid: () => -1,
  geteuid: () => -1,
  getegid: () => -1,
  getgroups: () => [],
  pid: -1,
  ppid: -1,
  umask: () => 0,
  cwd: () => "/",
  chdir: () => {},
};

async function bytes(name) {
  return (await fetch(name)).arrayBuffer();
}

async function run() {
  await import("./wasm_exec.js");
  const go = new Go();
  let status = 0;
  go.argv = new TextDecoder().decode(request("GET", "args")).split("\0");
  go.exit = (code) => (status = code);
  const kernels = [await bytes("border.wasm"), await bytes("simd128.wasm")];
  const border = await kernelBorder(...kernels);
  go.importObject.evokernel = border.imports;
  const worlds = worldsBorder(await Promise.all(Object.keys(await (await fetch("modules.json")).json()).map((name) => bytes(`${name}.wasm`))), (memory) => kernelsOn(memory, ...kernels));
  go.importObject.evoworlds = worlds.imports;
  const { instance } = await WebAssembly.instantiateStreaming(fetch("program.wasm"), go.importObject);
  await border.connect(instance);
  await worlds.connect(instance);
  await go.run(instance);
  request("POST", `end?status=${status}`, "");
  self.close(); // what a timer of the program still wants is of no use
}

run().catch((err) => request("POST", "end?status=2", `${err.stack ?? err}\n`));
