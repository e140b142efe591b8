/**
 * Rolling back: what is behind the checkpoint counts no more, in one step, and what is before it is there byte for
 * byte.
 */
import { describe, expect, test } from "vitest";
import { ConflictError, NotFoundError, StaleLeaseError } from "../domain/errors/errors.ts";
import { PlanLifecycleService } from "./plan-lifecycle-service.ts";
import { runStep } from "../ledger/steps.ts";
import { statusKey } from "../domain/plan/transitions.ts";
import { verifyAudit } from "../store/tables/audit-verification.ts";
import type { Store } from "../store/port.ts";
import { findDecisions } from "../ledger/decisions.ts";
import { decisionWaves } from "../changes/decided-steps.ts";
import { recordedSteps } from "../changes/plan-changes.ts";
import type { PlannedStep } from "../execution/testing/decide.ts";
import { ExecutingPlan, step } from "../execution/testing/executing-plan.ts";
import { fill, type Tree } from "../execution/testing/trees.ts";
import { alteredStore } from "../testing/altered-store.ts";
import { outcomeOf } from "../testing/outcome.ts";
import { planRows, history } from "../testing/plan-rows.ts";
import { findCheckpoints, rollbackImpact, type Checkpoint } from "./rollback.ts";
import { completeApply } from "../testing/complete-apply.ts";

/** Adds, removes, renames, links, changes modes, by file tools and by commands, each on top of the one before. */
const WAVES: readonly (readonly PlannedStep[])[] = [
  [
    step("add", "write_file", { path: "new/ä b.txt", content: "added" }),
    step("edit", "edit_file", { path: "a.txt", old: "two", new: "2" }),
    step("look", "read_file", { path: "crlf.txt" }),
  ],
  [
    step("move", "move_file", { path: "script.sh", to: "bin/script" }),
    step("remove", "delete_file", { path: "binary.bin" }),
  ],
  [
    step("shell", "shell_execute", {
      command: [
        "rm new/*; rmdir new; echo file > new",
        "ln -s a.txt l2; rm link; ln -s crlf.txt link",
        "chmod 755 a.txt; chmod 644 bin/script",
        "rm empty.txt; mkdir empty.txt; echo in > empty.txt/inside",
        "rm -r src/deep; echo x > src/deep; mv 'with space' moved",
      ].join("; "),
    }),
  ],
  [
    step("last", "shell_execute", {
      command: "rm -r src empty.txt; echo end >> a.txt; echo big > big; ln -sf nowhere l2",
    }),
  ],
];

async function checkpoints(plan: ExecutingPlan): Promise<Checkpoint[]> {
  const found = await plan.service.getPlan(plan.id);
  return plan.store.read((reader) => findCheckpoints(reader, found));
}

async function after(plan: ExecutingPlan, name: string | undefined): Promise<Checkpoint> {
  const found = (await checkpoints(plan)).find((checkpoint) => checkpoint.step === name);
  if (found === undefined) throw new Error(`no checkpoint after ${name}`);
  return found;
}

/** Rolls back, as the owner of the plan would after its execution. */
async function rollBackTo(plan: ExecutingPlan, name: string | undefined): Promise<void> {
  await plan.service.rollbackPlan(plan.id, (await after(plan, name)).id);
  await plan.takeOver();
}

async function executed(kind: "memory" | "file" = "memory"): Promise<ExecutingPlan> {
  const plan = await ExecutingPlan.start({ kind });
  await plan.run(WAVES);
  await plan.service.completeExecute(plan.lease);
  return plan;
}

test.each(["git_worktree", "filesystem_copy"] as const)(
  "every checkpoint gives back exactly the files of its time, and the rest runs again to the same end (%s)",
  async (strategy) => {
    await using plan = await ExecutingPlan.start({ strategy });
    const trees = new Map<string, Tree>();
    for (const [index] of WAVES.entries()) {
      await plan.run(WAVES.slice(0, index + 1));
      trees.set(WAVES[index]?.at(-1)?.id ?? "", await plan.tree());
      await plan.takeOver();
    }
    const end = await plan.tree();
    await plan.service.completeExecute(plan.lease);
    // "look" changed nothing, so what comes after it is what came before it.
    trees.set("edit", trees.get("look") ?? new Map());
    for (const name of ["shell", "remove", "edit", undefined]) {
      await fill(plan.root, { junk: "left behind by another program", "a.txt": "damaged" });
      await rollBackTo(plan, name);
      await plan.run([]);
      const expected = name === undefined ? plan.base : trees.get(name);
      expect(await plan.tree(), name ?? "start").toEqual(expected);
      expect(await plan.replayed(await plan.recorded())).toEqual(expected);
      await plan.takeOver();
      await plan.run(WAVES);
      expect(await plan.tree()).toEqual(end);
      expect(await plan.replayed(await plan.recorded())).toEqual(end);
      await plan.service.completeExecute(plan.lease);
    }
    expect((await verifyAudit(plan.store, { at: Date.now() })).problem).toBeUndefined();
  },
);

