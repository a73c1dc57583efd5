import assert from "node:assert/strict";
import { test } from "node:test";
import { readFileSync } from "node:fs";
import { count, real } from "./format.ts";
import { say, speak, type Key, type Text } from "./lang.ts";
import { en } from "./lang/en.ts";
import { after, chosen, languages } from "./translate.ts";

test("texts have their values and their plurals", () => {
  assert.equal(say("log.results", { n: 1 }), "1 result");
  assert.equal(say("log.results", { n: 12345 }), "12,345 results");
  assert.equal(say("mesh.and", { a: "1 node", b: "2 tabs" }), "1 node and 2 tabs");
});

/** source reads a file of the project. */
const source = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), "utf8");

test("whatever goes wrong in the tab's program has its texts", () => {
  const kinds = ["tab.go", "dial.go"].flatMap((name) => [...source(`wasm/tab/${name}`).matchAll(/kind(?:: |\s*:?= )"(\w+)"|stray\("(\w+)"\)/g)].map((m) => m[1] ?? m[2]!));
  assert.deepEqual([...new Set(kinds)].sort(), ["damaged", "dropped", "ended", "link", "removed", "stayed", "strayed", "unsaved", "version", "workers"]);
  for (const kind of kinds) assert.ok(`trouble.${kind}` in en && `trouble.${kind}-hint` in en, kind);
});

test("what a stranger named stays as it is", () => {
  assert.equal(say("mesh.leads", { leader: "{n} <b>&" }), "Peer {n} <b>& leads.");
});

/** names lists the values that a text has places for. */
const names = (text: Text): string[] => (typeof text === "string" ? [text] : Object.values(text)).flatMap((form) => [...form.matchAll(/\{(\w+)\}/g)].map((m) => m[1]!));

test("every language has every text, in all its plurals, and no place for a value that there is not", () => {
  for (const [tag, { texts }] of Object.entries(languages)) {
    assert.deepEqual(Object.keys(texts).sort(), Object.keys(en).sort(), tag);
    const forms = new Intl.PluralRules(tag).resolvedOptions().pluralCategories;
    for (const [key, text] of Object.entries(texts)) {
      const original = en[key as Key];
      const extra = names(text).filter((name) => !names(original).includes(name));
      assert.deepEqual(extra, [], `${tag}: ${key}`);
      assert.equal(typeof text === "string", typeof original === "string", `${tag}: ${key} counts something in one language only`);
      if (typeof text !== "string") assert.deepEqual(Object.keys(text).sort(), [...forms].sort(), `${tag}: ${key}`);
      if (names(original).includes("code")) assert.ok(names(text).includes("code"), `${tag}: ${key} has no command`);
    }
  }
});

test("what the page says before its script runs is what the English table says", () => {
  for (const [page, least] of [["index", 60], ["runs", 4], ["watch", 14]] as const) {
    const html = source(`web/src/${page}.html`);
    const used = [...html.matchAll(/<(\w+)[^>]* data-say="([^"]+)"[^>]*>(.*?)<\/\1>/g)];
    assert.ok(used.length > least, `${page}: ${used.length} texts`);
    for (const [, , key, text] of used) assert.equal(text!.replace(/<code>.*<\/code>/, "{code}"), en[key as Key], key);
    for (const [, attribute, text, key] of html.matchAll(/(aria-label|title)="([^"]*)" data-say-(?:label|title)="([^"]+)"/g)) assert.equal(text, en[key as Key], `${attribute} ${key}`);
    const said = html.replaceAll(/<(script|noscript|title|code|button id="language")[^]*?<\/(script|noscript|title|code|button)>|evoswarm|Build \{\{build\}\}/g, "");
    for (const [, attributes, text] of said.matchAll(/<\w+([^>]*)>([^<]+)/g)) assert.ok(!/[a-z]{2}/.test(text!) || attributes!.includes("data-say"), `${page}: "${text!.trim()}" has no key`);
  }
});

test("German numbers and plurals", () => {
  speak(languages["de"]!.texts, "de");
  try {
    assert.equal(say("log.results", { n: 12345 }), "12.345 Ergebnisse");
    assert.equal(say("log.results", { n: 1 }), "1 Ergebnis");
    assert.equal(real(14.25), "14,3");
    assert.match(count(1_234_567), /^1,23\sMio\.$/);
    assert.equal(say("check.peers", { n: 1 }), "1 Rechner");
  } finally {
    speak(en, "en");
  }
  assert.equal(say("log.results", { n: 12345 }), "12,345 results");
});

test("the person's choice goes before the browser's languages, and English before nothing", () => {
  assert.equal(chosen(null, ["de-AT", "en"]), "de");
  assert.equal(chosen("en", ["de"]), "en");
  assert.equal(chosen("xx", ["fr-FR", "de"]), "de");
  assert.equal(chosen(null, ["fr"]), "en");
  assert.equal(chosen("constructor", ["toString"]), "en");
  assert.equal(after(after("en")), "en");
});
