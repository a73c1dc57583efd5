// The list of a node's runs, from which a volunteer chooses one.

import { element, make, write } from "./dom.ts";
import { say } from "./lang.ts";
import { message } from "./message.ts";
import { nodeURL } from "./load.ts";
import { describeRuns, listVersion, rowsOf, type Row, type RunList } from "./runlist.ts";
import { languageSwitch } from "./translate.ts";

/** How often the node is asked, and how often while it does not answer. [ms] */
const period = 5000;

/** The elements of what is shown, in the order of the runs. */
const shown: HTMLLIElement[] = [];

languageSwitch(element("language"), () => void look());
void main();

async function main(): Promise<void> {
  for (;;) {
    if (!document.hidden) await look();
    await new Promise((resolve) => setTimeout(resolve, period));
  }
}

async function look(): Promise<void> {
  try {
    const url = new URL("api/runs", nodeURL());
    const response = await fetch(url, { cache: "no-store" });
    if (!response.ok) throw new Error(`${url} answered ${response.status} ${response.statusText}`);
    const list = (await response.json()) as RunList;
    if (list.version !== listVersion) throw new Error(`${url} has version ${list.version}; this page reads version ${listVersion}. Reload it.`);
    const words = describeRuns(list);
    head(words.headline, words.detail, words.tone);
    const any = element<HTMLAnchorElement>("any");
    any.hidden = !words.choice;
    any.href = `./${location.search}`;
    show(rowsOf(list));
  } catch (err) {
    head(say("list.silent"), say("list.silent-detail", { why: message(err) }), "trouble");
  }
}

function head(headline: string, detail: string, tone: string): void {
  write(element("headline"), headline);
  write(element("detail"), detail);
  document.querySelector<HTMLElement>(".state")!.dataset["tone"] = tone;
  document.title = `${headline} · evoswarm`;
}

/** show writes the rows into the elements that are there, so that the focus stays where it is. */
function show(rows: Row[]): void {
  const list = element("runs");
  while (shown.length > rows.length) shown.pop()!.remove();
  rows.forEach((row, i) => {
    const li = (shown[i] ??= list.appendChild(newItem()));
    li.dataset["tone"] = row.tone;
    li.dataset["run"] = row.run;
    const [title, state, tag, figures, action] = li.querySelectorAll<HTMLElement>("h2, .run-state span + span, .tag, dl, a");
    write(title!, row.title);
    write(state!, row.state);
    write(tag!, row.tag);
    tag!.hidden = row.tag === "";
    const link = action as HTMLAnchorElement;
    link.hidden = row.action === "";
    if (row.run !== "") link.href = `./${location.search}#${row.run}`;
    write(link, row.action);
    link.ariaLabel = say("list.action", { action: row.action, title: row.title });
    writeFigures(figures!, row.figures);
  });
}

function newItem(): HTMLLIElement {
  const li = document.createElement("li");
  li.className = "card";
  const state = make("p", "run-state");
  state.append(make("span", "lamp"), make("span"));
  state.firstElementChild!.ariaHidden = "true";
  li.append(make("h2"), state, make("p", "tag"), make("dl"), make("a", "action"));
  return li;
}

function writeFigures(dl: HTMLElement, figures: Row["figures"]): void {
  while (dl.children.length > figures.length) dl.lastElementChild!.remove();
  figures.forEach(([name, value], i) => {
    let row = dl.children[i];
    if (!row) {
      row = dl.appendChild(make("div"));
      row.append(make("dt"), make("dd"));
    }
    write(row.firstElementChild!, name);
    write(row.lastElementChild!, value);
  });
}
