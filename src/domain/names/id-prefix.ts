import { NotFoundError, UsageError } from "../errors/errors.ts";
import type { NextStep } from "../errors/next-step.ts";
import { shown } from "../text/text.ts";

/** Every command that takes an id also takes its beginning, as long as only one thing has it. */

const BEGINNING = /^[0-9A-HJKMNP-TV-Z]{1,26}$/;

/** How ids begin that are meant by `given`, in their own spelling. */
export function idPrefix(noun: string, given: string, next: readonly NextStep[]): string {
  const prefix = given.toUpperCase();
  if (BEGINNING.test(prefix)) return prefix;
  throw new UsageError(`${shown(given)} is not a ${noun} id.`, { next });
}

/** The only one of those that were found. */
export function onlyOne<T extends { readonly id: string }>(
  noun: string,
  prefix: string,
  found: readonly T[],
  next: readonly NextStep[],
): T {
  const [only, another] = found;
  if (only === undefined) throw new NotFoundError(noun, prefix, { next });
  if (another === undefined) return only;
  const candidates = found.slice(0, 5).map(({ id }) => id);
  throw new UsageError(
    `Several ${noun}s begin with "${prefix}": ${candidates.join(", ")}${found.length > 5 ? ", …" : ""}.`,
    { detail: { candidates }, next: [{ text: "repeat the command with more characters of the id" }] },
  );
}
