// Notices what happens to the page and to the computer: sleep, the network, the battery.

import type { Sleep } from "./words.ts";

export interface Life {
  /** The page or the computer slept, and is back: its connections are dead. */
  woken(from: Sleep): void;
  online(online: boolean): void;
  /** The page is going away. kept: the browser may bring it back, and stops its scripts until then. */
  leaving(kept: boolean): void;
  /** The volunteer came back to a page that the browser had kept. */
  returned(): void;
}

/** If the clocks drift apart by more than this, the computer slept. [ms] */
const sleepGap = 15_000;

/** Two clocks at one moment: the time of day, and the time since the page was opened, which stops while the computer sleeps. */
export interface Clocks {
  day: number;
  page: number;
}

/**
 * slept reports whether the computer slept between two readings. A timer that fires late is no sign of sleep:
 * both clocks advance while the page is slow or hidden.
 */
export function slept(before: Clocks, after: Clocks): boolean {
  return after.day - before.day - (after.page - before.page) > sleepGap;
}

/** watchLife reports what happens to the page. */
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

/** Reports how the battery is, now and when that changes. A browser that does not say is not heard of. */
export async function watchBattery(told: (battery: { charging: boolean; level: number }) => void): Promise<void> {
  const get = (navigator as { getBattery?(): Promise<Battery> }).getBattery;
  if (!get) return;
  const battery = await get.call(navigator).catch(() => null);
  if (!battery) return;
  const read = (): void => told({ charging: battery.charging, level: battery.level });
  battery.addEventListener("chargingchange", read);
  battery.addEventListener("levelchange", read);
  read();
}

/** Whether the person asked the browser to save data. Not all browsers say. */
export function savesData(): boolean {
  return (navigator as { connection?: { saveData?: boolean } }).connection?.saveData === true;
}
