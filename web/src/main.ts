// Connects everything: loads the programs, waits for its turn among the browser's tabs, starts the tab and shows what it
// does.

import { merge } from "./curve.ts";
import { fetchAddresses, fetchPrograms, nodeURL, readAssets, type Addresses } from "./load.ts";
import { lockTab } from "./lock.ts";
import { fetchCurve, observe } from "./observe.ts";
import { Page } from "./page.ts";
import { cores, loadPrefs, savePrefs } from "./prefs.ts";
import { Crash, RemoteTab } from "./tab.ts";
import { Theater } from "./theater.ts";
import { watchBattery, watchLife } from "./watch.ts";
import { describe, upToDate, type Situation } from "./words.ts";
import type { Generation, HeldOut, Phase, PolicyBytes, Problem, Status } from "./types/tab";

/** How often the node is asked for its addresses, its build and its learning curve. [ms] */
const askPeriod = 60_000;

/** How often, once the run has ended: there may be another one. [ms] */
const endedPeriod = 15_000;

/** How long to wait for the node's first answer between two tries, at most. [ms] */
const retryMax = 15_000;

/** A page that fails after this long reloads itself after the delay; one that fails at once would reload forever. [ms] */
const restartAfter = 300_000;
const restartDelay = 30_000;

const assets = readAssets();
const prefs = loadPrefs();
const situation: Situation = { phase: "loading", loaded: 0, online: navigator.onLine, hold: "none", sleep: "none", status: null };
let onBattery = false;
/** Whether the volunteer wants the drawing; it stops while paused. */
let drawing = !matchMedia("(prefers-reduced-motion: reduce)").matches;
let tab: RemoteTab | null = null;
let kernel: string | undefined;
let engine: string | undefined;
let theater: Theater | null = null;
/** The learning curve as the node has it, and as this tab has it. */
let nodeCurve: HeldOut[] = [];
let ownCurve: HeldOut[] = [];
let ownHeight = -1;
/** The newest generation up to which the log's history is shown. */
let shownHeight = 0;
let reading = false;

const page = new Page({ pause, workers: setWorkers, play, log: () => void downloadLog() }, cores());

main().catch((err) => fail(err));

async function main(): Promise<void> {
  page.join(`evonode join ${nodeURL()}`);
  choose();
  if (!supported()) return enter("unsupported");
  enter("loading");
  const programs = fetchPrograms([assets.tab, assets.compute], (loaded) => tell({ loaded }));
  const addresses = firstAddresses();
  void observe(() => situation.status === null, showNode);
  const [program, worker] = await programs;
  const unlock = await lockTab(() => {
    enter("elsewhere");
    page.still("The other tab draws the policy.");
    page.pausable(false);
  });
  enter("connecting");
  page.still("The policy appears here once this tab has caught up with the run.");
  page.pausable(true);
  start(await addresses, program!, worker!, unlock);
}

/** start starts the tab's program and the drawing. */
function start(node: Addresses, program: WebAssembly.Module, worker: WebAssembly.Module, unlock: () => void): void {
  theater = new Theater({
    canvas: page.canvas,
    script: assets.worker,
    module: worker,
    policy: newestPolicy,
    caption: (frame) => page.caption(frame),
    failed: (error) => page.problem({ error: `The drawing stopped: ${error}`, hint: "Training continues. Reload the page to draw again.", fatal: false }),
  });
  const config = {
    addresses: node.addresses,
    run: pinnedRun(),
    workers: prefs.workers,
    paused: held(),
    workerScript: new URL(assets.worker, document.baseURI).href,
    workerModule: worker,
  };
  tab = new RemoteTab(assets.network, program, config, { onPhase, onStatus: show, onError: report, onEngine }, fail);
  void nameKernel(tab);
  draw(drawing && !held());
  setInterval(() => void check(), askPeriod);
  setInterval(() => situation.status?.ended && void check(), endedPeriod);
  watchLife({
    woken: (sleep) => {
      tell({ sleep });
      void check();
    },
    online: (online) => {
      tell({ online });
      if (online) void check();
    },
    leaving: (kept) => {
      if (kept) tab?.terminate(); // its connections would stay open, and others would take them for this browser's
      else tab?.order("stop");
      unlock();
    },
    returned: () => location.reload(),
  });
  void watchBattery((low) => {
    onBattery = low;
    hold();
  });
}

/** newestPolicy is what the theater plays. A tab that is still behind has only policies that nobody wants to see. */
async function newestPolicy(): Promise<PolicyBytes | null> {
  if (!tab || !situation.status || !upToDate(situation.status)) return null;
  return tab.call("policy").catch(() => null);
}

