// Shows the policy of a seed log for evonode watch, with the theater of the volunteer page but without a swarm.

import { element, write } from "./dom.ts";
import { message } from "./message.ts";
import { count, real, short } from "./format.ts";
import { say } from "./lang.ts";
import { readAssets } from "./load.ts";
import { Programs } from "./programs.ts";
import { SpaceLoader } from "./spaceload.ts";
import { Theater } from "./theater.ts";
import { languageSwitch } from "./translate.ts";
import type { Frame } from "./types/compute";
import type { PolicyBytes } from "./types/tab";

/** What evonode watch serves at /policy.json (web.Policy). */
interface Policy {
  world: string;
  env: string;
  strategy: string;
  run: string;
  height: number;
  head: string;
  threshold: number;
  /** The fields of PolicyBytes that are bytes, in base64. */
  bytes: Record<string, string>;
}

let policy: Policy | null = null;
let shown: Frame | null = null;
let playing = false;
let episodes = 0;
let sum = 0;

languageSwitch(element("language"), tell);
main().catch(fail);

async function main(): Promise<void> {
  const assets = readAssets();
  const programs = new Programs(assets.programs, false);
  const { env } = (policy = await fetchPolicy());
  const bytes = bytesOf(policy);
  const theater = new Theater({
    canvas: element<HTMLCanvasElement>("world"),
    script: assets.worker,
    program: () => programs.of(env),
    space: new SpaceLoader(assets.space),
    policy: () => Promise.resolve(bytes),
    caption: see,
    failed: fail,
  });
  const play = (on: boolean): void => {
    playing = on;
    tell();
    theater.play(on);
  };
  element("play").onclick = () => play(!playing);
  play(!matchMedia("(prefers-reduced-motion: reduce)").matches);
}

/** tell writes everything that is known. */
function tell(): void {
  if (!policy) return;
  set("env", policy.env);
  set("strategy", policy.strategy);
  set("height", count(policy.height));
  set("goal", real(policy.threshold));
  set("run", short(policy.run));
  element("run").title = policy.run;
  element("play").ariaPressed = String(playing);
  set("play", say(playing ? "button.still" : "button.play"));
  head(policy.world, say(playing ? "watch.playing" : "watch.still", { height: policy.height }), playing ? "work" : "rest");
  if (shown) caption(policy, shown);
}

async function fetchPolicy(): Promise<Policy> {
  const response = await fetch("policy.json", { cache: "no-store" });
  if (!response.ok) throw new Error(`policy.json: ${response.status} ${response.statusText}`);
  return (await response.json()) as Policy;
}

/** bytesOf turns the policy into what the theater takes. */
function bytesOf(policy: Policy): PolicyBytes {
  const decoded = Object.entries(policy.bytes).map(([name, text]) => [name, Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]);
  return { ...(Object.fromEntries(decoded) as Pick<PolicyBytes, "setup" | "state">), height: policy.height };
}

/** see keeps count of the episodes. */
function see(frame: Frame): void {
  shown = frame;
  if (frame.over) {
    episodes++;
    sum += frame.return;
  }
  caption(policy!, frame);
}

/** caption says what is in view. */
function caption(policy: Policy, frame: Frame): void {
  const over = frame.over ? say("caption.over") : "";
  set("return", real(frame.return));
  set("caption", say("watch.caption", { world: policy.world, height: frame.gen, step: frame.step, return: real(frame.return), over }));
  if (episodes === 0) return;
  set("episodes", count(episodes));
  set("mean", real(sum / episodes));
}

function head(headline: string, detail: string, tone: string): void {
  set("headline", headline);
  set("detail", detail);
  document.querySelector<HTMLElement>(".state")!.dataset["tone"] = tone;
  document.title = `${headline} · evonode watch`;
}

function fail(err: unknown): void {
  head(say("watch.nothing"), say("watch.stopped"), "trouble");
  set("problem-error", message(err));
  set("problem-hint", say("watch.hint"));
  element("problem-action").onclick = () => location.reload();
  element("problem").hidden = false;
}

function set(id: string, text: string): void {
  write(element(id), text);
}
