// Joins everything: loads the programs, waits for its turn among the browser's tabs, starts the tab and shows what it
// does.

import { installClock } from "./timers.ts";
import { fetchAddresses, fetchPrograms, nodeURL, readAssets, type Addresses } from "./load.ts";
import { lockTab } from "./lock.ts";
import { GoExit, runGo } from "./go.ts";
import { Page } from "./page.ts";
import { cores, loadPrefs, savePrefs } from "./prefs.ts";
import { Theater } from "./theater.ts";
import { watchBattery, watchLife } from "./watch.ts";
import { describe, type Situation } from "./words.ts";
import type { Look, Problem, Status, Tab } from "./types/tab";

/** How often the node is asked for its addresses and its build. [ms] */
const askPeriod = 60_000;

/** How long to wait for the node's first answer between two tries, at most. [ms] */
const retryMax = 15_000;

/** A page that fails after this long reloads itself after the delay; one that fails at once would do so for ever. [ms] */
const restartAfter = 300_000;
const restartDelay = 30_000;

const assets = readAssets();
const prefs = loadPrefs();
const situation: Situation = { phase: "loading", loaded: 0, online: navigator.onLine, hold: "none", woken: false, status: null };
let onBattery = false;
let tab: Tab | null = null;
let theater: Theater | null = null;
let looks: Look[] = [];
let looksHeight = -1;

const page = new Page({ pause, workers: setWorkers, play: (on) => theater?.play(on), log: () => void downloadLog() }, cores());

main().catch((err) => fail(err));

async function main(): Promise<void> {
  page.join(`evonode join ${nodeURL()}`);
  choose();
  if (!supported()) return enter("unsupported");
  enter("loading");
  const programs = fetchPrograms([assets.tab, assets.compute], (loaded) => tell({ loaded }));
  const addresses = firstAddresses();
  const [program, worker] = await programs;
  await lockTab(() => enter("elsewhere"));
  enter("connecting");
  installClock(assets.clock);
  const { ended } = await runGo(program!);
  ended.catch(fail);
  start(await addresses, worker!);
}

/** start hands over to the tab's program. */
function start(node: Addresses, worker: WebAssembly.Module): void {
  if (!globalThis.evoswarm) throw new Error("the tab's program did not start");
  theater = new Theater({
    canvas: page.canvas,
    script: assets.worker,
    module: worker,
    policy: () => tab?.policy() ?? null,
    caption: (frame) => page.caption(frame),
    failed: (error) => page.problem({ error: `The drawing stopped: ${error}`, hint: "The training goes on. Reload the page to draw again.", fatal: false }),
  });
  tab = globalThis.evoswarm.start({
    addresses: node.addresses,
    run: pinnedRun(),
    workers: prefs.workers,
    paused: held(),
    workerScript: assets.worker,
    workerModule: worker,
    onPhase: (phase) => phase === "running" || tell({ phase, status: null }),
    onStatus: show,
    onError: report,
  });
  choose();
  page.playing(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  setInterval(() => void check(), askPeriod);
  watchLife({
    woken: () => {
      tell({ woken: true });
      void check();
    },
    online: (online) => {
      tell({ online });
      if (online) void check();
    },
    leaving: () => void tab?.stop(),
  });
  void watchBattery((low) => {
    onBattery = low;
    hold();
  });
}

/** show takes in what the tab says of itself. */
function show(status: Status): void {
  if (situation.phase !== "running") performance.mark("evoswarm-running");
  if (status.mine > 0 && !situation.status?.mine) performance.mark("evoswarm-first-claim");
  const moved = status.height !== situation.status?.height;
  const ill = status.error && status.error !== situation.status?.error;
  tell({ phase: "running", status, woken: situation.woken && status.connected === 0 });
  if (tab && status.return_height !== looksHeight) {
    looks = tab.curve();
    looksHeight = status.return_height;
  }
  page.status(status, looks, (after) => tab?.history(after) ?? []);
  if (ill) report({ error: status.error!, hint: "The tab goes on as well as it can.", fatal: false });
  if (moved) theater?.news(status.height);
}

/** firstAddresses asks the node until it answers. */
async function firstAddresses(): Promise<Addresses> {
  for (let wait = 500; ; wait = Math.min(2 * wait, retryMax)) {
    try {
      const node = await fetchAddresses();
      page.solved();
      compare(node);
      return node;
    } catch (err) {
      page.problem({ error: message(err), hint: "The node may be restarting; this page tries again by itself.", fatal: false });
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

/** check asks the node again: whether it has a newer page, and where it is now. */
async function check(): Promise<void> {
  try {
    const node = await fetchAddresses();
    compare(node);
    tab?.redial(node.addresses);
  } catch {
    // The node that served the page is gone; the tab has other addresses.
    tab?.redial([]);
  }
}

/** compare notices that the node serves another build of this page. A node without a page has no build. */
function compare(node: Addresses): void {
  if (node.build !== "" && node.build !== assets.build) page.stale();
}

/** pinnedRun is the run that a join link names (#bafy...). */
function pinnedRun(): string {
  return location.hash.slice(1);
}

function pause(paused: boolean): void {
  prefs.paused = paused;
  savePrefs(prefs);
  hold();
}

function setWorkers(n: number): void {
  prefs.workers = n;
  savePrefs(prefs);
  tab?.setWorkers(n);
  choose();
}

function held(): boolean {
  return prefs.paused || onBattery;
}

function hold(): void {
  tab?.pause(held());
  choose();
}

/** choose shows what the person, or the battery rule, has chosen. */
function choose(): void {
  page.choices(prefs.paused, prefs.workers, cores(), tab?.kernel());
  tell({ hold: prefs.paused ? "paused" : onBattery ? "battery" : "none" });
}

async function downloadLog(): Promise<void> {
  if (!tab || !situation.status) return;
  try {
    const bytes = (await tab.log()) as Uint8Array<ArrayBuffer>;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([bytes], { type: "application/vnd.ipld.car" }));
    link.download = `${situation.status.run}.seedlog`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } catch (err) {
    report({ error: `The log could not be written: ${message(err)}`, hint: "Try again, or download it from the node at api/log.", fatal: false });
  }
}

function enter(phase: Situation["phase"]): void {
  tell({ phase });
}

function tell(change: Partial<Situation>): void {
  Object.assign(situation, change);
  page.words(describe(situation));
}

function report(problem: Problem): void {
  if (problem.fatal) {
    tab = null; // its program has ended
    enter("failed");
  }
  page.problem(problem);
}

/** fail is for what ends the work. A tab that worked for a while is left alone by its person, so it starts over itself. */
function fail(err: unknown): void {
  const memory = err instanceof GoExit && /out of memory/.test(err.output);
  let hint = memory
    ? "This computer's memory is full. Close other tabs and reload."
    : "Reload the page; what is in the log is kept. If it happens again, tell the node's owner, with the text above.";
  if (performance.now() > restartAfter) {
    hint += " The page reloads by itself in half a minute.";
    setTimeout(() => location.reload(), restartDelay);
  }
  report({ error: message(err), hint, fatal: true });
}

function message(err: unknown): string {
  return err instanceof Error ? err.message : String(err);
}

function supported(): boolean {
  return typeof WebAssembly === "object" && typeof Worker === "function" && typeof indexedDB === "object" && typeof TransformStream === "function";
}
