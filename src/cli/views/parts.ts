/** Pieces that several views share. */
import type * as z from "zod";
import type { SpendingFacts } from "../../app/queries/spending.ts";
import { dollars } from "../../domain/money/money.ts";
import { count } from "../terminal/format.ts";
import { info, type Message } from "../terminal/outcome.ts";
import { toned, type Cell } from "../terminal/view.ts";

type Spending = z.output<typeof SpendingFacts>;

/** "$0.42" of a number of dollars. */
export function usd(amount: number): string {
  return dollars(Math.round(amount * 1_000_000));
}

/** How long a list is; an empty one says so by itself. */
export function listed(amount: number, one: string, many?: string): Message[] {
  return amount === 0 ? [] : info(`${count(amount, one, many)} listed.`);
}

/** In a sentence: how many calls, and what was paid for them. */
export function paidText({ calls, spentUsd, assumedUsd, unpricedCalls }: Spending): string {
  const more = unpricedCalls === 0 ? "" : `, ${unpricedCalls} of them at an unknown price`;
  return `${count(calls, "model call")}, ${usd(spentUsd + assumedUsd)}${more}`;
}

const BAR = 20;

/** "$0.42 of $1.50 ━━━━━─────────────── 28 %": the bar has all that counts against the cap. */
export function spendingCell(spending: Spending): Cell {
  const { calls, spentUsd, estimatedUsd, assumedUsd, reservedUsd, unpricedCalls, capUsd } = spending;
  const used = spentUsd + assumedUsd + reservedUsd;
  const paid = usd(spentUsd + assumedUsd);
  const parts = [
    capUsd === null ? paid : `${paid} of ${usd(capUsd)}`,
    ...(capUsd === null ? [] : [bar(used, capUsd)]),
    ...(calls === 0 ? [] : [`for ${count(calls, "call")}`]),
  ];
  const notes = [
    ...(estimatedUsd === 0 ? [] : [`includes ${usd(estimatedUsd)} counted here, not reported by the provider`]),
    ...(assumedUsd === 0 ? [] : [`includes an estimated ${usd(assumedUsd)} for calls cut off before reporting`]),
    ...(reservedUsd === 0 ? [] : [`${usd(reservedUsd)} reserved`]),
    ...(unpricedCalls === 0 ? [] : [`${count(unpricedCalls, "call")} at an unknown price`]),
  ];
  const text = `${parts.join(" ")}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`;
  return capUsd !== null && capUsd > 0 && used >= capUsd * 0.9 ? toned(text, "warn") : text;
}

function bar(used: number, cap: number): string {
  const share = cap === 0 ? 1 : Math.max(0, Math.min(1, used / cap));
  const full = Math.floor(share * BAR);
  return `${"━".repeat(full)}${"─".repeat(BAR - full)} ${Math.floor(share * 100)} %`;
}

/** Another program wrote into a file after it had been replaced: its bytes are not lost. */
export function lateEdits(kept: readonly string[]): Message[] {
  if (kept.length === 0) return [];
  return [
    { level: "warning", text: `A program was still writing into replaced files; they are kept: ${kept.join(", ")}.` },
  ];
}

const PATHS_SHOWN = 3;

/** Paths of a plan's sandboxes that are not part of the plan: the first few. */
export function leftOutMessages(
  found: readonly { readonly resource: string; readonly path: string }[] | null,
): Message[] {
  if (found === null || found.length === 0) return [];
  const several = new Set(found.map(({ resource }) => resource)).size > 1;
  const names = found.slice(0, PATHS_SHOWN).map(({ resource, path }) => (several ? `${resource}: ${path}` : path));
  const more = found.length > PATHS_SHOWN ? ` and ${found.length - PATHS_SHOWN} more` : "";
  return info(
    `${count(found.length, "path")} left out, ignored by git, junk of commands or in a submodule: ${names.join(", ")}${more}.`,
  );
}

/** "a, b, c and 2 more". */
export function firstFew(names: readonly string[], most = 5): string {
  return `${names.slice(0, most).join(", ")}${names.length > most ? ` and ${names.length - most} more` : ""}`;
}

/** Where a plan works without a sandbox; no row when it works in sandboxes. */
export function inPlaceRows(places: readonly { readonly path: string }[]): (readonly [string, Cell])[] {
  if (places.length === 0) return [];
  const where = places.map(({ path }) => path).join(", ");
  return [["works", toned(`in place, without a sandbox: ${where}`, "warn")]];
}

/** A definition of a later version took the place of another one. */
export function replacedOr(deed: string, version: number): string {
  return version > 1 ? `replaced (version ${version})` : deed;
}
