// What a node says of its runs, in words, for people who choose one.

import { count, real } from "./format.ts";
import { say } from "./lang.ts";
import type { Reason } from "./types/tab";
import { sentence, type Tone, type Words } from "./words.ts";

/** What a node serves at /api/runs (httpd.RunList). */
export interface RunList {
  version: number;
  build: string;
  /** The run that a page without a choice takes part in, "" if there is none. */
  advised: string;
  runs: RunInfo[];
}

/** A run in it: as in Status. */
export interface RunInfo {
  run: string;
  env: string;
  env_params?: Record<string, unknown>;
  strategy: string;
  height: number;
  return: number | null;
  threshold: number | null;
  peers: number;
  evals_per_s: number;
  state: string;
  reason: Reason | "";
  why: string;
  ended: boolean;
  solved: boolean;
  error?: string;
}

/** What the page shows of a run. */
export interface Row {
  /** The run's id, "" if it does not start. */
  run: string;
  title: string;
  tone: Tone;
  state: string;
  /** Why a person might choose it, "" for nothing. */
  tag: string;
  figures: [name: string, value: string][];
  /** What the link says, "" where nobody can take part. */
  action: string;
}

export const listVersion = 1;

/** describeRuns says what there is to choose from, and by which rule a page without a choice chooses. */
export function describeRuns(list: RunList): Words & { choice: boolean } {
  const open = list.runs.filter((r) => r.run !== "" && !r.ended && !r.error);
  const headline = say("list.runs", { n: list.runs.length });
  if (list.runs.every((r) => r.run === "")) return { tone: "wait", headline: say("list.none"), detail: say("list.none-detail"), choice: false };
  if (open.length === 0) return { tone: "rest", headline, detail: say("list.over"), choice: false };
  if (list.runs.length === 1) return { tone: "work", headline, detail: say("list.one"), choice: false };
  return { tone: "work", headline, detail: say("list.choice"), choice: true };
}

/** rowsOf says what is worth knowing of each run. */
export function rowsOf(list: RunList): Row[] {
  return list.runs.map((r) => ({
    run: r.run,
    title: titleOf(r),
    ...stateOf(r),
    tag: r.run !== "" && r.run === list.advised && list.runs.length > 1 && !r.ended ? say("list.advised") : "",
    figures:
      r.run === ""
        ? []
        : [
            [say("dt.return"), r.threshold === null ? real(r.return) : say("list.goal", { return: real(r.return), goal: real(r.threshold) })],
            [say("dt.generation"), count(r.height)],
            [say("dt.peers"), count(r.peers)],
            [say("dt.rate"), real(r.evals_per_s)],
            [say("list.strategy"), r.strategy],
          ],
    action: r.run === "" ? "" : say(r.ended ? "list.look" : "list.help"),
  }));
}

/** titleOf names the environment, with what is set in it. */
function titleOf(r: RunInfo): string {
  if (r.env === "") return say("list.nameless");
  const params = Object.entries(r.env_params ?? {}).map(([name, value]) => `${name}=${String(value)}`);
  return params.length === 0 ? r.env : say("list.with", { world: r.env, params: params.join(", ") });
}

function stateOf(r: RunInfo): { tone: Tone; state: string } {
  if (r.run === "" || r.error) return { tone: "trouble", state: troubleOf(r) };
  if (r.ended) return { tone: "rest", state: r.state === "solved" ? say("list.solved") : say("list.ended", { why: sentence(r.why) }) };
  if (r.state === "catching-up") return { tone: "wait", state: say("list.catching-up") };
  return { tone: "work", state: say(r.solved ? "list.good" : "list.training") };
}

/** troubleOf says what is wrong with a run, by the reason that the node gives to programs. */
function troubleOf(r: RunInfo): string {
  if (r.reason === "disk-full") return say("list.full");
  if (r.reason === "disk-failed") return say("list.unwritten");
  return r.run === "" ? say("list.down") : say("list.trouble", { why: sentence(r.error ?? r.why) });
}
