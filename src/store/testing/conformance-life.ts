/** Conformance: who is told of a commit, and how a store ends. */
import { describe, expect, test } from "vitest";
import { failure, notHung } from "./fixtures.ts";
import { allNotes, note, notes, type OpenFixture } from "./notes.ts";

export function describeCommitNews(open: OpenFixture): void {
  describe("telling others", () => {
    test("onCommit is called after a commit, for as long as it is wanted", async () => {
      await using fixture = await notes(open);
      const calls: string[] = [];
      const stop = fixture.store.onCommit(() => calls.push("called"));
      await fixture.store.transaction((tx) => note(tx, "one"));
      expect(calls.length).toBeGreaterThan(0);
      const before = calls.length;
      stop();
      stop();
      await fixture.store.transaction((tx) => note(tx, "two"));
      expect(calls).toHaveLength(before);
    });

    test("when a listener is called, what it is told about is committed", async () => {
      await using fixture = await notes(open);
      const seen: Promise<string[]>[] = [];
      fixture.store.onCommit(() => void seen.push(allNotes(fixture.store)));
      await fixture.store.transaction((tx) => note(tx, "one"));
      expect(await Promise.all(seen)).toEqual([["one"]]);
    });

    test("a listener that throws stops neither the other listeners nor the store", async () => {
      await using fixture = await notes(open);
      let called = 0;
      const stop = fixture.store.onCommit(() => {
        throw new Error("a listener's own mistake");
      });
      fixture.store.onCommit(() => (called += 1));
      await fixture.store.transaction((tx) => note(tx, "one"));
      stop();
      await notHung(fixture.store.transaction((tx) => note(tx, "two")));
      expect(called).toBe(2);
      expect(await allNotes(fixture.store)).toEqual(["one", "two"]);
    });

    test("the change counter moves with each commit of any handle", async () => {
      await using fixture = await notes(open);
      const other = await fixture.again();
      const seen: number[] = [await fixture.store.changeCounter()];
      for (const store of [fixture.store, other, fixture.store, other]) {
        await store.transaction((tx) => note(tx, `note ${seen.length}`));
        seen.push(await fixture.store.changeCounter());
      }
      expect(new Set(seen).size).toBe(seen.length);
    });

    test("the change counter can be asked for at any time, also while another handle's unit is half done", async () => {
      await using fixture = await notes(open);
      const other = await fixture.again();
      const half = Promise.withResolvers<void>();
      const unit = fixture.store.transaction(async (tx) => {
        await note(tx, "one");
        half.resolve();
        for (let i = 0; i < 300; i += 1) await tx.get("SELECT 1 AS one");
      });
      await half.promise;
      const counter = await other.changeCounter().catch(String);
      await unit;
      expect(counter).toEqual(expect.any(Number));
    });
  });
}

export function describeClosing(open: OpenFixture): void {
  describe("closing", () => {
    test("waits for what is pending, and is final", async () => {
      await using fixture = await notes(open);
      const store = await fixture.again();
      const pending = Array.from({ length: 10 }, (_, i) => store.transaction((tx) => note(tx, `note ${i}`)));
      const reading = allNotes(store);
      const closing = store.close();
      const refused = { name: "StoreError", code: "store_failed", message: "The store is closed." };
      expect(await failure(store.transaction((tx) => note(tx, "too late")))).toMatchObject(refused);
      expect(await Promise.allSettled(pending)).toHaveLength(10);
      await Promise.all([...pending, reading, closing, store.close()]);
      expect(await failure(store.transaction((tx) => note(tx, "too late")))).toMatchObject(refused);
      expect(await failure(store.read(async () => undefined))).toMatchObject(refused);
      expect(await allNotes(fixture.store)).toHaveLength(10);
    });

    test("the change counter of a closed store says that it is closed", async () => {
      await using fixture = await open();
      const store = await fixture.again();
      await store.close();
      expect(await failure(store.changeCounter())).toMatchObject({ name: "StoreError", code: "store_failed" });
    });

    test("one handle leaves the others as they are", async () => {
      await using fixture = await notes(open);
      const other = await fixture.again();
      await other.transaction((tx) => note(tx, "by the other"));
      await other.close();
      await fixture.store.transaction((tx) => note(tx, "by the first"));
      expect(await allNotes(fixture.store)).toEqual(["by the first", "by the other"]);
    });
  });
}

export function describeClock(open: OpenFixture): void {
  test("the database's clock is the one that the store was given", async () => {
    await using fixture = await open();
    const store = await fixture.again({ clock: () => 1_234_567.9 });
    const row = await store.read((reader) => reader.get<{ now: number }>("SELECT now_ms() AS now"));
    expect(row?.now).toBe(1_234_567);
  });
}
