// What a person reads of an error.

/** message is what an error says. */
export function message(err: unknown): string {
  return err instanceof Error ? err.message : String(err);
}
