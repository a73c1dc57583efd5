// When a volunteer's computer is to help: never while it is paused or its battery is low, and otherwise as its
// owner asked.

import type { Hold } from "./words.ts";

/** What its owner asked for. */
export interface Asked {
  paused: boolean;
  /** Only while it is plugged in. */
  plugged: boolean;
  /** Not while the browser is to save data. */
  thrifty: boolean;
  /** Only between two times of day, as minutes after midnight; it may span midnight. null: at any time. */
  hours: [number, number] | null;
}

/** How the computer is at present. */
export interface Present {
  /** null: the browser does not say. */
  battery: { charging: boolean; level: number } | null;
  savesData: boolean;
  /** Minutes after midnight. */
  minute: number;
}

/** Work stops below this charge on a computer that is not plugged in. */
const lowLevel = 0.3;

/** holdOf says why no work is to start, the person's own choice first. */
export function holdOf(asked: Asked, present: Present): Hold {
  if (asked.paused) return "paused";
  const { battery } = present;
  if (battery && !battery.charging && battery.level < lowLevel) return "battery";
  if (asked.plugged && battery && !battery.charging) return "unplugged";
  if (asked.thrifty && present.savesData) return "data";
  if (asked.hours && !within(asked.hours, present.minute)) return "hours";
  return "none";
}

/** within reports whether a minute of the day is in a span; equal ends are a whole day. */
export function within([from, to]: [number, number], minute: number): boolean {
  if (from === to) return true;
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

/** minuteOf reads "22:30"; null for anything else. */
export function minuteOf(text: string): number | null {
  const found = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text);
  return found ? 60 * Number(found[1]) + Number(found[2]) : null;
}

/** clock writes a minute of the day as "22:30". */
export function clock(minute: number): string {
  return [Math.floor(minute / 60), minute % 60].map((n) => String(n).padStart(2, "0")).join(":");
}
