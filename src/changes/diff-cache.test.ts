import { expect, test } from "vitest";
import { StoreError } from "../domain/errors/errors.ts";
import { alteredStore } from "../testing/altered-store.ts";
import { diffOf } from "./diff-cache.ts";
import { ExecutingPlan, step } from "../execution/testing/executing-plan.ts";

test("a diff is made once for the same changes, and again for others", async () => {
  await using plan = await ExecutingPlan.start();
  await plan.run([[step("one", "write_file", { path: "n.txt", content: "one\n" })]]);
  const first = await diffOf(plan.store, await plan.recorded());
  expect(first.patch).toContain("+one");
  const kept = await plan.store.read((reader) => reader.all<{ fingerprint: string }>("SELECT fingerprint FROM diffs"));
  expect(kept).toHaveLength(1);
  await plan.run([
    [step("one", "write_file", { path: "n.txt", content: "one\n" })],
    [step("two", "write_file", { path: "m.txt", content: "two\n" })],
  ]);
  const second = await diffOf(plan.store, await plan.recorded());
  expect(second.patch).toContain("+two");
  expect(await plan.store.read((reader) => reader.all("SELECT * FROM diffs"))).toHaveLength(2);
});

test("the kept one is the made one, and a disk that is full only means that it is made again", async () => {
  await using plan = await ExecutingPlan.start();
  await plan.run([[step("one", "write_file", { path: "n.txt", content: "one\n" })]]);
  const changes = await plan.recorded();
  const full = alteredStore(plan.store, { transaction: () => Promise.reject(new StoreError("store_full", "full")) });
  const made = await diffOf(full, changes);
  expect(await plan.store.read((reader) => reader.all("SELECT * FROM diffs"))).toEqual([]);
  expect(await diffOf(plan.store, changes)).toEqual(made);
  expect(await diffOf(full, changes)).toEqual(made);
  const broken = alteredStore(plan.store, { transaction: () => Promise.reject(new Error("a defect")) });
  await expect(diffOf(broken, [])).rejects.toThrow("a defect");
});
