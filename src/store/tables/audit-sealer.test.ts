/** Seals that are written apart from the units that append, as where units overlap. */
import { expect, test } from "vitest";
import type { Store } from "../port.ts";
import { StoreFixture } from "../testing/fixtures.ts";
import { sealLog, sealWhenDue } from "./audit-sealer.ts";
import { appendAudit, newestSeal, unsealedEntries } from "./audit.ts";
import { verifyAudit } from "./audit-verification.ts";

/** Appends as a store does in which units overlap: without a seal of its own. */
async function append(store: Store, chain: string, count: number): Promise<void> {
  await store.transaction(async (tx) => {
    const overlapping = {
      unitsOverlap: true,
      get: tx.get.bind(tx),
      all: tx.all.bind(tx),
      run: tx.run.bind(tx),
    };
    for (let at = 1; at <= count; at += 1) {
      await appendAudit(overlapping, { id: `${chain} ${at}`, chain, type: "test", at, user: "tester", details: {} });
    }
  });
}

test("a seal is due with 256 entries that none covers, and verifies", async () => {
  await using fixture = await StoreFixture.memory();
  const { store } = fixture;
  await append(store, "system", 255);
  await sealWhenDue(store, 1);
  expect(await store.read(newestSeal)).toBeUndefined();
  await append(store, "system, too", 1);
  await sealWhenDue(store, 2);
  expect(await store.read(newestSeal)).toMatchObject({ number: 1, at: 2 });
  expect(await store.read(unsealedEntries)).toBe(0);
  await sealWhenDue(store, 3);
  expect(await store.read(newestSeal)).toMatchObject({ number: 1 });
});

test("a chain that was sealed and not marked, by a process that was killed in between, is sealed once more", async () => {
  await using fixture = await StoreFixture.memory();
  const { store } = fixture;
  await append(store, "system", 3);
  await sealLog(store, 1);
  await store.transaction((tx) => tx.run("UPDATE audit_chains SET sealed_length = 0"));
  expect(await sealLog(store, 2)).toMatchObject({ number: 2, at: 2 });
  expect(await verifyAudit(store, { at: 3 })).toMatchObject({ problem: undefined, seals: 2 });
});
