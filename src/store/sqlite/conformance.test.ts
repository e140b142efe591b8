import { expect, test } from "vitest";
import { describeStore } from "../testing/conformance.ts";
import { StoreFixture } from "../testing/fixtures.ts";

describeStore("in memory", () => StoreFixture.memory());
describeStore("in a file", () => StoreFixture.file());

test("without a commit the change counter of SQLite stays as it is: a poll that finds nothing new reads nothing", async () => {
  await using fixture = await StoreFixture.file();
  const before = await fixture.store.changeCounter();
  await fixture.store.read((reader) => reader.all("SELECT * FROM plans"));
  expect(await fixture.store.changeCounter()).toBe(before);
});
