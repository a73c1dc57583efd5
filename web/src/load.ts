// Fetches what the page needs: programs, and the addresses of the node.

import type { ProgramFiles } from "./programs.ts";

/** The names of the assets, written into the page by build.mjs. */
export interface Assets {
  build: string;
  tab: string;
  /** What computes worlds, by the names of modules. */
  programs: Record<string, ProgramFiles>;
  worker: string;
  network: string;
  space: string;
}

/** What a node serves at /addresses.json. */
export interface Addresses {
  version: number;
  build: string;
  run: string;
  env: string;
  addresses: string[];
  /** The runs of a node that has several, each with its own addresses; above is the one that it advises. */
  runs?: { run: string; env: string; addresses: string[] }[];
}

/** addressesOf are those at which a node works on a run, "" for the one that it advises. None: it does not have that run. */
export function addressesOf(node: Addresses, run: string): string[] {
  if (run === "" || node.runs === undefined) return node.addresses;
  return node.runs.find((r) => r.run === run)?.addresses ?? [];
}

/** envOf is the environment of a run at a node, "" for the one that it advises. */
export function envOf(node: Addresses, run: string): string {
  return node.runs?.find((r) => r.run === run)?.env ?? node.env;
}

/** worksOn reports whether a node works on a run. */
export function worksOn(node: Addresses, run: string): boolean {
  return node.run === run || node.runs?.some((r) => r.run === run) === true;
}

const addressesVersion = 1;

export function readAssets(): Assets {
  return JSON.parse(document.getElementById("assets")!.textContent!) as Assets;
}

/** Address of the node: the one that served the page, or the one that ?node=URL names on a page from elsewhere. */
export function nodeURL(): URL {
  const named = new URLSearchParams(location.search).get("node");
  return new URL(named ?? ".", document.baseURI);
}

/** Fetches the node's addresses; run is the one that is wanted, "" for the one that the node advises to a newcomer. */
export async function fetchAddresses(run: string): Promise<Addresses> {
  const url = new URL(run === "" ? "addresses.json" : `addresses.json?run=${run}`, nodeURL());
  const response = await fetch(url, { cache: "no-store" });
  if (!response.ok) throw new Error(`${url} answered ${response.status} ${response.statusText}`);
  const answer = (await response.json()) as Addresses;
  if (answer.version !== addressesVersion) {
    throw new Error(`${url} has version ${answer.version}; this page reads version ${addressesVersion}`);
  }
  return answer;
}

/** How often progress is told, in parts of all: what is told crosses to the page's thread. */
const progressStep = 0.01;

/**
 * Fetches and compiles a program; progress receives the fraction that is here, 0 to 1. kept: the service worker has it.
 * The volunteer page has its worker call it, since a page does not answer while the browser puts a program together.
 */
export async function fetchProgram(url: string, kept: boolean, progress: (fraction: number) => void): Promise<WebAssembly.Module> {
  if (kept) { // browsers keep what they made of an answer that nobody touched
    const module = await WebAssembly.compileStreaming(fetch(url));
    progress(1);
    return module;
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const total = Number(response.headers.get("Content-Length") ?? 0);
  const packed = response.headers.has("Content-Encoding");
  let seen = 0;
  let told = 0;
  // Bytes are counted unpacked; a packed program is about five times as long as its Content-Length.
  const length = packed ? 5.3 * total : total;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, out) {
      seen += chunk.byteLength;
      const now = length > 0 ? Math.min(0.99, seen / length) : 0;
      if (now >= told + progressStep) progress((told = now));
      out.enqueue(chunk);
    },
  });
  const body = response.body!.pipeThrough(counter as unknown as ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>);
  const counted = new Response(body, { headers: { "Content-Type": "application/wasm" } });
  const module = await WebAssembly.compileStreaming(counted);
  progress(1);
  return module;
}