test("lists where one can go back to: the beginning, and after each step that changed something", async () => {
  await using plan = await executed();
  const found = await checkpoints(plan);
  expect(found.map((checkpoint) => checkpoint.step)).toEqual([
    undefined,
    "add",
    "edit",
    "move",
    "remove",
    "shell",
    "last",
  ]);
  expect(found[3]).toMatchObject({ changes: 1, files: ["api/bin/script", "api/script.sh"] });
  expect(found[0]).toMatchObject({ id: "start", changes: 0, files: [] });
});

test("what is behind is superseded and kept; the same is decided again and run again, credited once", async () => {
  await using plan = await executed();
  const before = await planRows(plan.store, plan.id);
  const live = await plan.store.read((reader) => findDecisions(reader, plan.id, 1));
  const checkpoint = await after(plan, "move");
  const { plan: moved, impact } = await plan.service.rollbackPlan(plan.id, checkpoint.id);
  expect(statusKey(moved)).toBe("execute/queued");
  expect(impact).toMatchObject({ steps: ["remove", "shell", "last"], decisions: 3, toolCalls: 3, nothing: false });
  expect(impact.files).toContain("api/binary.bin");

  const rows = await planRows(plan.store, plan.id);
  for (const table of ["steps", "calls", "changesets", "changes"] as const)
    expect(rows[table]).toHaveLength(before[table].length);
  expect(rows.changes).toEqual(before.changes);
  const marked = (table: "decisions" | "calls" | "changesets"): number =>
    rows[table].filter((row) => row["superseded_at"] !== null).length;
  expect([marked("decisions"), marked("calls"), marked("changesets")]).toEqual([3, 3, 3]);
  expect([...(await recordedSteps(plan.store, plan.id, 1)).keys()]).toEqual(["add", "edit", "look", "move"]);
  expect(history(rows).at(-1)).toMatchObject({ operation: "rollbackPlan", from: "execute/complete" });
  expect(JSON.parse(String(rows.audit.at(-1)?.["details"]))).toMatchObject({
    checkpoint: checkpoint.id,
    superseded: { steps: ["remove", "shell", "last"], decisions: 3, tool_calls: 3 },
  });

  const again = await plan.store.read((reader) => findDecisions(reader, plan.id, 1));
  const names = (decisions: typeof live): (string | undefined)[] =>
    decisionWaves(decisions).flatMap((wave) => wave.map((decision) => decision.step));
  expect(names(again)).toEqual(names(live));
  expect(again.map(({ id }) => id).slice(0, 5)).toEqual(live.map(({ id }) => id).slice(0, 5));
  for (const old of live.slice(5)) {
    const kept = rows.decisions.find((row) => row["id"] === old.id);
    const replacement = again.find(({ id }) => id === kept?.["superseded_by"]);
    expect(replacement).toMatchObject({ step: old.step, chosen: old.chosen, parent: old.parent, type: old.type });
  }
  expect(rows.decisions.map((row) => row["sequence"])).toEqual(rows.decisions.map((_, index) => index + 1));

  await plan.takeOver();
  await plan.run(WAVES);
  const ids = new Set(again.map(({ id }) => id as string));
  const entries = await plan.recorded();
  expect(entries.every(({ decision }) => ids.has(decision ?? ""))).toBe(true);
  expect(entries.map(({ step: name }) => name).filter((name) => name === "remove")).toHaveLength(1);
  expect(new Set(entries.map(({ toolInvocation }) => toolInvocation)).size).toBe(6);
});

