// Connects everything: loads the programs, waits for its turn among the browser's tabs, starts the tab and
// shows what it does.

import { away, type Moment } from "./away.ts";
import { Saver } from "./saver.ts";
import { invitation } from "./share.ts";
import { LogCheck } from "./checker.ts";
import { merge } from "./curve.ts";
import { element } from "./dom.ts";
import { saveTabFile, type TabFile } from "./download.ts";
import { say } from "./lang.ts";
import { Live } from "./live.ts";
import { holdOf, type Asked, type Present } from "./manners.ts";
import { addressesOf, envOf, fetchAddresses, nodeURL, readAssets, worksOn, type Addresses } from "./load.ts";
import { readLink } from "./link.ts";
import { lockTab } from "./lock.ts";
import { message } from "./message.ts";
import { canFilm, Film } from "./film.ts";
import { fetchCurve, observe, takenIn } from "./observe.ts";
import { Page } from "./page.ts";
import { cores, loadPrefs, savePrefs } from "./prefs.ts";
import { moduleOf } from "./programs.ts";
import { Crash, Loader, RemoteTab, type Loaded } from "./tab.ts";
import { SpaceLoader } from "./spaceload.ts";
import { Theater } from "./theater.ts";
import { languageSwitch } from "./translate.ts";
import { savesData, watchBattery, watchLife } from "./watch.ts";
import { describe, describeWays, newest, nodeless, troubled, upToDate, type Hold, type Situation, type Sleep } from "./words.ts";
import type { CandidateBytes, Generation, HeldOut, Move, Phase, PolicyBytes, Problem, Status, WayState } from "./types/tab";

/** How often the node is asked for its addresses, its build and its learning curve. [ms] */
const askPeriod = 60_000;

/** How often, once the run has ended or no node is connected: there may be another one. [ms] */
const endedPeriod = 15_000;

/** How often it is looked whether the hours to lend begin or end. [ms] */
const hourPeriod = 20_000;

/** How long to wait for the node's first answer between two tries, at most. [ms] */
const retryMax = 15_000;

/** A page that fails after this long reloads itself after the delay; one that fails at once would reload forever. [ms] */
const restartAfter = 300_000;
const restartDelay = 30_000;

const assets = readAssets();
const prefs = loadPrefs();
const link = readLink(location.search, location.hash);
const situation: Situation = { phase: "loading", loaded: 0, online: navigator.onLine, hold: "none", sleep: "none", status: null, ways: [] };
/** The battery, as far as the browser says. */
let battery: Present["battery"] = null;
/** When the page was hidden, and what it had woken up from meanwhile. */
let hidden: Moment | null = null;
let slept: Sleep = "none";
/** Whether the volunteer wants the drawing; it stops while paused. */
let drawing = !matchMedia("(prefers-reduced-motion: reduce)").matches;
/** Whether there was something to draw. */
let drawn = false;
let tab: RemoteTab | null = null;
let kernel: string | undefined;
let engine: string | undefined;
let theater: Theater | null = null;
/** The tab's program, which also checks logs. */
let program: WebAssembly.Module | null = null;
/** This tab's candidate that is in view; null: the policy is. */
let featured: CandidateBytes | null = null;
/** The learning curve as the node has it, as this tab has it, and both joined. */
let nodeCurve: HeldOut[] = [];
let ownCurve: HeldOut[] = [];
let curve: HeldOut[] = [];
/** What the node said last of this run. */
let nodeStatus: Status | null = null;
let ownHeight = -1;
/** The newest generation up to which the log's history is shown. */
let shownHeight = 0;
let reading = false;
/** Of several runs of the node the one that it advised when it was asked first, "" for none. */
let advised = "";
/** Whether the page says that the node does not answer. */
let unanswered = false;

languageSwitch(element("language"), retell);
const page = new Page(
  { pause, workers: setWorkers, manners: setManners, play, log: () => void download("log"), policy: () => void download("policyFile"), certificate: () => void download("certificate"), check, film: makeFilm, back: () => feature(null), invitation: invite },
  cores(),
);
const saver = new Saver();
const space = new SpaceLoader(assets.space);
const film = new Film(() => situation.status?.env ?? "", space, (words, filming) => page.film(words, filming));
const logCheck = new LogCheck(assets.network, (words, done) => page.check(words, done));
const live = new Live((move) => void watchMove(move));

main().catch((err) => fail(err));

