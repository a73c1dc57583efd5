// A picture of the mesh as this tab knows it: you, the peers that you are connected to, others counted, and who leads.

import { short } from "./format.ts";
import { say } from "./lang.ts";
import { make, write } from "./dom.ts";
import type { Neighbor } from "./types/tab";

/** The size of the picture, in its own units. */
const width = 260;
const height = 150;

/** So many of the others are drawn as dots; more are counted. */
const dotsMax = 18;

/** What is known of the mesh. */
export interface Known {
  self: string;
  /** "" for none. */
  leader: string;
  neighbors: readonly Neighbor[];
  /** All others that are heard, neighbors included. */
  peers: number;
}

/** Where something is drawn. */
export interface Place {
  x: number;
  y: number;
}

/** What is drawn. */
export interface Layout {
  you: Place;
  neighbors: (Place & { tab: boolean })[];
  others: Place[];
  /** Others that are not drawn. */
  more: number;
  /** null: nobody leads. A leader that is no neighbor is the first of the others. */
  crown: Place | null;
}

/** What is drawn before anything is known. */
const nobody: Known = { self: "", leader: "", neighbors: [], peers: 0 };

/** layout places everything: neighbors around you, others around them. */
export function layout(k: Known): Layout {
  const you = { x: width / 2, y: height / 2 };
  const n = k.neighbors.length;
  const from = n % 2 === 0 ? Math.PI / Math.max(n, 1) : 0; // the place below you is for a word
  const neighbors = k.neighbors.map((p, i) => ({ ...around(you, i, n, 58, 40, from - Math.PI / 2), tab: p.tab }));
  const leads = k.neighbors.findIndex((p) => p.key === k.leader);
  const elsewhere = k.leader !== "" && k.leader !== k.self && leads < 0;
  const rest = Math.max(k.peers - n, elsewhere ? 1 : 0);
  const dots = Math.min(rest, dotsMax);
  const others = Array.from({ length: dots }, (_, i) => around(you, i, dots, 112, 62, -Math.PI / 3));
  let crown: Place | null = null;
  if (k.leader === k.self && k.self !== "") crown = you;
  else if (leads >= 0) crown = { x: neighbors[leads]!.x, y: neighbors[leads]!.y };
  else if (elsewhere) crown = others[0]!;
  return { you, neighbors, others, more: rest - dots, crown };
}

function around(center: Place, i: number, n: number, rx: number, ry: number, from: number): Place {
  const angle = from + (2 * Math.PI * i) / Math.max(n, 1);
  return { x: Math.round(center.x + rx * Math.cos(angle)), y: Math.round(center.y + ry * Math.sin(angle)) };
}

/** words says what the picture shows. */
export function words(k: Known): string {
  const nodes = k.neighbors.filter((p) => !p.tab).length;
  const tabs = k.neighbors.length - nodes;
  const parts = [nodes > 0 && say("mesh.nodes", { n: nodes }), tabs > 0 && say("mesh.tabs", { n: tabs })].filter((p) => p !== false);
  const who = parts.length === 2 ? say("mesh.and", { a: parts[0]!, b: parts[1]! }) : (parts[0] ?? "");
  const links = who === "" ? say("mesh.alone") : say("mesh.links", { who });
  const rest = k.peers - k.neighbors.length;
  const others = rest > 0 ? ` ${say("mesh.others", { n: rest })}` : "";
  const leader = k.leader === "" ? say("mesh.leaderless") : k.leader === k.self ? say("mesh.leads-you") : say("mesh.leads", { leader: short(k.leader).replace("…", "…\u2060") });
  return `${links}${others} ${leader}`;
}

/** MeshView draws it, where it has changed. */
export class MeshView {
  private readonly svg = svgElement("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  private readonly crown = svgElement("circle", { r: 13, class: "crown" });
  private readonly still = svgElement("g", {});
  private readonly text = make("p", "small");
  private drawn = "";
  private known: Known | null = null;

  constructor(box: HTMLElement) {
    this.crown.style.display = "none"; // until somebody is known to lead
    this.svg.append(this.still, this.crown);
    box.append(this.svg, this.text);
    this.draw(nobody);
  }

  /** Draws again, in another language. */
  retell(): void {
    this.drawn = "";
    if (this.known) this.show(this.known);
    else this.draw(nobody);
  }

  show(k: Known): void {
    this.known = k;
    write(this.text, words(k));
    this.draw(k);
  }

  private draw(k: Known): void {
    const l = layout(k);
    const drawn = JSON.stringify(l);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.crown.style.display = l.crown ? "" : "none";
    if (l.crown) this.crown.style.transform = `translate(${l.crown.x}px, ${l.crown.y}px)`; // moves by a transition
    this.still.replaceChildren(
      ...l.neighbors.map((p) => svgElement("line", { x1: l.you.x, y1: l.you.y, x2: p.x, y2: p.y, class: "link" })),
      ...l.others.map((p) => svgElement("circle", { cx: p.x, cy: p.y, r: 3, class: "other" })),
      ...l.neighbors.map((p) => (p.tab ? svgElement("circle", { cx: p.x, cy: p.y, r: 7, class: "tab" }) : svgElement("rect", { x: p.x - 7, y: p.y - 7, width: 14, height: 14, rx: 3, class: "node" }))),
      svgElement("circle", { cx: l.you.x, cy: l.you.y, r: 8, class: "you" }),
      label(l.you.x, l.you.y + 24, say("mesh.you")),
      ...(l.more > 0 ? [label(width - 22, height - 4, `+${l.more}`)] : []),
    );
  }
}

function label(x: number, y: number, text: string): SVGElement {
  const made = svgElement("text", { x, y, "text-anchor": "middle" });
  made.textContent = text;
  return made;
}

function svgElement(name: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
