// Notices what happens to the page and to the computer: sleep, the network, the battery.

export interface Life {
  /** The page was frozen or kept aside, and is back: its connections are dead. */
  woken(): void;
  online(online: boolean): void;
  /** The page goes for good. */
  leaving(): void;
}

/** A clock that stood still this long means that the computer or the tab slept. [ms] */
const sleepGap = 15_000;

export function watchLife(life: Life): void {
  addEventListener("online", () => life.online(true));
  addEventListener("offline", () => life.online(false));
  document.addEventListener("resume", () => life.woken());
  addEventListener("pageshow", (event) => event.persisted && life.woken());
  addEventListener("pagehide", (event) => event.persisted || life.leaving());
  let last = Date.now();
  const tick = (): void => {
    const now = Date.now();
    if (now - last > sleepGap) life.woken();
    last = now;
    setTimeout(tick, 1000);
  };
  tick();
}

interface Battery extends EventTarget {
  charging: boolean;
  level: number;
}

/** Below this charge a computer that is not plugged in rests. */
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
