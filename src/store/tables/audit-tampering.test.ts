/** Changes to the audit log behind the program's back, and where `verifyAudit` says that it broke. */
import { copyFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PlanId } from "../../domain/names/ids.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import { openStore } from "../sqlite/open-store.ts";
import { ACTION, runPlan } from "../testing/audit-history.ts";
import { TestDirectory } from "../testing/fixtures.ts";
import { RawLog } from "../testing/raw-log.ts";
import { verifyAudit, type AuditProblem, type AuditVerification } from "./audit-verification.ts";
import { listAudit, SYSTEM_CHAIN } from "./audit.ts";

describe("tampered with", () => {
  let directory: TestDirectory;
  let original: string;
  let made: Made;
  let copies = 0;

  beforeAll(async () => {
    directory = await TestDirectory.make();
    original = directory.file("original.db");
    made = await makeLog(original);
  });
  afterAll(async () => directory[Symbol.asyncDispose]());

  /** Verifies a copy of the log after `change` was made to it with a connection of its own. */
  async function after(change: (log: RawLog) => void, expect?: string): Promise<AuditVerification> {
    const file = directory.file(`copy ${(copies += 1)}.db`);
    copyFileSync(original, file);
    const raw = new RawLog(file);
    change(raw);
    raw.close();
    await using store = await openStore(`sqlite:${file}`);
    const { problem: first, ...rest } = await verifyAudit(store, { at: 9, expect });
    // Finding a problem must not make it go away: no new seal may vouch for what is broken.
    if (first !== undefined) expectSame(first, (await verifyAudit(store, { at: 10, expect })).problem);
    return { ...rest, problem: first };
  }

  test("not at all: nothing is found in the log all of this starts from", async () => {
    const result = await after(() => undefined);
    expect(result).toMatchObject({ entries: made.entries, chains: 4, problem: undefined });
    expect(made.entries).toBeGreaterThan(256);
    expect(made.sealsBefore).toBeGreaterThan(1);
  });

  test("the plan of an entry changed, so that the plan's log would not show it", async () => {
    for (const planId of [null, "01M7PNVHZVA4HHGE79K0NMDAMX"]) {
      const { problem } = await after((log) => log.update(made.plan, 3, "plan_id", planId));
      expect(problem).toMatchObject({ kind: "entry", chain: made.plan, position: 3 });
    }
  });

  test("details changed", async () => {
    const { problem } = await after((log) => log.update(made.plan, 3, "details", '{"harmless":true}'));
    expect(problem).toMatchObject({ kind: "entry", chain: made.plan, position: 3 });
    expect(problem?.message).toContain("was changed");
    expect(problem?.entryId).toBe(made.entryIds[2]);
  });

  test.each([
    ["type", "plan.applied"],
    ["user_name", "mallory"],
    ["at", 77],
    ["status", "apply/applied"],
    ["plan_version", 99],
    ["hash", "f".repeat(64)],
    ["id", "01FORGED"],
  ])("the column %s changed", async (column, value) => {
    const { problem } = await after((log) => log.update(made.plan, 4, column, value));
    expect(problem).toMatchObject({ kind: "entry", chain: made.plan, position: 4 });
  });

  test("the link to the entry before changed", async () => {
    const { problem } = await after((log) => log.update(made.plan, 4, "previous_hash", "0".repeat(64)));
    expect(problem).toMatchObject({ kind: "entry", chain: made.plan, position: 4 });
    expect(problem?.message).toContain("does not follow");
  });

  test("details changed and the entry's hash made to fit: the next one does not follow", async () => {
    const { problem } = await after((log) => log.forge(made.plan, 3, { details: "{}" }));
    expect(problem).toMatchObject({ kind: "entry", chain: made.plan, position: 4 });
  });

  test("the last entry rewritten with a hash that fits: the recorded head does not", async () => {
    const { problem } = await after((log) => log.forge(made.plan, made.planLength, { details: "{}" }));
    expect(problem).toMatchObject({ kind: "chain", chain: made.plan, position: made.planLength });
  });

  test("a whole chain rewritten from an entry on, with its head: the seal over it does not fit", async () => {
    const { problem } = await after((log) => log.rewriteFrom(made.plan, 2, { details: "{}" }));
    expect(problem).toMatchObject({ kind: "seal", chain: made.plan });
  });

  test("an entry deleted in the middle", async () => {
    const { problem } = await after((log) => log.deleteEntries(made.plan, 3, 3));
    expect(problem).toMatchObject({ kind: "entry", chain: made.plan, position: 3 });
    expect(problem?.message).toContain("missing");
  });

  test("the first entry deleted", async () => {
    const { problem } = await after((log) => log.deleteEntries(made.plan, 1, 1));
    expect(problem).toMatchObject({ kind: "entry", chain: made.plan, position: 1 });
  });

  test("the tail deleted", async () => {
    const { problem } = await after((log) => log.deleteEntries(made.plan, made.planLength - 1, made.planLength));
    expect(problem).toMatchObject({ kind: "entry", chain: made.plan, position: made.planLength - 1 });
    expect(problem?.message).toContain("missing");
  });

  test("the tail deleted with its head adjusted: the plan is ahead of its entries", async () => {
    const { problem } = await after((log) => log.cutTail(made.plan, made.planLength - 2));
    expect(problem).toMatchObject({ kind: "plan", chain: made.plan });
  });

  test("the tail deleted with its head and its plan adjusted: the seal over it remembers", async () => {
    const { problem } = await after((log) => {
      log.cutTail(made.plan, made.planLength - 2);
      const last = log.entry(made.plan, made.planLength - 2);
      const [phase = "", state = ""] = String(last.status).split("/");
      log.run(
        "UPDATE plans SET version = ?, phase = ?, state = ? WHERE id = ?",
        last.plan_version,
        phase,
        state,
        made.plan,
      );
    });
    expect(problem).toMatchObject({ kind: "seal", chain: made.plan });
  });

  test("a whole chain deleted with its plan", async () => {
    const { problem } = await after((log) => log.deletePlan(made.plan, { entries: true }));
    expect(problem).toMatchObject({ kind: "seal", chain: made.plan });
    expect(problem?.message).toContain("no longer exists");
  });

  test("all entries of a chain deleted, its head left", async () => {
    const { problem } = await after((log) => log.deleteEntries(made.plan, 1, made.planLength));
    expect(problem).toMatchObject({ kind: "entry", chain: made.plan, position: 1 });
  });

  test("the head of a chain deleted", async () => {
    const { problem } = await after((log) => log.run("DELETE FROM audit_chains WHERE chain = ?", made.plan));
    expect(problem).toMatchObject({ kind: "chain", chain: made.plan, position: made.planLength });
  });

  test.each([
    ["state", "cancelled"],
    ["phase", "execute"],
    ["version", 77],
  ])("the plan's %s changed", async (column, value) => {
    const { problem } = await after((log) => log.run(`UPDATE plans SET ${column} = ? WHERE id = ?`, value, made.plan));
    expect(problem).toMatchObject({ kind: "plan", chain: made.plan });
    expect(problem?.message).toContain(made.plan);
  });

  test("the plan's row deleted", async () => {
    const { problem } = await after((log) => log.deletePlan(made.plan, { entries: false }));
    expect(problem).toMatchObject({ kind: "plan", chain: made.plan });
    expect(problem?.message).toContain("is gone");
  });

  test("a plan made up without any entry", async () => {
    const { problem } = await after((log) =>
      log.run(
        `INSERT INTO plans SELECT 'MADEUP', name, action_key, action_name, attempt, reversion_count, version, phase, state,
           description, definition_of_done, read_only, strategy_actor, execution_actor, estimation_actor, review_actor,
           apply_actor, invariant_actor, profile, profile_source, cancel_reason, created_at, updated_at,
           strategize_started_at, strategize_ended_at, execute_started_at, execute_ended_at, apply_started_at,
           apply_ended_at, undone_at, sequence + 1000 FROM plans WHERE id = ?`,
        made.plan,
      ),
    );
    expect(problem).toMatchObject({ kind: "plan", chain: "MADEUP" });
  });

  test.each([
    ["hash", "e".repeat(64)],
    ["at", 1],
    ["previous_hash", "e".repeat(64)],
  ])("a seal's %s changed", async (column, value) => {
    const { problem } = await after((log) => log.run(`UPDATE audit_seals SET ${column} = ? WHERE number = 1`, value));
    expect(problem).toMatchObject({ kind: "seal", seal: 1 });
  });

  test("the heads under a seal changed or deleted", async () => {
    for (const sql of [
      "UPDATE audit_seal_heads SET hash = 'x' WHERE seal = 1 AND chain = ?",
      "UPDATE audit_seal_heads SET length = 1 WHERE seal = 1 AND chain = ?",
      "DELETE FROM audit_seal_heads WHERE seal = 1 AND chain = ?",
    ]) {
      const { problem } = await after((log) => log.run(sql, made.plan));
      expect(problem).toMatchObject({ kind: "seal", seal: 1 });
    }
  });

  test("the first seal deleted", async () => {
    const { problem } = await after((log) => log.deleteSeals(1, 1));
    expect(problem).toMatchObject({ kind: "seal" });
  });

  test("the newest seal deleted: the chains still say that they were sealed", async () => {
    const { problem } = await after((log) => log.deleteSeals(made.sealsBefore, made.sealsBefore));
    expect(problem).toMatchObject({ kind: "seal" });
  });

  test("all seals deleted", async () => {
    const { problem } = await after((log) => log.deleteSeals(1, made.sealsBefore));
    expect(problem).toMatchObject({ kind: "seal" });
  });

  test("two entries swapped", async () => {
    const { problem } = await after((log) => log.swap(made.plan, 2, 3));
    expect(problem).toMatchObject({ kind: "entry", chain: made.plan, position: 2 });
  });

  test("a forged entry added at the end, in the middle of the numbers, or of a chain of its own", async () => {
    const added = await after((log) => log.insertForged(made.plan, made.planLength + 1));
    expect(added.problem).toMatchObject({ kind: "chain", chain: made.plan, position: made.planLength + 1 });
    const zero = await after((log) => log.insertForged(made.plan, 0));
    expect(zero.problem).toMatchObject({ kind: "entry", chain: made.plan });
    const foreign = await after((log) => log.insertForged("NOSUCHPLAN", 1));
    expect(foreign.problem).toMatchObject({ kind: "chain", chain: "NOSUCHPLAN", position: 1 });
  });

  test("an entry of the system's own chain", async () => {
    const { problem } = await after((log) => log.update(SYSTEM_CHAIN, 1, "details", "{}"));
    expect(problem).toMatchObject({ kind: "entry", chain: SYSTEM_CHAIN, position: 1 });
    expect(problem?.message).toContain("the system chain");
  });

  test("the first of several is the one that is named", async () => {
    const { problem } = await after((log) => {
      log.update(made.plan, 5, "details", "{}");
      log.update(made.plan, 2, "details", "{}");
    });
    expect(problem).toMatchObject({ chain: made.plan, position: 2 });
  });

  test("history replaced by another that is sound in itself: only a head kept elsewhere tells", async () => {
    const other = directory.file("another history.db");
    await makeLog(other);
    await using store = await openStore(`sqlite:${other}`);
    expect((await verifyAudit(store, { at: 1 })).problem).toBeUndefined();
    const { problem } = await verifyAudit(store, { at: 1, expect: made.head });
    expect(problem).toMatchObject({ kind: "expected_head" });
    expect(problem?.message).toContain(made.head);
  });
});

