// What the volunteer chose, saved in this browser: whether it is paused, and how many workers to lend.

const key = "evoswarm-prefs";

export interface Prefs {
  paused: boolean;
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
  const prefs: Prefs = { paused: false, workers: defaultWorkers() };
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<Prefs>;
    if (typeof kept.paused === "boolean") prefs.paused = kept.paused;
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
