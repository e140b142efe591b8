/** The tools that were added to an attempt of a plan, in the table `plan_tools`: one row for each attempt. */
import type { Plan } from "../domain/plan/plan.ts";
import type { AddedToolFacts } from "../domain/tool/added-tool.ts";
import type { Reader } from "../store/port.ts";
import { assertHeld, type Lease } from "./leases.ts";

/** Undefined when the attempt has not asked for its tools yet. */
export async function recordedTools(
  reader: Reader,
  { id, attempt }: Pick<Plan, "id" | "attempt">,
): Promise<readonly AddedToolFacts[] | undefined> {
  const row = await reader.get<{ tools: string }>(
    "SELECT tools FROM plan_tools WHERE plan_id = ? AND attempt = ?",
    id,
    attempt,
  );
  return row === undefined ? undefined : (JSON.parse(row.tools) as AddedToolFacts[]);
}

/** Fixes the tools of the lease's attempt; a set that is recorded stays as it is. Returns the one that counts. */
export async function recordTools(lease: Lease, tools: readonly AddedToolFacts[]): Promise<readonly AddedToolFacts[]> {
  const { id, attempt } = lease.plan;
  return lease.store.transaction(async (tx) => {
    await assertHeld(tx, lease);
    await tx.run(
      `INSERT INTO plan_tools (plan_id, attempt, tools, at) VALUES (?, ?, ?, now_ms())
       ON CONFLICT (plan_id, attempt) DO NOTHING`,
      id,
      attempt,
      JSON.stringify(tools),
    );
    return (await recordedTools(tx, lease.plan)) ?? tools;
  });
}
