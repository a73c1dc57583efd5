// Fetches what the page needs: the programs, and the addresses of the node.

/** The names of the assets, written into the page by build.mjs. */
export interface Assets {
  build: string;
  tab: string;
  compute: string;
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
 * Fetches and compiles the programs; progress receives the fraction that is here, 0 to 1. kept: the service worker has them.
 * The volunteer page has its worker call it, since a page does not answer while the browser puts a program together.
 */
export async function fetchPrograms(
  urls: string[],
  kept: boolean,
  progress: (fraction: number) => void,
): Promise<WebAssembly.Module[]> {
  const parts = urls.map(() => 0);
  let told = 0;
  const tell = (i: number, fraction: number): void => {
    parts[i] = fraction;
    // The first program is by far the larger one.
    const all = 0.9 * parts[0]! + (0.1 * parts.slice(1).reduce((a, b) => a + b, 0)) / Math.max(1, parts.length - 1);
    if (all < told + progressStep) return;
    told = all;
    progress(all);
  };
  return Promise.all(urls.map((url, i) => fetchProgram(url, kept, (f) => tell(i, f))));
}

async function fetchProgram(url: string, kept: boolean, progress: (fraction: number) => void): Promise<WebAssembly.Module> {
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
  // Bytes are counted unpacked; a packed program is about five times as long as its Content-Length.
  const length = packed ? 5.3 * total : total;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, out) {
      seen += chunk.byteLength;
      if (length > 0) progress(Math.min(0.99, seen / length));
      out.enqueue(chunk);
    },
  });
  const body = response.body!.pipeThrough(counter as unknown as ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>);
  const counted = new Response(body, { headers: { "Content-Type": "application/wasm" } });
  const module = await WebAssembly.compileStreaming(counted);
  progress(1);
  return module;
}
