// The link with which a page is opened: the run that it names, and addresses of nodes.

/** What a link says. */
export interface Link {
  /** Run id, or "" for any. */
  run: string;
  /** Multiaddrs of nodes, for a page that no node serves. */
  peers: string[];
  /** What is wrong with it, for people; "" for nothing. */
  wrong: string;
}

const maxPeers = 16;
const maxAddress = 256;

/**
 * readLink reads ?peer=ADDR&peer=ADDR and #RUN or #run=RUN&peer=ADDR. What follows # stays in the browser, what follows ? is
 * sent to the page's host. The tab's program reads the addresses themselves.
 */
export function readLink(search: string, hash: string): Link {
  const link: Link = { run: "", peers: new URLSearchParams(search).getAll("peer"), wrong: "" };
  for (const part of hash.replace(/^#/, "").split("&")) {
    if (part.startsWith("peer=")) link.peers.push(decode(part.slice(5)));
    else if (part !== "") link.run = part.replace(/^run=/, "");
  }
  if (link.run !== "" && !/^b[a-z2-7]{58}$/.test(link.run)) {
    link.wrong = `What follows # is no run id: ${brief(link.run)}`;
    link.run = "";
  }
  const odd = link.peers.find((peer) => !peer.startsWith("/") || peer.length > maxAddress);
  if (odd !== undefined) link.wrong = `The link names an address that is none: ${brief(odd)}`;
  else if (link.peers.length > maxPeers) link.wrong = `The link names ${link.peers.length} addresses; the first ${maxPeers} are used.`;
  link.peers = link.peers.filter((peer) => peer.startsWith("/") && peer.length <= maxAddress).slice(0, maxPeers);
  return link;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function brief(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
}
