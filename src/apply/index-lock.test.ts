/** Git's lock on the index: we remove our own, and never that of another git. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { indexLockStands, lockIndex, unlockIndex } from "./git-index.ts";
import { HANDS } from "./hands.ts";
import type { Landing } from "./landing.ts";

let gitDirectory = "";
let landing: Landing;
beforeEach(() => {
  gitDirectory = mkdtempSync(join(tmpdir(), "cleveragents-test-"));
  const commit = "0".repeat(40);
  landing = {
    alias: "api",
    root: gitDirectory,
    git: {
      gitDirectory,
      commonDirectory: gitDirectory,
      ref: "refs/heads/main",
      oldCommit: commit,
      newCommit: commit,
      checkedOut: true,
    },
    files: [],
    newDirectories: [],
  };
});
afterEach(() => rmSync(gitDirectory, { recursive: true, force: true }));

test("ours is taken, known again, and leaves nothing behind", async () => {
  await lockIndex(landing, "J1", HANDS);
  expect(existsSync(join(gitDirectory, "index.lock"))).toBe(true);
  expect([indexLockStands(landing, "J1"), indexLockStands(landing, "J2")]).toEqual([true, false]);
  unlockIndex(landing, "J1", HANDS);
  expect(readdirSync(gitDirectory)).toEqual([]);
});

test.each(["", "what git writes there", "cleveragents J2"])("one that says %j stays", (text) => {
  writeFileSync(join(gitDirectory, "index.lock"), text);
  unlockIndex(landing, "J1", HANDS);
  expect(readFileSync(join(gitDirectory, "index.lock"), "utf8")).toBe(text);
});

test("that of another landing stays", async () => {
  await lockIndex(landing, "J2", HANDS);
  unlockIndex(landing, "J1", HANDS);
  expect(indexLockStands(landing, "J2")).toBe(true);
});
