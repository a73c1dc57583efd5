// Makes the timers of this page independent of whether it is seen.

/** Ids of the worker's timers start here, so that they differ from the browser's own. */
const firstID = 2 ** 40;

/**
 * Replaces setTimeout and clearTimeout by ones that a worker keeps. Go's runtime sleeps with them: with the browser's
 * own a hidden tab would miss heartbeats, since its timers fire once a second at best.
 */
export function installClock(script: string): void {
  const clock = new Worker(script);
  const waiting = new Map<number, () => void>();
  const clearOwn = globalThis.clearTimeout;
  let next = firstID;
  clock.onmessage = ({ data }: MessageEvent<number>) => {
    const run = waiting.get(data);
    waiting.delete(data);
    run?.();
  };
  const set = (handler: TimerHandler, ms = 0, ...args: unknown[]): number => {
    if (typeof handler !== "function") throw new TypeError("setTimeout takes a function here");
    const id = next++;
    waiting.set(id, () => handler(...args));
    clock.postMessage({ id, ms });
    return id;
  };
  const clear = (id?: number): void => {
    if (id === undefined || id < firstID) return clearOwn(id);
    if (waiting.delete(id)) clock.postMessage({ id, ms: null });
  };
  Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
}
