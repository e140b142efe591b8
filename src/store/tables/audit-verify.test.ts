/** The audit log: what was done to it behind the program's back, and where `verifyAudit` says it broke. */
import { copyFileSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PlanId } from "../../domain/names/ids.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import { appendAudit, entryHash, listAudit, planOfEntry, sealAudit, SYSTEM_CHAIN, type AuditRow } from "./audit.ts";
import { verifyAudit, type AuditProblem, type AuditVerification } from "./audit-verify.ts";
import { openStore } from "../sqlite/open.ts";
import { ROW_CONTENTS } from "../contents/content-files.ts";
import type { Reader, Store, Tx } from "../port.ts";
import { StoreFixture, TestDirectory } from "../testing/fixtures.ts";
import { completeApply } from "../../testing/complete-apply.ts";

const ACTION = { name: "fix", description: "Fix it", definitionOfDone: "It works", executionActor: "local/worker" };

describe("an untouched log", () => {
  test("that is empty verifies and has no head", async () => {
    await using fixture = await StoreFixture.memory();
    expect(await verifyAudit(fixture.store, { at: 1 })).toEqual({
      entries: 0,
      chains: 0,
      seals: 0,
      head: undefined,
      problem: undefined,
    });
  });

  test("verifies, counts what is there, and is sealed once however often it is looked at", async () => {
    await using fixture = await StoreFixture.memory();
    const service = new PlanLifecycleService({ store: fixture.store });
    await service.createAction(ACTION);
    await runPlan(service, await service.useAction({ action: "fix" }));
    const first = await verifyAudit(fixture.store, { at: 1 });
    expect(first).toMatchObject({ entries: 1 + 1 + 8, chains: 2, seals: 1, problem: undefined });
    expect(first.head).toMatch(/^[0-9a-f]{64}$/);
    expect(await verifyAudit(fixture.store, { at: 2 })).toEqual(first);
  });

  test("the newest entries come first, of everything or of one chain", async () => {
    await using fixture = await StoreFixture.memory();
    const service = new PlanLifecycleService({ store: fixture.store, user: "ann" });
    await service.createAction(ACTION);
    const plan = await service.useAction({ action: "fix" });
    await service.cancelPlan(plan.id, { reason: "not needed" });
    const everything = await fixture.store.read((reader) => listAudit(reader, 10));
    expect(everything.map(({ type }) => type)).toEqual(["plan.cancelled", "plan.created", "action.created"]);
    const ofPlan = await fixture.store.read((reader) => listAudit(reader, 1, plan.id));
    expect(ofPlan.map((row) => [row.type, row.position, row.user_name, row.status])).toEqual([
      ["plan.cancelled", 2, "ann", "strategize/cancelled"],
    ]);
  });

  test("for every name of a user, the log verifies or the name is refused", async () => {
    for (const user of ["Ann", "名前", "a\0b", "\ud800", "x'; --", "\u001b[2J", "é".normalize("NFD")]) {
      await using fixture = await StoreFixture.memory();
      await Promise.resolve()
        .then(() => new PlanLifecycleService({ store: fixture.store, user }).createAction(ACTION))
        .catch(() => undefined);
      const { problem } = await verifyAudit(fixture.store, { at: 1 });
      expect({ user, problem }).toEqual({ user, problem: undefined });
    }
  });
});

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
    expect(problem?.message).toContain("not there any more");
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

test("a log that is broken gets no new seal, which would vouch for it", async () => {
  await using fixture = await StoreFixture.memory();
  const service = new PlanLifecycleService({ store: fixture.store });
  await service.createAction(ACTION);
  const { head } = await verifyAudit(fixture.store, { at: 1 });
  await service.createAction({ ...ACTION, name: "other" });
  await fixture.store.transaction((tx) => tx.run("UPDATE audit_entries SET user_name = 'mallory' WHERE position = 1"));
  const broken = await verifyAudit(fixture.store, { at: 2 });
  expect(broken).toMatchObject({ seals: 1, head, problem: { kind: "entry", chain: SYSTEM_CHAIN, position: 1 } });
  const sealed = await fixture.store.read((reader) => reader.all("SELECT number FROM audit_seals"));
  expect(sealed).toHaveLength(1);
});

