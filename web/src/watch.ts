// Notices what happens to the page and to the computer: sleep, the network, the battery.

import type { Sleep } from "./words.ts";

export interface Life {
  /** The page or the computer slept, and is back: its connections are dead. */
  woken(from: Sleep): void;
  online(online: boolean): void;
  /** The page is going away; kept: the browser may bring it back, and stops its scripts meanwhile. */
  leaving(kept: boolean): void;
  /** The person went back to the page, which the browser had kept. */
  returned(): void;
}

/** A clock that gained this much on the other means that the computer slept. [ms] */
const sleepGap = 15_000;

/** Two readings of time: that of the day, and that since the page was opened, which stands still while the computer sleeps. */
export interface Clocks {
  day: number;
  page: number;
}

/** slept finds out from two readings whether the computer slept between them. However late a timer fires, that alone is
 * none: both clocks go on while the page is slow or hidden. */
export function slept(before: Clocks, after: Clocks): boolean {
  return after.day - before.day - (after.page - before.page) > sleepGap;
}

export function watchLife(life: Life): void {
  addEventListener("online", () => life.online(true));
  addEventListener("offline", () => life.online(false));
  document.addEventListener("resume", () => life.woken("frozen"));
  addEventListener("pageshow", (event) => event.persisted && life.returned());
  addEventListener("pagehide", (event) => life.leaving(event.persisted));
  const read = (): Clocks => ({ day: Date.now(), page: performance.now() });
  let last = read();
  setInterval(() => {
    const now = read();
    if (slept(last, now)) life.woken("slept");
    last = now;
  }, 1000);
}

interface Battery extends EventTarget {
  charging: boolean;
  level: number;
}

/** Below this charge a computer that is not plugged in is spared. */
const lowLevel = 0.3;

/** Tells whether the battery is to be spared. Browsers that do not say are taken to be plugged in. */
export async function watchBattery(low: (low: boolean) => void): Promise<void> {
  const get = (navigator as { getBattery?(): Promise<Battery> }).getBattery;
  if (!get) return;
  const battery = await get.call(navigator).catch(() => null);
  if (!battery) return;
  let said = false;
  const look = (): void => {
    const now = !battery.charging && battery.level < lowLevel;
    if (now !== said) low((said = now));
  };
  battery.addEventListener("chargingchange", look);
  battery.addEventListener("levelchange", look);
  look();
}