test("of two calls that one answer asked for, the one behind the checkpoint is superseded, and the other stays", async () => {
  await using plan = await ExecutingPlan.start();
  await plan.run([
    [step("a", "write_file", { path: "a", content: "" })],
    [step("b", "write_file", { path: "b", content: "" })],
  ]);
  const [a, b] = [await plan.decision("a"), await plan.decision("b")];
  await plan.store.transaction((tx) =>
    tx.run("UPDATE tool_invocations SET decision_id = ? WHERE decision_id = ?", a, b),
  );
  await plan.service.completeExecute(plan.lease);
  await plan.service.rollbackPlan(plan.id, (await after(plan, "a")).id);
  const { calls } = await planRows(plan.store, plan.id);
  expect(calls.map((call) => [call["decision_id"], call["superseded_at"] === null])).toEqual([
    [a, true],
    [a, false],
  ]);
});

test("needs among renewed decisions lead to the renewed ones, and those before the checkpoint to what stays", async () => {
  await using plan = await ExecutingPlan.start();
  await plan.run([
    [step("a", "write_file", { path: "a", content: "" })],
    [step("b", "write_file", { path: "b", content: "" })],
  ]);
  const [a, b, c] = [await plan.decision("a"), await plan.decision("b"), await plan.decision("c")];
  await plan.store.transaction(async (tx) => {
    await tx.run("UPDATE decisions SET needs = ? WHERE id = ?", JSON.stringify([a]), b);
    await tx.run("UPDATE decisions SET needs = ? WHERE id = ?", JSON.stringify([a, b]), c);
  });
  await plan.service.completeExecute(plan.lease);
  await plan.service.rollbackPlan(plan.id, (await after(plan, "a")).id);
  const decisions = await plan.store.read((reader) => findDecisions(reader, plan.id, 1));
  const by = (name: string) => decisions.find((decision) => decision.step === name);
  expect(by("a")?.id).toBe(a);
  expect(by("b")).toMatchObject({ needs: [a] });
  expect(by("b")?.id).not.toBe(b);
  expect(by("c")).toMatchObject({ needs: [a, by("b")?.id] });
});

test("everything else that was recorded behind the steps goes too: validations, hooks, and what applying recorded", async () => {
  await using plan = await ExecutingPlan.start();
  await plan.run([[step("a", "write_file", { path: "a", content: "" })]]);
  await runStep(plan.lease, "validation:one", () => ({ passed: true }));
  await runStep(plan.lease, "hook:api:pre-commit", () => ({ order: [1, 0], skipped: true }));
  await plan.service.completeExecute(plan.lease);
  await plan.service.applyPlan(plan.id);
  const apply = await plan.service.startApply(plan.id);
  await runStep(apply, "merge", () => "of what will be gone");
  await plan.service.failApply(apply, { message: "conflict" });
  const checkpoint = await after(plan, "a");
  const seen = await plan.service.getPlan(plan.id);
  const impact = await plan.store.read((reader) => rollbackImpact(reader, seen, checkpoint));
  expect(impact).toEqual({ steps: [], decisions: 0, toolCalls: 0, files: [], nothing: false });
  const rolled = await plan.service.rollbackPlan(plan.id, checkpoint.id);
  expect(statusKey(rolled.plan)).toBe("execute/queued");
  expect(rolled.plan.phaseTimes.apply).toEqual({ startedAt: undefined, endedAt: undefined });
  const { impact: none } = await plan.service.rollbackPlan(plan.id, checkpoint.id);
  expect(none.nothing).toBe(true);

  await plan.takeOver();
  expect(await runStep(plan.lease, "validation:one", () => "again")).toBe("again");
  await plan.service.completeExecute(plan.lease);
  await plan.service.applyPlan(plan.id);
  const second = await plan.service.startApply(plan.id);
  expect(await runStep(second, "merge", () => "again")).toBe("again");
  second.stop();
  expect((await planRows(plan.store, plan.id)).steps).toHaveLength(6);
});

