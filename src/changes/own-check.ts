/**
 * Whether the result of a plan was checked by the project's own commands: the last of them that ran behind the last
 * change. A check that ran before a change says nothing about the result.
 */
import type { ChangesetId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { findChangeset } from "../ledger/changesets.ts";
import { findInvocations } from "../ledger/invocations.ts";
import type { Store } from "../store/port.ts";
import { placedRecords } from "./step-records.ts";

export interface OwnCheck {
  readonly command: string;
  readonly passed: boolean;
  readonly durationMs: number;
}

/** `commands` are those by which the project checks itself; undefined when none of them ran on the result. */
export async function lastCheck(
  store: Store,
  plan: Pick<Plan, "id" | "attempt">,
  commands: readonly string[],
): Promise<OwnCheck | undefined> {
  return store.read(async (reader) => {
    const calls = new Map<ChangesetId, string>();
    for (const { tool, params, changesetId } of await findInvocations(reader, plan.id, plan.attempt)) {
      const { command } = (params ?? {}) as { readonly command?: unknown };
      if (tool === "shell_execute" && typeof command === "string") calls.set(changesetId, command);
    }
    let last: OwnCheck | undefined;
    for (const record of await placedRecords(reader, plan.id, plan.attempt)) {
      if ((record.kind !== "tool_call" && record.kind !== "hook") || record.changeset === undefined) continue;
      if (((await findChangeset(reader, record.changeset))?.entryCount ?? 0) > 0) last = undefined;
      const command = calls.get(record.changeset);
      if (record.kind !== "tool_call" || command === undefined) continue;
      if (!commands.some((check) => command.includes(check))) continue;
      const { code, durationMs = 0 } = (record.output ?? {}) as {
        readonly code?: unknown;
        readonly durationMs?: number;
      };
      if (typeof code === "number") last = { command, passed: code === 0, durationMs };
    }
    return last;
  });
}
