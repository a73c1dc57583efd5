// The page's texts in the language of the person: a table for each language, which a translator can fill.

import { count, useLocale } from "./format.ts";
import { en } from "./lang/en.ts";

/** A text; {name} is where a value goes. Where it counts something, {n}, it has a form for each plural of the language. */
export type Text = string | { [form in Intl.LDMLPluralRule]?: string };

/** Names of texts. Every table has all of them. */
export type Key = keyof typeof en;

/** A language's texts. */
export type Table = Record<Key, Text>;

/** Values for a text. Numbers are written as the language writes them. */
export type Values = Record<string, string | number>;

/** In place of {code}, where a text has a command in it: translate.ts puts the command there. */
export const codeMark = "\uE000";

let table: Table = en;
let plurals = new Intl.PluralRules("en");

/** speak chooses the table that all texts come from now on; locale is a BCP 47 tag. */
export function speak(texts: Table, locale: string): void {
  table = texts;
  plurals = new Intl.PluralRules(locale);
  useLocale(locale);
}

/** say returns a text, with values in it. */
export function say(key: Key, values: Values = {}): string {
  const text = table[key];
  const form = typeof text === "string" ? text : (text[plurals.select(Number(values["n"]))] ?? text.other ?? "");
  return form.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    if (name === "code") return codeMark;
    const value = values[name] ?? "";
    return typeof value === "number" ? count(value) : value;
  });
}
