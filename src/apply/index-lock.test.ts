/** Git's lock on the index: we remove our own, and never that of another git. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { indexLockStands, lockIndex, unlockIndex } from "./git-index.ts";
import { FILE_EFFECTS } from "./file-effects.ts";
import type { Landing } from "../ledger/landing.ts";

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

test("ours is taken, recognized again, and leaves nothing behind", async () => {
  await lockIndex(landing, "J1", FILE_EFFECTS);
  expect(existsSync(join(gitDirectory, "index.lock"))).toBe(true);
  expect([indexLockStands(landing, "J1"), indexLockStands(landing, "J2")]).toEqual([true, false]);
  unlockIndex(landing, "J1", FILE_EFFECTS);
  expect(readdirSync(gitDirectory)).toEqual([]);
});

test.each(["", "written by git", "cleveragents J2"])("one that says %j stays", (text) => {
  writeFileSync(join(gitDirectory, "index.lock"), text);
  unlockIndex(landing, "J1", FILE_EFFECTS);
  expect(readFileSync(join(gitDirectory, "index.lock"), "utf8")).toBe(text);
});

test("that of another landing stays", async () => {
  await lockIndex(landing, "J2", FILE_EFFECTS);
  unlockIndex(landing, "J1", FILE_EFFECTS);
  expect(indexLockStands(landing, "J2")).toBe(true);
});
