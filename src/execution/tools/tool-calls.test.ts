/**
 * Tool calls on record: begun before, ended after, refused ones too; and every change is credited to its call and
 * decision.
 */
import { expect, test } from "vitest";
import { PlanError, StaleLeaseError } from "../../domain/errors/errors.ts";
import { PlanExecutionContext } from "../workspace/plan-execution-context.ts";
import type { JsonObject } from "../../domain/values/json.ts";
import type { Store } from "../../store/port.ts";
import { findDecisions } from "../../ledger/decisions.ts";
import { findInvocations } from "../../ledger/invocations.ts";
import { alteredStore } from "../../testing/altered-store.ts";
import { planRows } from "../../testing/plan-rows.ts";
import { decisionOutcomes } from "../../changes/decision-outcomes.ts";
import { dependants, stepsOfDecisions } from "../../changes/decided-steps.ts";
import { recordedSteps } from "../../changes/plan-changes.ts";
import { ExecutingPlan, step } from "../testing/executing-plan.ts";

test("what was called, for which decision, how it ended; its changes carry both", async () => {
  await using plan = await ExecutingPlan.start();
  const { call } = await plan.open();
  await call("write_file", { path: "new/x", content: "ä" }, "write");
  await expect(call("shell_execute", { command: "echo half > half; exit 3" }, "shell")).rejects.toThrow("exit code 3");
  const { calls, changes, decisions } = await planRows(plan.store, plan.id);
  const [write, shell] = [await plan.decision("write"), await plan.decision("shell")];
  expect(calls).toMatchObject([
    {
      plan_id: plan.id,
      attempt: 1,
      decision_id: write,
      tool: "write_file",
      parameters: '{"path":"new/x","content":"ä"}',
      epoch: plan.lease.epoch,
      outcome: "ok",
      error: null,
      result_size: JSON.stringify({ path: "new/x", size: 2 }).length,
      superseded_at: null,
    },
    { decision_id: shell, outcome: "failed", error: expect.stringContaining("exit code 3"), result_size: null },
  ]);
  for (const one of calls) expect(one["duration_ms"]).toBeGreaterThanOrEqual(0);
  expect(changes).toMatchObject([
    { path: "new/x", tool_invocation: calls[0]?.["id"], changeset_id: calls[0]?.["changeset_id"], decision: write },
    { path: "half", tool_invocation: calls[1]?.["id"], changeset_id: calls[1]?.["changeset_id"], decision: shell },
  ]);
  expect(decisions.map((decision) => decision["sequence"])).toEqual(decisions.map((_, index) => index + 1));
});

test.each([
  ["an unknown tool", "raed_file", { path: "a.txt" }, "There is no tool"],
  ["parameters that do not fit", "write_file", { path: "x" }, "do not fit"],
  ["an unknown resource", "read_file", { resource: "web", path: "x" }, "no resource"],
  ["a path that leaves", "write_file", { path: "../x", content: "" }, "contains"],
  ["an ignored path", "write_file", { path: "x.log", content: "" }, "ignored by git"],
  ["a text with control characters", "edit_file", { path: "a.txt", old: "\u001b[31m", new: "" }, "does not contain"],
] as const satisfies readonly (readonly [string, string, JsonObject, string])[])(
  "refused and recorded: %s",
  async (_name, tool, params, message) => {
    await using plan = await ExecutingPlan.start();
    const { call, entries } = await plan.open();
    await expect(call(tool, params)).rejects.toThrow(message);
    const { calls } = await planRows(plan.store, plan.id);
    expect(calls).toMatchObject([{ tool, outcome: "failed", error: expect.stringContaining(message) }]);
    expect(JSON.parse(String(calls[0]?.["parameters"]))).toEqual(params);
    expect(await entries()).toEqual([]);
  },
);

