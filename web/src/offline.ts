// The service worker: opens the page when its host cannot be reached. The page itself is always asked of the
// host first, so that nobody gets an older build while a newer one is there. The files that a page names carry
// their hash, so those kept are right for the page that names them. build.mjs puts the names of a build in
// front of this program.

/** What a build consists of; build.mjs writes it. */
interface Build {
  build: string;
  files: string[];
  /** Files that not every visit needs: they are kept once one is asked for, or the page says that it has one (main.ts). */
  later: string[];
}

interface Waiting extends Event {
  waitUntil(done: Promise<unknown>): void;
}

interface Fetching extends Event {
  request: Request;
  respondWith(answer: Promise<Response>): void;
}

declare const page: Build;

const self_ = globalThis as unknown as EventTarget & { registration: { scope: string } };

/** How long the host may take for the page, if there is one to open instead. [ms] */
const patience = 4000;

const scope = self_.registration.scope;

/** Caches of this page, of all builds; a host may have several pages at several paths. */
const family = `evoswarm ${scope} `;

const cacheName = family + page.build;

self_.addEventListener("install", (event) => (event as Waiting).waitUntil(install()));
self_.addEventListener("activate", (event) => (event as Waiting).waitUntil(clean()));
self_.addEventListener("fetch", (event) => answer(event as Fetching));
self_.addEventListener("message", (event) => keep(event as Waiting & MessageEvent<{ keep?: string[] }>));

/** install keeps all files of this build, if the host still has it. */
async function install(): Promise<void> {
  const document = await fetch(scope, { cache: "no-cache" });
  const text = await document.clone().text();
  if (!document.ok || !text.includes(`content="${page.build}"`)) throw new Error("the host has another build by now");
  const cache = await caches.open(cacheName);
  await cache.addAll(page.files.map((file) => new URL(file, scope).href));
  await cache.put(scope, document);
}

/** clean removes other builds: no page of them is open any more. */
async function clean(): Promise<void> {
  for (const other of await caches.keys()) {
    if (other.startsWith(family) && other !== cacheName) await caches.delete(other);
  }
}

function answer(event: Fetching): void {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== "GET" || !request.url.startsWith(scope)) return;
  url.search = url.hash = "";
  if (request.mode === "navigate") {
    if (url.href === scope) event.respondWith(open(request));
    return;
  }
  const among = (files: string[]): boolean => files.some((file) => new URL(file, scope).href === url.href);
  if (among(page.files)) event.respondWith(keptFirst(request, url.href));
  if (among(page.later)) event.respondWith(keptLater(request, url.href));
}

/** keep keeps files that the page names. On a first visit it fetched them before this program was there. */
function keep(event: Waiting & MessageEvent<{ keep?: string[] }>): void {
  const wanted = page.later.filter((file) => event.data.keep?.includes(file)).map((file) => new URL(file, scope).href);
  event.waitUntil(Promise.all(wanted.map((href) => keptLater(new Request(href), href))));
}

/** open asks the host for the page, and takes the one that is kept if it does not answer. */
async function open(request: Request): Promise<Response> {
  const kept = await (await caches.open(cacheName)).match(scope);
  if (!kept) return fetch(request);
  const late = new Promise<Response>((resolve) => setTimeout(() => resolve(kept.clone()), patience));
  const asked = fetch(request).then((response) => (response.status < 500 ? response : kept.clone()), () => kept.clone());
  return Promise.race([asked, late]);
}

async function keptFirst(request: Request, href: string): Promise<Response> {
  return (await (await caches.open(cacheName)).match(href)) ?? fetch(request);
}

async function keptLater(request: Request, href: string): Promise<Response> {
  const cache = await caches.open(cacheName);
  const kept = await cache.match(href);
  if (kept) return kept;
  const response = await fetch(request);
  if (response.ok) await cache.put(href, response.clone());
  return response;
}
