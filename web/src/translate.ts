// Puts the texts of the person's language into the document.

import { codeMark, say, speak, type Key, type Table } from "./lang.ts";
import { de } from "./lang/de.ts";
import { en } from "./lang/en.ts";

const key = "evoswarm-language";

/** The languages, by their tags; the first is for everybody else. To add one, fill its table and name it here. */
export const languages: Record<string, { name: string; texts: Table }> = {
  en: { name: "English", texts: en },
  de: { name: "Deutsch", texts: de },
};

/** chosen is the language to speak: what the person chose here, else the first of the browser's that there is. */
export function chosen(kept: string | null, wanted: readonly string[]): string {
  const known = [kept ?? "", ...wanted.map((tag) => tag.split("-")[0]!.toLowerCase())].find((tag) => Object.hasOwn(languages, tag));
  return known ?? "en";
}

/** after is the language that the switch offers: the next one. */
export function after(tag: string): string {
  const tags = Object.keys(languages);
  return tags[(tags.indexOf(tag) + 1) % tags.length]!;
}

/** languageSwitch speaks the person's language, and lets the button change it; told has to write what scripts wrote again. */
export function languageSwitch(button: HTMLElement, told: () => void): void {
  let tag = useLanguage();
  const offer = (): void => {
    button.lang = after(tag);
    button.textContent = languages[button.lang]!.name;
  };
  offer();
  button.onclick = () => {
    tag = after(tag);
    switchTo(tag);
    offer();
    told();
  };
}

/** useLanguage speaks the person's language from now on, and returns its tag. */
function useLanguage(): string {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(key);
  } catch {
    // Storage is forbidden: the browser's language applies.
  }
  const tag = chosen(kept, navigator.languages);
  become(tag);
  return tag;
}

/** switchTo speaks another language, here and at the next visits. */
function switchTo(tag: string): void {
  try {
    localStorage.setItem(key, tag);
  } catch {
    // The choice then lasts as long as the page.
  }
  become(tag);
}

function become(tag: string): void {
  speak(languages[tag]!.texts, tag);
  document.documentElement.lang = tag;
  for (const element of document.querySelectorAll<HTMLElement>("[data-say]")) fill(element, say(element.dataset["say"] as Key));
  for (const element of document.querySelectorAll<HTMLElement>("[data-say-label]")) element.ariaLabel = say(element.dataset["sayLabel"] as Key);
  for (const element of document.querySelectorAll<HTMLElement>("[data-say-title]")) element.title = say(element.dataset["sayTitle"] as Key);
}

/** fill writes a text, whose {code} is the element's code. */
function fill(element: HTMLElement, text: string): void {
  const code = element.querySelector("code");
  if (!code) return void (element.textContent = text);
  const [before, behind] = text.split(codeMark) as [string, string?];
  element.replaceChildren(before, code, behind ?? "");
}
