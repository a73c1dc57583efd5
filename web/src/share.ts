// The invitation: a link, a QR code of it, and a frame for a blog.

import { encode } from "uqr";

/** How many nodes an invitation names at most, for a page that no node serves. */
const peersMax = 4;

/** invitation is the link that leads others to this run: the page's address, the run, and the nodes that its own link named. */
export function invitation(page: string, run: string, peers: readonly string[]): string {
  const url = new URL(page);
  const node = url.searchParams.get("node");
  url.search = node === null ? "" : `?${new URLSearchParams({ node })}`;
  const parts = [run, ...peers.slice(0, peersMax).map((peer) => `peer=${encodeURIComponent(peer)}`)].filter((part) => part !== "");
  url.hash = parts.join("&");
  return url.href;
}

/** onlyHere reports whether a link leads to the computer itself, so that nobody else can follow it. */
export function onlyHere(link: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|.*\.localhost)$/.test(new URL(link).hostname);
}

/** frame is what an author puts into a page of his own. */
export function frame(link: string): string {
  const url = new URL(link);
  url.searchParams.set("embed", "");
  const address = url.href.replace("embed=", "embed").replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<iframe src="${address}" title="evoswarm" width="640" height="480" style="border:0"></iframe>`;
}

/** modules are the dark squares of the QR code of a text, row by row, with the margin that readers need. */
export function modules(text: string): boolean[][] {
  return encode(text, { ecc: "M", border: 4 }).data;
}

/** drawCode draws a QR code dark on light, as large as the canvas is. Readers want it so in dark mode, too. */
export function drawCode(canvas: HTMLCanvasElement, text: string): void {
  const rows = modules(text);
  const ratio = devicePixelRatio || 1;
  canvas.style.width = "";
  const scale = Math.max(1, Math.floor((canvas.clientWidth * ratio) / rows.length)); // whole pixels, so that edges are sharp
  canvas.width = canvas.height = scale * rows.length;
  canvas.style.width = `${canvas.width / ratio}px`;
  const ctx = canvas.getContext("2d");
  if (!ctx) return;
  ctx.fillStyle = "#fff";
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.fillStyle = "#000";
  rows.forEach((row, y) => row.forEach((dark, x) => dark && ctx.fillRect(x * scale, y * scale, scale, scale)));
}