async function nameKernel(tab: RemoteTab): Promise<void> {
  kernel = await tab.call("kernel").catch(() => undefined);
  choose();
}

function onEngine(name: string): void {
  engine = name;
  choose();
}

function onPhase(phase: Phase): void {
  const inRun = phase === "running" || phase === "alone";
  tell(inRun ? { phase } : { phase, status: null });
}

/** show shows the tab's status. */
function show(status: Status): void {
  const before = situation.status;
  if (!before) {
    performance.mark("evoswarm-running");
    void askCurve(status.run);
  }
  if (status.mine > 0 && !before?.mine) performance.mark("evoswarm-first-claim");
  tell({ status, sleep: status.connected > 0 ? "none" : situation.sleep });
  page.status(status, merge(ownCurve, nodeCurve), [], true);
  void readLog(status);
  if (status.error && status.error !== before?.error) report({ error: status.error, hint: "The tab continues as well as it can.", fatal: false });
  if (status.height !== before?.height || status.ahead !== before.ahead) theater?.news(Math.max(status.height, status.ahead));
}

/** readLog fetches what the tab knows of the learning curve and is not shown yet, but not while it is catching up. */
async function readLog(status: Status): Promise<void> {
  if (!tab || reading || status.behind > 0 || status.reason === "catching-up") return;
  reading = true;
  try {
    if (status.return_height !== ownHeight) {
      ownHeight = status.return_height;
      ownCurve = await tab.call("curve");
    }
    let earlier: Generation[] = [];
    if (status.height > shownHeight + 1) earlier = await tab.call("history", shownHeight);
    shownHeight = status.height;
    page.curve(status, merge(ownCurve, nodeCurve), earlier);
  } catch {
    // The tab's program died, which is reported elsewhere.
  } finally {
    reading = false;
  }
}

/** showNode shows a run as the node sees it, in which this tab takes no part yet. */
function showNode(status: Status, curve: HeldOut[]): void {
  if (situation.status !== null || (pinnedRun() !== "" && pinnedRun() !== status.run)) return;
  page.status(status, curve, [], false);
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
      page.problem({ error: message(err), hint: "The node may be restarting. This page keeps trying.", fatal: false });
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

/** check asks the node again: whether it has a newer page, its addresses, and its learning curve. */
async function check(): Promise<void> {
  try {
    const node = await fetchAddresses();
    compare(node);
    if (situation.status?.ended && pinnedRun() === "" && node.run !== "" && node.run !== situation.status.run) location.reload(); // there is more to do
    tab?.order("redial", node.addresses);
    if (situation.status && node.run === situation.status.run) await askCurve(node.run);
  } catch {
    // The node that served the page is gone; the tab has other addresses.
    tab?.order("redial", []);
  }
}

/** askCurve fetches the node's learning curve, which starts where the run started, if it is in the same run. */
async function askCurve(run: string): Promise<void> {
  try {
    const [node, curve] = await Promise.all([fetchAddresses(), fetchCurve()]);
    if (node.run === run) nodeCurve = curve;
  } catch {
    // The tab's own points suffice.
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
  tab?.order("setWorkers", n);
  choose();
}

function play(on: boolean): void {
  drawing = on;
  draw(on);
}

/** draw plays or stops the drawing; its button says which. */
function draw(on: boolean): void {
  theater?.play(on);
  page.playing(on);
}

function held(): boolean {
  return prefs.paused || onBattery;
}

/** hold stops or restarts the work, and with it the drawing. */
function hold(): void {
  tab?.order("pause", held());
  draw(drawing && !held());
  choose();
}

/** choose shows what the volunteer, or the battery rule, has chosen. */
function choose(): void {
  page.choices(prefs.paused, prefs.workers, cores(), kernel, engine);
  tell({ hold: prefs.paused ? "paused" : onBattery ? "battery" : "none" });
}

async function downloadLog(): Promise<void> {
  if (!tab || !situation.status) return;
  try {
    const bytes = (await tab.call("log")) as Uint8Array<ArrayBuffer>;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([bytes], { type: "application/vnd.ipld.car" }));
    link.download = `${situation.status.run}.seedlog`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  } catch (err) {
    report({ error: `The log could not be saved: ${message(err)}`, hint: "Try again, or download it from the node, at api/log.", fatal: false });
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

/** fail reports what ended the work. A tab that worked for a while is unattended, so it reloads itself. */
function fail(err: unknown): void {
  const memory = err instanceof Crash && /out of memory/.test(err.output);
  let hint = memory
    ? "This computer's memory is full. Close other tabs and reload."
    : "Reload the page; your work in the log is safe. If this happens again, send the text above to the node's owner.";
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