describe("a head kept elsewhere", () => {
  test("still fits after more was added, in either case of letters, and a wrong one does not", async () => {
    await using fixture = await StoreFixture.memory();
    const service = new PlanLifecycleService({ store: fixture.store });
    await service.createAction(ACTION);
    const plan = await service.useAction({ action: "fix" });
    const { head = "", entries } = await verifyAudit(fixture.store, { at: 1 });
    await runPlan(service, plan);
    const later = await verifyAudit(fixture.store, { at: 2, expect: head });
    expect(later.entries - (later.sinceExpected ?? 0)).toBe(entries);
    expect(later.sinceExpected).toBeGreaterThan(0);
    expect(later).toMatchObject({ seals: 2, problem: undefined });
    expect(later.head).not.toBe(head);
    expect((await verifyAudit(fixture.store, { at: 3, expect: head.toUpperCase() })).problem).toBeUndefined();
    const wrong = await verifyAudit(fixture.store, { at: 4, expect: "0".repeat(64) });
    expect(wrong).toMatchObject({ problem: { kind: "expected_head" }, head: later.head });
  });
});

describe("long logs", () => {
  // Pages hold 1,000 entries: lengths around that put a chain's end right before, on and right behind a border.
  test.each([
    { lengths: [999, 1, 3] },
    { lengths: [1_000, 1, 3] },
    { lengths: [1_001, 1, 3] },
    { lengths: [998, 2, 1_000] },
    { lengths: [1_000, 1_000] },
    { lengths: [2_000] },
    { lengths: [500, 500, 500, 500] },
  ])("chains of $lengths entries verify, and a cut at any chain's end is found", async ({ lengths }) => {
    await using fixture = await StoreFixture.memory();
    const { store } = fixture;
    await fillChains(store, lengths);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    const sound = await verifyAudit(store, { at: 1 });
    // The chains here belong to no plan; that is the one thing that is found after all entries were.
    expect(sound).toMatchObject({ entries: total, chains: lengths.length, problem: { kind: "plan" } });
    for (const [index, length] of lengths.entries()) {
      const chain = chainName(index);
      await store.transaction((tx) =>
        tx.run("UPDATE audit_entries SET position = -position WHERE chain = ? AND position = ?", chain, length),
      );
      const { problem } = await verifyAudit(store, { at: 1 });
      expect(problem).toMatchObject({ kind: "entry", chain });
      await store.transaction((tx) =>
        tx.run("UPDATE audit_entries SET position = -position WHERE chain = ? AND position < 0", chain),
      );
    }
  });

  test("the last entry cut off right at a page border is not missed", async () => {
    for (const lengths of [[1_000, 5], [1_001, 5], [1_000], [400, 600], [400, 601, 2]]) {
      await using fixture = await StoreFixture.memory();
      await fillChains(fixture.store, lengths);
      for (const [index, length] of lengths.entries()) {
        const chain = chainName(index);
        await fixture.store.transaction((tx) =>
          tx.run("UPDATE audit_entries SET chain = '~aside' WHERE chain = ? AND position = ?", chain, length),
        );
        const { problem } = await verifyAudit(fixture.store, { at: 1 });
        expect({ lengths, problem }).toMatchObject({ problem: { kind: "entry", chain, position: length } });
        await fixture.store.transaction((tx) =>
          tx.run("UPDATE audit_entries SET chain = ? WHERE chain = '~aside'", chain),
        );
      }
    }
  });
});