async function main(): Promise<void> {
  page.join(`evonode join ${link.peers[0] ?? nodeURL()}${link.run === "" ? "" : `#${link.run}`}`);
  addEventListener("hashchange", () => location.reload()); // another run was chosen
  if (link.wrong !== "") page.problem({ error: link.wrong, hint: say("problem.link"), fatal: false });
  choose();
  const mode = new URLSearchParams(location.search);
  if (mode.has("fullscreen")) saver.enter();
  if (!supported()) return unsupported();
  if (mode.has("embed")) await consent();
  enter("loading");
  const loader = new Loader(assets, (loaded) => tell({ loaded }));
  const asked = askNode();
  void asked.then((node) => node && loader.prepare(envOf(node, link.run)));
  void observe(() => situation.status === null || !takenIn(situation.status, nodeStatus), wantedRun, showNode);
  const loaded = await loader.loaded;
  program = loaded.program;
  performance.mark("evoswarm-compiled");
  const unlock = await lockTab(() => {
    enter("elsewhere");
    page.still(say("still.elsewhere"));
    page.pausable(false);
  });
  enter("connecting");
  page.still(say("still.soon"));
  page.pausable(true);
  const node = await asked;
  start(node ? addressesOf(node, link.run) : [], loaded, unlock);
  if (!node && link.peers.length === 0) void keepAsking();
}

/** unsupported says that this browser cannot help, and offers nothing that it cannot do. */
function unsupported(): void {
  enter("unsupported");
  page.still(say("still.never"));
  page.pausable(false);
}

/** retell says everything again, in another language. */
function retell(): void {
  choose();
  page.retell();
  live.retell();
  page.ways(describeWays(situation.ways));
  if (situation.status) page.status(situation.status, nodeStatus, curve, [], tab !== null);
}

/** consent shows the run in somebody's page, where nobody chose to help, until the person agrees. */
async function consent(): Promise<void> {
  document.body.classList.add("embed");
  page.pausable(false);
  enter("asked");
  let agreed = false;
  void askNode().then(() => observe(() => !agreed && situation.status === null, wantedRun, showNode));
  await page.consent();
  agreed = true;
}

/** invite is the link that leads others to this run. */
function invite(): string {
  return invitation(location.href, situation.status?.run ?? wantedRun(), link.peers);
}

/** start starts the tab's program and the drawing. */
function start(addresses: string[], loaded: Loaded, unlock: () => void): void {
  theater = new Theater({
    canvas: page.canvas,
    script: assets.worker,
    program: () => tab!.program(situation.status!.env),
    space,
    policy: newestPolicy,
    caption: (frame) => {
      if (!drawn) page.filmable(canFilm());
      if (!drawn && frame.scene.camera) keep([assets.space]);
      drawn = true;
      page.caption(frame);
      film.take(frame);
    },
    failed: (error) => page.problem({ error: say("problem.drawing", { why: error }), hint: say("problem.drawing-hint"), fatal: false }),
  });
  const config = {
    addresses,
    peers: link.peers,
    rtc: typeof RTCPeerConnection === "function",
    run: wantedRun(),
    workers: prefs.workers,
    paused: held(),
  };
  tab = new RemoteTab(loaded, assets.worker, config, { onPhase, onWays, onStatus: show, onError: (trouble) => report(troubled(trouble)), onEngine }, fail);
  void nameKernel(tab);
  draw(drawing && !held());
  setInterval(() => void ask(), askPeriod);
  setInterval(() => (situation.status?.ended || nodeless(situation.ways)) && void ask(), endedPeriod);
  watchLife({
    woken: (sleep) => {
      slept = sleep;
      tell({ sleep });
      void ask();
    },
    online: (online) => {
      tell({ online });
      if (online) void ask();
    },
    leaving: (kept) => {
      if (kept) tab?.terminate(); // its connections would stay open, and others would take them for this browser's
      else tab?.order("stop");
      unlock();
    },
    returned: () => location.reload(),
  });
  void watchBattery((now) => {
    battery = now;
    page.offers({ battery: true });
    hold();
  });
  setInterval(() => prefs.hours && hold(), hourPeriod);
  document.addEventListener("visibilitychange", onVisible);
}

/** onVisible says what happened when the person comes back to a page that was hidden. */
function onVisible(): void {
  if (!situation.status) return;
  if (document.hidden) {
    hidden = { at: Date.now(), status: situation.status };
    slept = "none";
    return;
  }
  if (hidden) page.away(away(hidden, { at: Date.now(), status: situation.status }, slept));
  hidden = null;
}

/** watchMove shows the candidate of one of this tab's results. */
async function watchMove(move: Move): Promise<void> {
  try {
    if (tab) feature(await tab.call("candidate", move.id));
    document.querySelector(".world")?.scrollIntoView({ block: "nearest" });
  } catch (err) {
    report({ error: say("moves.gone", { why: message(err) }), hint: "", fatal: false });
  }
}

/** feature shows a candidate at once, or the policy again. */
function feature(candidate: CandidateBytes | null): void {
  featured = candidate;
  if (candidate) play(true);
  theater?.cut();
}

/** newestPolicy is what the theater plays. A tab that is still behind has only policies that nobody wants to see. */
async function newestPolicy(): Promise<PolicyBytes | CandidateBytes | null> {
  if (featured) return featured;
  if (!tab || !situation.status || (situation.phase !== "alone" && !upToDate(situation.status))) return null;
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

function onWays(ways: WayState[]): void {
  page.ways(describeWays(ways));
  tell({ ways });
}

function onPhase(phase: Phase): void {
  const inRun = phase === "running" || phase === "alone";
  tell(inRun ? { phase } : { phase, status: null });
  if (phase === "alone" && unanswered) page.solved(); // the tab trains, and says that nobody can be reached
}

/** show shows the tab's status. */
function show(status: Status): void {
  const before = situation.status;
  if (!before) {
    performance.mark("evoswarm-running");
    keepPage(status.env);
    void askCurve(status.run);
  }
  if (status.own.logged > 0 && !before?.own.logged) performance.mark("evoswarm-first-claim");
  tell({ status, sleep: status.connected > 0 ? "none" : situation.sleep });
  page.status(status, nodeStatus, curve, [], true);
  saver.show(status);
  void readLog(status);
  if (tab) void live.look(tab, status);
  if (status.error && status.error !== before?.error) report({ error: status.error, hint: say("problem.own"), fatal: false });
  // Until something is drawn, each status may be the first with a policy to draw: the best one may be of an earlier visit.
  const awaited = !drawn && newest(status) > 0;
  if (!film.busy && (awaited || !before || newest(status) !== newest(before))) theater?.news(newest(status));
}

/** readLog fetches what the tab knows of the learning curve and is not shown yet, but not while it is catching up. */
async function readLog(status: Status): Promise<void> {
  if (!tab || reading || status.behind > 0 || status.reason === "catching-up") return;
  reading = true;
  try {
    if (status.return_height !== ownHeight) {
      ownHeight = status.return_height;
      learn(await tab.call("curve"), nodeCurve);
    }
    let earlier: Generation[] = [];
    if (status.height > shownHeight + 1) earlier = await tab.call("history", shownHeight);
    shownHeight = status.height;
    page.curve(status, curve, earlier);
  } catch {
    // The tab's program died, which is reported elsewhere.
  } finally {
    reading = false;
  }
}

/** learn takes in what this tab and the node have of the learning curve. */
function learn(own: HeldOut[], theirs: HeldOut[]): void {
  [ownCurve, nodeCurve] = [own, theirs];
  curve = merge(own, theirs);
}

/** showNode shows a run as the node sees it, which this tab has not taken in yet. */
function showNode(status: Status, theirs: HeldOut[]): void {
  if (link.run !== "" && link.run !== status.run) return;
  nodeStatus = status;
  if (situation.status === null) {
    page.status(status, null, theirs, [], false);
    return;
  }
  const { height, mean, best } = status;
  page.status(situation.status, nodeStatus, curve, mean === null || best === null ? [] : [{ height, mean, best }], true);
}

/** wantedRun is the run that the person chose; else the one of several that the node advises, "" for whatever it works on. */
function wantedRun(): string {
  return link.run !== "" ? link.run : advised;
}

/** askNode asks the node for its addresses once; null: it does not answer, or nobody serves this page but a host of files. */
async function askNode(): Promise<Addresses | null> {
  try {
    const node = await fetchAddresses(link.run);
    if (unanswered) page.solved();
    unanswered = false;
    if (node.runs !== undefined) advised = node.run;
    compare(node);
    page.runs(node, link.run, new URL(`runs${location.search}`, nodeURL()).href);
    return node;
  } catch (err) {
    if (link.peers.length === 0 && !unanswered) {
      unanswered = true;
      const hint = say("problem.node");
      page.problem({ error: message(err), hint, fatal: false });
    }
    return null;
  }
}

/** keepAsking asks until the node answers, and gives its addresses to the tab. */
async function keepAsking(): Promise<void> {
  for (let wait = 500; ; wait = Math.min(2 * wait, retryMax)) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    const node = await askNode();
    if (node) return tab?.order("redial", addressesOf(node, wantedRun()));
  }
}

/** ask asks the node again: whether it has a newer page, its addresses, and its learning curve. */
async function ask(): Promise<void> {
  try {
    const run = situation.status?.run ?? wantedRun();
    const node = await fetchAddresses(run);
    compare(node);
    if (situation.status?.ended && link.run === "" && node.run !== "" && node.run !== situation.status.run) location.reload(); // there is more to do
    page.runs(node, link.run, new URL(`runs${location.search}`, nodeURL()).href);
    tab?.order("redial", addressesOf(node, run));
    if (situation.status && worksOn(node, run)) await askCurve(run);
  } catch {
    // The node that served the page is gone; the tab has other addresses.
    tab?.order("redial", []);
  }
}

/** askCurve fetches the node's learning curve, which starts where the run started, if it is in the same run. */
async function askCurve(run: string): Promise<void> {
  try {
    const [node, theirs] = await Promise.all([fetchAddresses(run), fetchCurve(run)]);
    if (worksOn(node, run)) learn(ownCurve, theirs);
  } catch {
    // The tab's own points suffice.
  }
}

/** compare notices that the node serves another build of this page. A node without a page has no build. */
function compare(node: Addresses): void {
  if (node.build !== "" && node.build !== assets.build) page.stale();
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

function setManners(asked: Partial<Asked>): void {
  Object.assign(prefs, asked);
  savePrefs(prefs);
  hold();
}

/** holdNow says why no work is to start at present. */
function holdNow(): Hold {
  const now = new Date();
  return holdOf(prefs, { battery, savesData: savesData(), minute: 60 * now.getHours() + now.getMinutes() });
}

function held(): boolean {
  return holdNow() !== "none";
}

/** hold stops or restarts the work, and with it the drawing, where that has changed. */
function hold(): void {
  const why = holdNow();
  if ((why === "none") !== (situation.hold === "none")) {
    tab?.order("pause", why !== "none");
    draw(drawing && why === "none");
  }
  choose();
}

/** choose shows what the volunteer, or the computer's state, has chosen. */
function choose(): void {
  page.choices(prefs, cores(), kernel, engine);
  tell({ hold: holdNow() });
}

/** download saves a file that the tab makes of what it has. */
async function download(file: TabFile): Promise<void> {
  const { status } = situation;
  const problem = tab && status && (await saveTabFile(tab, file, status));
  if (problem) report(problem);
}

/** makeFilm films the episode that is played next, or gives that up. */
function makeFilm(): void {
  if (film.toggle()) play(true);
}

/** check begins to compute the whole log again, or gives that up. */
function check(): void {
  const { status } = situation;
  if (tab && program && status) void logCheck.toggle(tab, program, status);
}

/**
 * keepPage has the browser keep the page, so that it opens without its host, with what computes the run's environment. Pages
 * from plain http elsewhere cannot.
 */
function keepPage(env: string): void {
  if (savesData()) return;
  navigator.serviceWorker?.register("offline.js").catch(() => undefined); // it then needs its host, as any page does
  keep(Object.values(assets.programs[moduleOf(env)]!));
}

/** keep has the service worker keep files that not every page needs. */
function keep(files: string[]): void {
  if (!savesData()) void navigator.serviceWorker?.ready.then(({ active }) => active?.postMessage({ keep: files }));
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
    page.pausable(false);
  }
  page.problem(problem);
}

/** fail reports what ended the work. A tab that worked for a while is unattended, so it reloads itself. */
function fail(err: unknown): void {
  const memory = err instanceof Crash && /out of memory/.test(err.output);
  let hint = say(memory ? "problem.memory" : "problem.crash");
  if (performance.now() > restartAfter) {
    hint += ` ${say("problem.reloads")}`;
    setTimeout(() => location.reload(), restartDelay);
  }
  report({ error: message(err), hint, fatal: true });
}

function supported(): boolean {
  return typeof WebAssembly === "object" && typeof Worker === "function" && typeof indexedDB === "object" && typeof TransformStream === "function";
}
