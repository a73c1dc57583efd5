// Shows the policy of a seed log for evonode watch, with the theater of the volunteer page but without a swarm.

import { count, real, short } from "./format.ts";
import { fetchPrograms, readAssets } from "./load.ts";
import { Theater } from "./theater.ts";
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

let episodes = 0;
let sum = 0;

main().catch(fail);

async function main(): Promise<void> {
  const assets = readAssets();
  const programs = fetchPrograms([assets.compute], () => undefined);
  const policy = await fetchPolicy();
  write("env", policy.env);
  write("strategy", policy.strategy);
  write("height", count(policy.height));
  write("goal", real(policy.threshold));
  write("run", short(policy.run));
  element("run").title = policy.run;
  const bytes = bytesOf(policy);
  const [worker] = await programs;
  const theater = new Theater({
    canvas: element<HTMLCanvasElement>("world"),
    script: assets.worker,
    module: worker!,
    policy: () => Promise.resolve(bytes),
    caption: (frame) => caption(policy, frame),
    failed: fail,
  });
  const play = element<HTMLButtonElement>("play");
  const playing = (on: boolean): void => {
    play.ariaPressed = String(on);
    play.textContent = on ? "Stop the drawing" : "Draw it live";
    say(policy.world, `The mean policy of generation ${count(policy.height)}, ${on ? "playing" : "standing still"}.`, on ? "work" : "rest");
    theater.play(on);
  };
  play.onclick = () => playing(play.ariaPressed !== "true");
  playing(!matchMedia("(prefers-reduced-motion: reduce)").matches);
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

/** caption says what is in view, and keeps count of the episodes. */
function caption(policy: Policy, frame: Frame): void {
  write("return", real(frame.return));
  write("caption", `${policy.world} · policy of generation ${count(frame.gen)} · step ${count(frame.step)} · return ${real(frame.return)}${frame.over ? ", the end" : ""}`);
  if (!frame.over) return;
  episodes++;
  sum += frame.return;
  write("episodes", count(episodes));
  write("mean", real(sum / episodes));
}

function say(headline: string, detail: string, tone: string): void {
  write("headline", headline);
  write("detail", detail);
  document.querySelector<HTMLElement>(".state")!.dataset["tone"] = tone;
  document.title = `${headline} · evonode watch`;
}

function fail(err: unknown): void {
  say("Nothing to see", "The drawing stopped.", "trouble");
  write("problem-error", err instanceof Error ? err.message : String(err));
  write("problem-hint", "Is evonode watch still running? If so, reload. An environment that is not part of this build cannot be drawn here.");
  element("problem-action").onclick = () => location.reload();
  element("problem").hidden = false;
}

function write(id: string, text: string): void {
  element(id).textContent = text;
}

function element<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}