describe("seals", () => {
  test("come with every 256th entry and cover each chain that grew", async () => {
    await using fixture = await StoreFixture.memory();
    await fillChains(fixture.store, [300, 300]);
    const heads = await fixture.store.read((reader) =>
      reader.all<{ seal: number; chain: string; length: number }>(
        "SELECT seal, chain, length FROM audit_seal_heads ORDER BY seal, chain",
      ),
    );
    expect(heads.map((head) => ({ ...head }))).toEqual([
      { seal: 1, chain: chainName(0), length: 256 },
      { seal: 2, chain: chainName(0), length: 300 },
      { seal: 2, chain: chainName(1), length: 212 },
    ]);
    const sealed = await fixture.store.transaction((tx) => sealAudit(tx, 5));
    expect(sealed).toMatchObject({ number: 3, at: 5 });
    expect(await fixture.store.transaction((tx) => sealAudit(tx, 6))).toEqual(sealed);
  });
});

test("verifying while others write raises no false alarm", async () => {
  await using fixture = await StoreFixture.file();
  const service = new PlanLifecycleService({ store: fixture.store });
  await service.createAction(ACTION);
  const other = await fixture.again();
  let writing = true;
  const writers = Array.from({ length: 4 }, async () => {
    while (writing) await runPlan(service, await service.useAction({ action: "fix" }));
  });
  const found: AuditVerification[] = [];
  const heads: string[] = [];
  for (let round = 0; round < 25; round += 1) {
    const result = await verifyAudit(other, { at: round, expect: heads.at(-1) });
    found.push(result);
    if (result.head !== undefined) heads.push(result.head);
  }
  writing = false;
  await Promise.all(writers);
  expect(found.map(({ problem }) => problem)).toEqual(found.map(() => undefined));
  // Otherwise nothing was written meanwhile and this proved nothing.
  expect(new Set(heads).size).toBeGreaterThan(5);
  expect((await verifyAudit(other, { at: 99, expect: heads[0] })).problem).toBeUndefined();
});

test("nor when another process commits between any two of its reads", async () => {
  await using fixture = await StoreFixture.memory();
  const service = new PlanLifecycleService({ store: fixture.store });
  await service.createAction(ACTION);
  const waiting: Plan[] = [];
  // More than a page of entries, so that the reading has borders where a chain can grow.
  for (let i = 0; i < 1_100; i += 1) waiting.push(await service.useAction({ action: "fix" }));
  const disturbed = new DisturbedStore(fixture.store, async () => {
    await service.useAction({ action: "fix" });
    for (const at of [0, Math.floor(waiting.length / 2), waiting.length - 1]) {
      const [plan] = waiting.splice(at, 1);
      if (plan !== undefined) await service.cancelPlan(plan.id);
    }
  });
  for (let round = 0; round < 5; round += 1) {
    expect((await verifyAudit(disturbed, { at: round })).problem).toBeUndefined();
  }
  expect(disturbed.reads).toBeGreaterThan(20);
});

/** A store on which something else is committed before each read. */
class DisturbedStore implements Store {
  readonly url: string;
  readonly contents = ROW_CONTENTS;
  reads = 0;
  readonly #store: Store;
  readonly #disturb: () => Promise<void>;

  constructor(store: Store, disturb: () => Promise<void>) {
    this.url = store.url;
    this.#store = store;
    this.#disturb = disturb;
  }

  async read<T>(query: (reader: Reader) => Promise<T>): Promise<T> {
    this.reads += 1;
    await this.#disturb();
    return this.#store.read(query);
  }

  transaction<T>(unit: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#store.transaction(unit);
  }

  changeCounter(): Promise<number> {
    return this.#store.changeCounter();
  }

