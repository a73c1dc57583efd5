// Lets one tab of a browser profile work at a time, and keeps the browser from freezing it.

const name = "evoswarm-compute";

/** A lease in localStorage is renewed this often, and expires after three misses. [ms] */
const renewal = 2000;

/**
 * Resolves once no other tab works, with a function that releases the lock; closing the page releases it too. waiting is
 * called if another tab has the lock.
 *
 * A Web Lock also tells the browser not to freeze the page while it is hidden. Pages from a plain http address in a
 * local network have no Web Locks; there a lease in localStorage does the same, but for the freezing.
 */
export async function lockTab(waiting: () => void): Promise<() => void> {
  if (navigator.locks) return webLock(waiting);
  return lease(waiting);
}

function webLock(waiting: () => void): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const hold = (): Promise<void> => new Promise((release) => resolve(release));
    navigator.locks
      .request(name, { ifAvailable: true }, (lock) => {
        if (lock) return hold();
        waiting();
        navigator.locks.request(name, hold).catch(reject);
        return undefined;
      })
      .catch(reject);
  });
}

interface Lease {
  holder: string;
  until: number;
}

async function lease(waiting: () => void): Promise<() => void> {
  const self = String(Math.random());
  let told = false;
  while (!take(self)) {
    if (!told) waiting();
    told = true;
    await pause(renewal);
  }
  // Two tabs may have written at once; the one that is overwritten sees it here.
  await pause(100);
  if (read()?.holder !== self) return lease(waiting);
  const renewing = setInterval(() => write(self), renewal);
  return () => {
    clearInterval(renewing);
    localStorage.removeItem(name);
  };
}

/** take writes the lease if nobody else's is valid. */
function take(self: string): boolean {
  const other = read();
  if (other && other.holder !== self && other.until > Date.now()) return false;
  write(self);
  return true;
}

function read(): Lease | null {
  try {
    return JSON.parse(localStorage.getItem(name) ?? "null") as Lease | null;
  } catch {
    return null;
  }
}

function write(self: string): void {
  localStorage.setItem(name, JSON.stringify({ holder: self, until: Date.now() + 3 * renewal } satisfies Lease));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
