// Says what happened while the page was hidden.

import { real } from "./format.ts";
import { say } from "./lang.ts";
import type { Status } from "./types/tab";
import type { Sleep } from "./words.ts";

/** Absences shorter than this are not worth a word. [ms] */
const least = 60_000;

/** A browser that gives a hidden page less than this part of the former speed is said to do so. */
const slowed = 0.5;

/** What is known of a moment. */
export interface Moment {
  at: number;
  status: Status;
}

/** away says what the tab did between two moments; "" for nothing that is worth a word. slept is what it woke up from. */
export function away(from: Moment, to: Moment, slept: Sleep): string {
  const seconds = (to.at - from.at) / 1000;
  if (1000 * seconds < least || from.status.run !== to.status.run) return "";
  const done = Math.max(0, to.status.own.computed - from.status.own.computed);
  const generations = Math.max(0, to.status.height - from.status.height);
  const span = seconds < 5400 ? say("away.minutes", { n: Math.round(seconds / 60) }) : say("away.hours", { n: Math.round(seconds / 3600) });
  const parts = [say("away.did", { span, did: say("away.evaluations", { n: done }), generations: say("away.generations", { n: generations }) })];
  if (to.status.solved_height > 0 && from.status.solved_height === 0) parts.push(say("away.solved"));
  if (from.status.return !== null && to.status.return !== null && to.status.return > from.status.return) {
    parts.push(say("away.return", { from: real(from.status.return), to: real(to.status.return) }));
  }
  if (slept === "frozen") parts.push(say("away.frozen"));
  else if (slept === "slept") parts.push(say("away.slept"));
  else if (from.status.mine_evals_per_s > 0 && done / seconds < slowed * from.status.mine_evals_per_s && to.status.state === "training") parts.push(say("away.slowed"));
  return parts.join(" ");
}