  onCommit(listener: () => void): () => void {
    return this.#store.onCommit(listener);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

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

/** Through all phases to the end: eight transitions. */
async function runPlan(service: PlanLifecycleService, plan: Plan): Promise<Plan> {
  await service.completeStrategize(await service.startStrategize(plan.id));
  await service.executePlan(plan.id);
  await service.completeExecute(await service.startExecute(plan.id));
  await service.applyPlan(plan.id);
  return completeApply(await service.startApply(plan.id));
}

function chainName(index: number): string {
  return `CHAIN${index}`;
}

async function fillChains(store: Store, lengths: readonly number[]): Promise<void> {
  for (const [index, length] of lengths.entries()) {
    await store.transaction(async (tx) => {
      for (let position = 1; position <= length; position += 1) {
        await appendAudit(tx, {
          id: `${index}-${position}`,
          chain: chainName(index),
          type: "test",
          at: position,
          user: "tester",
          details: { position },
        });
      }
    });
  }
}

function expectSame(first: AuditProblem, second: AuditProblem | undefined): void {
  expect(second).toEqual(first);
}

type EntryColumns = Omit<AuditRow, "sequence">;

/** A connection of an attacker who knows exactly how the log is made. */
class RawLog {
  readonly #database: DatabaseSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  }

  run(sql: string, ...parameters: SQLInputValue[]): void {
    const { changes } = this.#database.prepare(sql).run(...parameters);
    if (Number(changes) === 0) throw new Error(`Nothing was tampered with: ${sql}`);
  }

  entry(chain: string, position: number): AuditRow {
    const row = this.#database
      .prepare("SELECT * FROM audit_entries WHERE chain = ? AND position = ?")
      .get(chain, position);
    return row as unknown as AuditRow;
  }

  update(chain: string, position: number, column: string, value: SQLInputValue): void {
    this.run(`UPDATE audit_entries SET ${column} = ? WHERE chain = ? AND position = ?`, value, chain, position);
  }

  /** Changes an entry and makes its own hash fit; the new hash. */
  forge(chain: string, position: number, change: Partial<EntryColumns>): string {
    const entry = { ...this.entry(chain, position), ...change };
    const hash = entryHash(entry);
    this.update(chain, position, "details", entry.details);
    this.update(chain, position, "previous_hash", entry.previous_hash);
    this.update(chain, position, "hash", hash);
    return hash;
  }

  rewriteFrom(chain: string, position: number, change: Partial<EntryColumns>): void {
    let hash = this.forge(chain, position, change);
    for (let next = position + 1; this.entry(chain, next) !== undefined; next += 1) {
      hash = this.forge(chain, next, { previous_hash: hash });
    }
    this.run("UPDATE audit_chains SET head_hash = ? WHERE chain = ?", hash, chain);
  }

  deleteEntries(chain: string, from: number, to: number): void {
    this.run("DELETE FROM audit_entries WHERE chain = ? AND position BETWEEN ? AND ?", chain, from, to);
  }

  cutTail(chain: string, newLength: number): void {
    this.run("DELETE FROM audit_entries WHERE chain = ? AND position > ?", chain, newLength);
    const { hash } = this.entry(chain, newLength);
    this.run("UPDATE audit_chains SET length = ?, head_hash = ? WHERE chain = ?", newLength, hash, chain);
  }

  deletePlan(id: string, options: { entries: boolean }): void {
    if (options.entries) {
      this.run("DELETE FROM audit_entries WHERE chain = ?", id);
      this.run("DELETE FROM audit_chains WHERE chain = ?", id);
    }
    this.run("DELETE FROM leases WHERE plan_id = ?", id);
    this.run("DELETE FROM plans WHERE id = ?", id);
  }

  deleteSeals(from: number, to: number): void {
    this.run("DELETE FROM audit_seal_heads WHERE seal BETWEEN ? AND ?", from, to);
    this.run("DELETE FROM audit_seals WHERE number BETWEEN ? AND ?", from, to);
  }

  swap(chain: string, one: number, other: number): void {
    this.update(chain, one, "position", -1);
    this.update(chain, other, "position", one);
    this.update(chain, -1, "position", other);
  }

  insertForged(chain: string, position: number): void {
    const previous = position > 1 ? this.entry(chain, position - 1).hash : "0".repeat(64);
    const entry = {
      id: `01FORGED${position}`,
      chain,
      position,
      type: "plan.applied",
      plan_version: null,
      status: null,
      user_name: "mallory",
      at: 0,
      details: "{}",
      previous_hash: previous,
    };
    this.run(
      `INSERT INTO audit_entries (id, chain, position, type, plan_version, status, user_name, at, details, previous_hash,
         hash, plan_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...Object.values(entry),
      entryHash(entry),
      planOfEntry(entry),
    );
  }

  close(): void {
    this.#database.close();
  }
}
