// Numbers and names as people read them.

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const oneDigit = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** 12,345 up to a million, 1.23M above. */
export function count(n: number): string {
  return Math.abs(n) < 1e6 ? whole.format(n) : compact.format(n);
}

/** A return or a rate: one digit after the point below 100; "–" for none. */
export function real(n: number | null | undefined): string {
  if (n === null || n === undefined || !Number.isFinite(n)) return "–";
  return Math.abs(n) < 100 ? oneDigit.format(n) : count(Math.round(n));
}

const ticks = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });

/** A number at an axis: as many digits as it has, since ticks are round. */
export function tick(n: number): string {
  return Math.abs(n) < 1e5 ? ticks.format(n) : compact.format(n);
}

/** The end of a peer id or CID, which is what differs. */
export function short(id: string, n = 8): string {
  return id.length <= n + 1 ? id : "…" + id.slice(-n);
}

/** "1 peer", "2 peers". */
export function plural(n: number, one: string, many = one + "s"): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}
