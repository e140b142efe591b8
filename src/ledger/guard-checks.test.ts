/** Limits are counted in the store: exact for any number of contexts, connections and owners at once. */
import { expect, test } from "vitest";
import { findProfile } from "../domain/profile/automation-profile.ts";
import { NO_GUARDS, type Guards } from "../domain/profile/guards.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { PlanExecutionContext } from "../execution/workspace/plan-execution-context.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Store } from "../store/port.ts";
import { ExecutingPlan } from "../execution/testing/executing-plan.ts";
import { approveWrites, findApprovals, tighten } from "./guard-checks.ts";

/** A plan whose profile has these guards. */
async function guarded(guards: Partial<Guards>, kind: "memory" | "file" = "memory"): Promise<ExecutingPlan> {
  const plan = await ExecutingPlan.start({ kind });
  const profile = { ...findProfile("trusted"), guards: { ...NO_GUARDS, ...guards } };
  await plan.store.transaction((tx) =>
    tx.run("UPDATE plans SET profile = ? WHERE id = ?", JSON.stringify(profile), plan.id),
  );
  return plan;
}

async function begin(
  plan: ExecutingPlan,
  context: PlanExecutionContext,
  step: string,
  tool = "write_file",
): Promise<string> {
  const decision = await plan.decision(step);
  const guarded = { step, writes: true };
  const call = { decision, tool, params: { path: step }, guarded };
  return context.startChangeset(call).then(
    () => "begun",
    (error: unknown) => (error instanceof AgentsError ? String(error.detail["guard"]) : String(error)),
  );
}

test("of forty calls at once through two connections exactly as many begin as may", async () => {
  await using plan = await guarded({ maxToolCalls: 7 }, "file");
  await plan.decision("s");
  const [row] = await plan.store.read((reader) =>
    reader.all<{ file: string }>("SELECT file FROM pragma_database_list WHERE name = 'main'"),
  );
  await using other = await openStore(`sqlite:${row?.file}`);
  const contexts = [plan.store, other].map(
    (store) => new PlanExecutionContext({ store, plan: plan.id, lease: plan.lease }),
  );
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, (_, index) => begin(plan, contexts[index % 2] as PlanExecutionContext, "s")),
  );
  expect(outcomes.filter((outcome) => outcome === "begun")).toHaveLength(7);
  expect(outcomes.filter((outcome) => outcome === "max_tool_calls")).toHaveLength(33);
  expect(await count(plan.store, plan.id)).toEqual({ begun: 7, refused: 33, closed: 33, events: 33, audited: 33 });
  // A process that takes the plan over continues from the same count: the seven never ended, and ran all the same.
  await plan.takeOver();
  const later = new PlanExecutionContext({ store: plan.store, plan: plan.id, lease: plan.lease });
  expect(await begin(plan, later, "s")).toBe("max_tool_calls");
});

async function count(store: Store, id: PlanId): Promise<Record<string, number> | undefined> {
  return store.read((reader) =>
    reader.get<Record<string, number>>(
      `SELECT SUM(refused_by IS NULL) AS begun, SUM(refused_by IS NOT NULL) AS refused,
              (SELECT COUNT(*) FROM changesets WHERE plan_id = ? AND closed_at IS NOT NULL) AS closed,
              (SELECT COUNT(*) FROM events WHERE plan_id = ? AND type = 'guard.refused') AS events,
              (SELECT COUNT(*) FROM audit_entries WHERE details LIKE ? AND type = 'guard.refused') AS audited
         FROM tool_invocations WHERE plan_id = ?`,
      id,
      id,
      `%"plan_id":"${id}"%`,
      id,
    ),
  );
}

test("what is tightened counts from the next call on, also for a context that is already open", async () => {
  await using plan = await guarded({});
  const context = new PlanExecutionContext({ store: plan.store, plan: plan.id, lease: plan.lease });
  expect(await begin(plan, context, "a")).toBe("begun");
  await plan.store.transaction((tx) =>
    tighten(tx, plan.id, { denied: [], maxToolCalls: undefined, maxToolCallsPerStep: 1 }),
  );
  expect(await begin(plan, context, "a")).toBe("max_tool_calls_per_step");
  expect(await begin(plan, context, "b")).toBe("begun");
  await plan.store.transaction((tx) =>
    tighten(tx, plan.id, { denied: ["write_*"], maxToolCalls: undefined, maxToolCallsPerStep: 2 }),
  );
  expect(await begin(plan, context, "b")).toBe("tool_denylist");
});

test("a call that was refused uses up nothing of any limit", async () => {
  await using plan = await guarded({
    toolDenylist: ["delete_file"],
    maxToolCalls: 2,
    maxToolCallsPerStep: 2,
    maxCallsPerTool: { "*_file": 2 },
  });
  const context = new PlanExecutionContext({ store: plan.store, plan: plan.id, lease: plan.lease });
  const tried = [];
  for (const tool of ["delete_file", "delete_file", "delete_file", "write_file", "write_file", "write_file"])
    tried.push(await begin(plan, context, "a", tool));
  const denied = "tool_denylist";
  expect(tried).toEqual([denied, denied, denied, "begun", "begun", "max_tool_calls_per_step"]);
});

test("steps ask once however often they try, and an approval is for those that had asked", async () => {
  await using plan = await guarded({ requireApprovalForWrites: true });
  const context = new PlanExecutionContext({ store: plan.store, plan: plan.id, lease: plan.lease });
  for (const step of ["a", "a", "b"]) expect(await begin(plan, context, step)).toBe("require_approval_for_writes");
  const approve = (): Promise<string[]> =>
    plan.store.transaction((tx) => approveWrites(tx, plan.id, plan.lease.plan.attempt, "ann"));
  const approvals = await Promise.all(Array.from({ length: 8 }, approve));
  expect(approvals.filter((steps) => steps.length > 0)).toEqual([["a", "b"]]);
  expect([await begin(plan, context, "a"), await begin(plan, context, "a")]).toEqual(["begun", "begun"]);
  expect(await begin(plan, context, "c")).toBe("require_approval_for_writes");
  const found = await plan.store.read((reader) => findApprovals(reader, plan.id, plan.lease.plan.attempt));
  expect(found.map(({ subject, approvedBy }) => [subject, approvedBy])).toEqual([
    ["writes:a", "ann"],
    ["writes:b", "ann"],
    ["writes:c", undefined],
  ]);
  expect((await new PlanLifecycleService({ store: plan.store }).getPlan(plan.id)).state).toBe("processing");
});
