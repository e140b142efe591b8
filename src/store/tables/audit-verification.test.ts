/** The audit log: how it grows, how it is sealed, and that `verifyAudit` raises no false alarm. */
import { describe, expect, test } from "vitest";
import type { Plan } from "../../domain/plan/plan.ts";
import { PlanLifecycleService } from "../../plans/plan-lifecycle-service.ts";
import { ROW_CONTENTS } from "../contents/content-files.ts";
import type { Reader, Store, Tx } from "../port.ts";
import { ACTION, runPlan } from "../testing/audit-history.ts";
import { StoreFixture } from "../testing/fixtures.ts";
import { verifyAudit, type AuditVerification } from "./audit-verification.ts";
import { sealLog } from "./audit-sealer.ts";
import { appendAudit, listAudit, SYSTEM_CHAIN } from "./audit.ts";

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
    const sealed = await sealLog(fixture.store, 5);
    expect(sealed).toMatchObject({ number: 3, at: 5 });
    expect(await sealLog(fixture.store, 6)).toEqual(sealed);
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
  readonly place = "memory";
  readonly unitsOverlap = false;
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

  check(): Promise<string> {
    return this.#store.check();
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