test("cut short at any of its statements, nothing of it is there", async () => {
  await using plan = await executed();
  const before = await planRows(plan.store, plan.id);
  const checkpoint = await after(plan, "remove");
  let writes = 0;
  const breaking = (at: number): PlanLifecycleService => {
    writes = 0;
    const transaction: Store["transaction"] = (unit) =>
      plan.store.transaction((tx) =>
        unit({
          unitsOverlap: tx.unitsOverlap,
          get: (...call) => tx.get(...call),
          all: (...call) => tx.all(...call),
          run: (...call) => {
            writes += 1;
            return writes === at ? Promise.reject(new Error("cut short")) : tx.run(...call);
          },
        }),
      );
    return new PlanLifecycleService({ store: alteredStore(plan.store, { transaction }) });
  };
  for (let at = 1; ; at += 1) {
    const outcome = await outcomeOf(breaking(at).rollbackPlan(plan.id, checkpoint.id));
    if (outcome.ok) break;
    expect(outcome.error.message).toContain("cut short");
    expect(await planRows(plan.store, plan.id)).toEqual(before);
  }
  // Two steps, their changesets, decisions and calls, two new decisions, the plan, its lease, event and audit entry.
  expect(writes).toBeGreaterThanOrEqual(16);
  expect([...(await recordedSteps(plan.store, plan.id, 1)).keys()]).toEqual(["add", "edit", "look", "move", "remove"]);
});

describe("is refused", () => {
  test("while another process executes the plan; not once its lease has lapsed, and then it can write nothing more", async () => {
    await using plan = await ExecutingPlan.start();
    await plan.run([[step("a", "write_file", { path: "a", content: "" })]]);
    const before = await planRows(plan.store, plan.id);
    const error = await plan.service.rollbackPlan(plan.id, "start").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({ message: expect.stringContaining("is being worked on by"), meaning: { exit: 4 } });
    expect(await planRows(plan.store, plan.id)).toEqual(before);
    await plan.store.transaction((tx) => tx.run("UPDATE leases SET expires_at = 1 WHERE plan_id = ?", plan.id));
    await plan.service.rollbackPlan(plan.id, "start");
    await expect(runStep(plan.lease, "late", () => 1)).rejects.toBeInstanceOf(StaleLeaseError);
    await expect(plan.service.completeExecute(plan.lease)).rejects.toSatisfy(
      (e) => e instanceof ConflictError || e instanceof StaleLeaseError,
    );
  });

  test("of two at once that saw the same one wins", async () => {
    await using plan = await executed("file");
    const { version } = await plan.service.getPlan(plan.id);
    const found = await checkpoints(plan);
    const outcomes = await Promise.allSettled(
      found.map(({ id }) => plan.service.rollbackPlan(plan.id, id, { expectedVersion: version })),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === "rejected") expect(outcome.reason).toBeInstanceOf(ConflictError);
    const { steps, decisions } = await planRows(plan.store, plan.id);
    expect(steps).toHaveLength(WAVES.flat().length);
    const live = decisions.filter((row) => row["superseded_at"] === null && row["step_id"] !== null);
    expect(live.map((row) => String(row["step_id"])).sort()).toEqual(
      WAVES.flat()
        .map(({ id }) => id)
        .sort(),
    );
  });

  test("when there is no such plan or checkpoint, also one that a rollback discarded", async () => {
    await using plan = await executed();
    const gone = await after(plan, "last");
    await plan.service.rollbackPlan(plan.id, (await after(plan, "shell")).id);
    const before = await planRows(plan.store, plan.id);
    for (const id of [gone.id, "01HZZZZZZZZZZZZZZZZZZZZZZZ"])
      await expect(plan.service.rollbackPlan(plan.id, id)).rejects.toBeInstanceOf(NotFoundError);
    for (const id of ["", "nonsense!"])
      await expect(plan.service.rollbackPlan(plan.id, id)).rejects.toMatchObject({ meaning: { exit: 2 } });
    await expect(plan.service.rollbackPlan(plan.id, "0")).rejects.toThrow("Several checkpoints begin with");
    await expect(plan.service.rollbackPlan("01HZZZZZZZZZZZZZZZZZZZZZZZ" as never, "start")).rejects.toThrow("no plan");
    expect(await planRows(plan.store, plan.id)).toEqual(before);
  });

  test("once it is applied or cancelled", async () => {
    await using plan = await executed();
    await plan.service.applyPlan(plan.id);
    await completeApply(await plan.service.startApply(plan.id));
    await expect(plan.service.rollbackPlan(plan.id, "start")).rejects.toThrow("cannot be rolled back");
  });
});
