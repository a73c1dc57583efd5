// The files that a tab makes of what it has: the log, the policy, and the certificate of contribution.

import { save } from "./dom.ts";
import { say, type Key } from "./lang.ts";
import { message } from "./message.ts";
import type { RemoteTab } from "./tab.ts";
import type { Problem, Status } from "./types/tab";
import { newest } from "./words.ts";

export type TabFile = "log" | "policyFile" | "certificate";

const files: Record<TabFile, { name: (status: Status) => string; failed: Key; hint: Key }> = {
  log: { name: (status) => `${status.run}.seedlog`, failed: "save.log", hint: "save.log-hint" },
  policyFile: { name: (status) => `${status.env}-${newest(status)}.safetensors`, failed: "save.policy", hint: "save.again" },
  certificate: { name: () => "contribution.json", failed: "save.certificate", hint: "save.again" },
};

/** saveTabFile saves a file of the tab, and returns what was wrong; null: nothing. */
export async function saveTabFile(tab: RemoteTab, file: TabFile, status: Status): Promise<Problem | null> {
  const { name, failed, hint } = files[file];
  try {
    save(await tab.call(file), name(status));
    return null;
  } catch (err) {
    return { error: say(failed, { why: message(err) }), hint: say(hint), fatal: false };
  }
}
