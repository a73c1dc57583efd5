// Numbers and names as people read them.

/** The formats of a language. */
interface Formats {
  whole: Intl.NumberFormat;
  compact: Intl.NumberFormat;
  oneDigit: Intl.NumberFormat;
  ticks: Intl.NumberFormat;
}

let formats = formatsOf("en");

/** useLocale writes numbers as a language does from now on. */
export function useLocale(locale: string): void {
  formats = formatsOf(locale);
}

function formatsOf(locale: string): Formats {
  return {
    whole: new Intl.NumberFormat(locale, { maximumFractionDigits: 0 }),
    compact: new Intl.NumberFormat(locale, { notation: "compact", maximumSignificantDigits: 3 }),
    oneDigit: new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }),
    ticks: new Intl.NumberFormat(locale, { maximumFractionDigits: 3 }),
  };
}

/** 12,345 up to a million, 1.23M above. */
export function count(n: number): string {
  return Math.abs(n) < 1e6 ? formats.whole.format(n) : formats.compact.format(n);
}

/** A return or a rate: one digit after the point below 100; "–" for none. */
export function real(n: number | null | undefined): string {
  if (n === null || n === undefined || !Number.isFinite(n)) return "–";
  return Math.abs(n) < 100 ? formats.oneDigit.format(n) : count(Math.round(n));
}

/** A number at an axis: as many digits as it has, since ticks are round. */
export function tick(n: number): string {
  return Math.abs(n) < 1e5 ? formats.ticks.format(n) : formats.compact.format(n);
}

/** The end of a peer id or CID, which is what differs. */
export function short(id: string, n = 8): string {
  return id.length <= n + 1 ? id : "…" + id.slice(-n);
}