interface Made {
  readonly plan: PlanId;
  readonly planLength: number;
  readonly entryIds: readonly string[];
  readonly entries: number;
  readonly sealsBefore: number;
  readonly head: string;
}

/** Three plans that went through everything, and a system chain long enough for seals of its own. */
async function makeLog(file: string): Promise<Made> {
  await using store = await openStore(`sqlite:${file}`);
  const service = new PlanLifecycleService({ store });
  await service.createAction(ACTION);
  const plans: Plan[] = [];
  for (let i = 0; i < 3; i += 1) {
    const plan = await service.useAction({ action: "fix" });
    plans.push(i === 2 ? plan : await runPlan(service, plan));
  }
  await Promise.all(Array.from({ length: 260 }, (_, i) => service.createAction({ ...ACTION, name: `fix-${i}` })));
  await verifyAudit(store, { at: 1 });
  await service.cancelPlan((plans[2] as Plan).id);
  const { head = "", seals, entries, problem } = await verifyAudit(store, { at: 2 });
  expect(problem).toBeUndefined();
  const plan = (plans[1] as Plan).id;
  const rows = await store.read((reader) => listAudit(reader, 100, plan));
  return {
    plan,
    planLength: rows.length,
    entryIds: rows.map(({ id }) => id).reverse(),
    entries,
    sealsBefore: seals,
    head,
  };
}

function expectSame(first: AuditProblem, second: AuditProblem | undefined): void {
  expect(second).toEqual(first);
}
