import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { git, makeRepository } from "../testing/git-repository.ts";
import { readIndex } from "./git-index.ts";

test("an index is read again as soon as it was replaced, and not before", async () => {
  const root = makeRepository(mkdtempSync(join(tmpdir(), "cleveragents-test-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const index = join(root, ".git", "index");
  const first = await readIndex(root, index);
  expect(await readIndex(root, index)).toBe(first);
  // The same size as before: only the name of the blob differs.
  writeFileSync(join(root, "README"), "HELLO\n");
  git(root, "add", "README");
  const staged = await readIndex(root, index);
  expect(staged.get("README")?.oid).not.toBe(first.get("README")?.oid);
  git(root, "reset", "--quiet");
  expect((await readIndex(root, index)).get("README")).toEqual(first.get("README"));
});
