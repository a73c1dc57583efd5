// What the volunteer chose, saved in this browser: whether it is paused, how many workers to lend, and when.

import type { Asked } from "./manners.ts";

const key = "evoswarm-prefs";

export interface Prefs extends Asked {
  workers: number;
}

/** Cores that the browser reports. */
export function cores(): number {
  return Math.max(1, navigator.hardwareConcurrency || 2);
}

/** One core is left to the volunteer. */
export function defaultWorkers(): number {
  return Math.max(1, cores() - 1);
}

export function loadPrefs(): Prefs {
  const prefs: Prefs = { paused: false, workers: defaultWorkers(), plugged: false, thrifty: false, hours: null };
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<Prefs>;
    if (typeof kept.paused === "boolean") prefs.paused = kept.paused;
    prefs.plugged = kept.plugged === true;
    prefs.thrifty = kept.thrifty === true;
    if (Array.isArray(kept.hours) && kept.hours.length === 2 && kept.hours.every((m) => Number.isInteger(m) && m >= 0 && m < 1440)) prefs.hours = kept.hours;
    if (typeof kept.workers === "number") prefs.workers = Math.min(cores(), Math.max(1, Math.round(kept.workers)));
  } catch {
    // Storage is forbidden or holds something else: the defaults apply.
  }
  return prefs;
}

export function savePrefs(prefs: Prefs): void {
  try {
    localStorage.setItem(key, JSON.stringify(prefs));
  } catch {
    // The choice then lasts as long as the page.
  }
}