test("a read-only plan's attempt to write is recorded; what was aborted beforehand was never called", async () => {
  await using plan = await ExecutingPlan.start({ readOnly: true });
  const { call } = await plan.open();
  await expect(call("write_file", { path: "x", content: "" })).rejects.toThrow("the plan is read-only");
  await expect(call("read_file", { path: "x" }, "late", AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
  const { calls } = await planRows(plan.store, plan.id);
  expect(calls).toMatchObject([{ outcome: "failed", error: expect.stringContaining("read-only") }]);
});

test("a call costs no commit of its own, and what was decided word for word is kept once", async () => {
  await using plan = await ExecutingPlan.start();
  await plan.run([[step("a", "write_file", { path: "x", content: "1" })]]);
  let commits = 0;
  const transaction: Store["transaction"] = (unit) => {
    commits += 1;
    return plan.store.transaction(unit);
  };
  const store = alteredStore(plan.store, { transaction });
  const context = new PlanExecutionContext({ store, plan: plan.id, lease: plan.lease });
  const decision = await plan.decision("a");
  for (const [path, written] of [
    ["x", null],
    ["y", '{"path":"y","content":"1"}'],
  ] as const) {
    const params = { path, content: "1" };
    commits = 0;
    const changeset = await context.startChangeset({ decision, tool: "write_file", params });
    await changeset.close({ outcome: "ok", durationMs: 1, resultSize: 1 });
    expect(commits).toBe(2);
    const calls = await store.read((reader) => findInvocations(reader, plan.id, 1));
    expect(calls.at(-1)).toMatchObject({ params, end: { outcome: "ok" } });
    expect((await planRows(plan.store, plan.id)).calls.at(-1)).toMatchObject({ parameters: written });
  }
});

test("without the lease no call begins, and none ends", async () => {
  await using plan = await ExecutingPlan.start();
  const { call } = await plan.open();
  const decision = await plan.decision("slow");
  const slow = call("shell_execute", { command: "sleep 0.3; echo late > late" }, "slow");
  while ((await planRows(plan.store, plan.id)).calls.length === 0)
    await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await stateOf(plan, decision)).toBe("running");
  await plan.takeOver();
  expect(await stateOf(plan, decision)).toBe("interrupted");
  await expect(slow).rejects.toBeInstanceOf(StaleLeaseError);
  await expect(call("read_file", { path: "a.txt" }, "slow")).rejects.toBeInstanceOf(StaleLeaseError);
  expect((await planRows(plan.store, plan.id)).calls).toMatchObject([{ outcome: null, duration_ms: null }]);
  expect(await stateOf(plan, decision)).toBe("interrupted");
});

test("for a decision of another plan, or one that counts no more, nothing is called", async () => {
  await using plan = await ExecutingPlan.start();
  const { context } = await plan.open();
  const decision = await plan.decision("gone");
  await plan.store.transaction((tx) => tx.run("UPDATE decisions SET superseded_at = 1 WHERE id = ?", decision));
  const before = await planRows(plan.store, plan.id);
  for (const one of [decision, "01HZZZZZZZZZZZZZZZZZZZZZZZ"] as (typeof decision)[]) {
    const start = context.startChangeset({ decision: one, tool: "read_file", params: {} });
    await expect(start).rejects.toBeInstanceOf(PlanError);
  }
  expect(await planRows(plan.store, plan.id)).toEqual(before);
});

test("the steps of a decision, and the decisions that hang on one, follow from what was recorded", async () => {
  await using plan = await ExecutingPlan.start();
  await plan.run([
    [
      step("a", "write_file", { path: "x", content: "1" }),
      step("b", "move_file", { path: "a.txt", to: "b.txt" }),
      step("c", "write_file", { path: "c", content: "1" }),
      step("look", "read_file", { path: "crlf.txt" }),
    ],
    // Later, and without a need: only the paths tell that they build on what is there.
    [
      step("refill", "write_file", { path: "a.txt", content: "where b took it from" }),
      step("on-b", "edit_file", { path: "b.txt", old: "one", new: "1" }),
    ],
    [step("on-a", "shell_execute", { command: "cp x copy; echo 2 >> x; rm b.txt" })],
  ]);
  const { store, id } = plan;
  const named = async (name: string): Promise<string[]> => {
    const found = await dependants(store, id, 1, await plan.decision(name));
    const decisions = await store.read((reader) => findDecisions(reader, id, 1));
    return decisions.flatMap((decision) => (found.has(decision.id) ? (decision.step ?? "root") : []));
  };
  expect(await named("a")).toEqual(["a", "on-a"]);
  expect(await named("b")).toEqual(["b", "refill", "on-b", "on-a"]);
  expect(await named("c")).toEqual(["c"]);
  expect(await named("look")).toEqual(["look"]);
  const steps = await recordedSteps(store, id, 1);
  const own = await stepsOfDecisions(store, id, 1, new Set([await plan.decision("on-b")]));
  expect([...own]).toEqual([["on-b", steps.get("on-b")]]);
  await expect(dependants(store, id, 1, "01HZZZZZZZZZZZZZZZZZZZZZZZ" as never)).rejects.toThrow("There is no decision");
});

async function stateOf(plan: ExecutingPlan, decision: string): Promise<string | undefined> {
  const outcomes = await plan.store.read((reader) => decisionOutcomes(reader, plan.id, 1, { superseded: true }));
  return outcomes.find((outcome) => outcome.decision.id === decision)?.state;
}
