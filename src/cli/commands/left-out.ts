import { join } from "node:path";
import type { ChangeEntry } from "../../domain/change-entry.ts";
import type { Plan } from "../../domain/plan.ts";
import { leftOut, type LeftOut } from "../../execution/left-out.ts";
import type { CommandContext } from "../command-context.ts";
import { count } from "../format.ts";
import { info, type Message } from "../outcome.ts";

const SHOWN = 3;

/** What a plan's commands made that is no part of the plan: for machines all of it, for people the first few. */
export async function leftOutOf(
  context: CommandContext,
  plan: Plan,
  changes: readonly ChangeEntry[],
): Promise<{ data: { left_out: readonly LeftOut[] | null }; messages: readonly Message[] }> {
  const found = await leftOut(join(context.paths.dataDir, "sandboxes"), plan, changes);
  if (found === undefined || found.length === 0) return { data: { left_out: found ?? null }, messages: [] };
  const several = new Set(found.map(({ resource }) => resource)).size > 1;
  const names = found.slice(0, SHOWN).map(({ resource, path }) => (several ? `${resource}: ${path}` : path));
  const more = found.length > SHOWN ? ` and ${found.length - SHOWN} more` : "";
  const text = `${count(found.length, "path")} left out, ignored by git or in a submodule: ${names.join(", ")}${more}.`;
  return { data: { left_out: found }, messages: info(text) };
}
