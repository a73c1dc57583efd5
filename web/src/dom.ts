// Small helpers for writing into the document. What strangers send is always text, never HTML.

/** element finds what the page must have. */
export function element<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found as T;
}

/** make returns a new element with a class and a text. */
export function make(name: string, style = "", text = ""): HTMLElement {
  const made = document.createElement(name);
  if (style !== "") made.className = style;
  if (text !== "") made.textContent = text;
  return made;
}

/** write changes an element only where the text differs, so that screen readers announce it once. */
export function write(into: Element, text: string): void {
  if (into.textContent !== text) into.textContent = text;
}

/** save has the browser save a file. */
export function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
