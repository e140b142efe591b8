/** Between merge and lock a user may check out another branch; that is noticed, by git's own files or by asking git. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { git, makeRepository } from "../testing/git-repository.ts";
import { findGitTarget, movedMeanwhile } from "./git-target.ts";
import type { Landing } from "../ledger/landing.ts";

function repository(): string {
  const root = makeRepository(realpathSync(mkdtempSync(join(tmpdir(), "cleveragents-test-"))), "other");
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

async function landingAt(root: string, ref: string | undefined): Promise<Landing> {
  const target = await findGitTarget(root, ref);
  if (typeof target === "string") throw new Error(target);
  const places = { ...target, oldCommit: target.commit, newCommit: target.commit };
  return { alias: "api", root, git: places, files: [], newDirectories: [] };
}

const MAIN = "refs/heads/main";

test.each([
  ["in a file of its own", () => undefined],
  ["among the packed refs", (root: string) => git(root, "pack-refs", "--all")],
])("a branch %s that stands is found standing, and one that moved is named", async (_, arrange) => {
  const root = repository();
  arrange(root);
  const landing = await landingAt(root, MAIN);
  expect(await movedMeanwhile(landing)).toBeUndefined();
  git(root, "commit", "--quiet", "--allow-empty", "--message=second");
  expect(await movedMeanwhile(landing)).toBe("main moved");
  git(root, "reset", "--quiet", "--hard", "HEAD~1");
  git(root, "checkout", "--quiet", "other");
  expect(await movedMeanwhile(landing)).toBe(`another branch was checked out in ${root}`);
  git(root, "checkout", "--quiet", "--detach", "main");
  expect(await movedMeanwhile(landing)).toBe(`another branch was checked out in ${root}`);
});

test("a detached HEAD stands, moves, or is on a branch by now", async () => {
  const root = repository();
  git(root, "checkout", "--quiet", "--detach");
  const landing = await landingAt(root, undefined);
  expect(await movedMeanwhile(landing)).toBeUndefined();
  git(root, "commit", "--quiet", "--allow-empty", "--message=second");
  expect(await movedMeanwhile(landing)).toBe("HEAD moved");
  git(root, "checkout", "--quiet", "main");
  expect(await movedMeanwhile(landing)).toContain("detached HEAD, and main is checked out now");
});

test("a merge in progress, a branch that is also checked out elsewhere, and a missing place are noticed", async () => {
  const root = repository();
  const landing = await landingAt(root, MAIN);
  writeFileSync(join(root, ".git", "MERGE_HEAD"), "");
  expect(await movedMeanwhile(landing)).toContain("a merge is in progress");
  rmSync(join(root, ".git", "MERGE_HEAD"));
  git(root, "worktree", "add", "--quiet", "--force", join(root, "..", `${root}-second`), "main");
  onTestFinished(() => rmSync(`${root}-second`, { recursive: true, force: true }));
  expect(await movedMeanwhile(landing)).toContain("is checked out in");
  rmSync(root, { recursive: true });
  expect(await movedMeanwhile(landing)).toContain("is gone");
});
