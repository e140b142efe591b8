/**
 * Where a sandbox begins: at a commit, with or without what is not committed, and at the same one when it has to be
 * made again.
 */
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { monotonicIds, type PlanId } from "../../domain/names/ids.ts";
import { openSandbox, pinningRef, type SandboxPlace, type SandboxTarget } from "./sandbox.ts";
import { fill, readTree } from "../testing/trees.ts";
import { UserRepository } from "../testing/user-repository.ts";

let user: UserRepository;
let place: SandboxPlace;

beforeEach(async () => {
  user = await UserRepository.make();
  const directory = await mkdtemp(join(tmpdir(), "cleveragents-sandboxes-"));
  place = { directory, planId: monotonicIds()() as PlanId, attempt: 1 };
});
afterEach(async () => {
  await user[Symbol.asyncDispose]();
  await rm(place.directory, { recursive: true, force: true });
});

function target(more: Partial<SandboxTarget> = {}): SandboxTarget {
  return { alias: "api", strategy: "git_worktree", path: user.path, branch: undefined, readOnly: false, ...more };
}

const home = (): string => join(place.directory, place.planId, "1", "api");

describe("the branch it started from", () => {
  test("is told in full: the configured one, the checked-out one, or none", async () => {
    await user.git("branch", "feature");
    expect(await openSandbox(place, target({ branch: "feature" }))).toMatchObject({ ref: "refs/heads/feature" });
    expect(await openSandbox({ ...place, attempt: 2 }, target())).toMatchObject({ ref: "refs/heads/main" });
    await user.git("checkout", "--quiet", "--detach");
    const detached = await openSandbox({ ...place, attempt: 3 }, target());
    expect(detached.ref).toBeUndefined();
    expect(detached.base).toBe(await user.git("rev-parse", "HEAD"));
  });
});

describe("what is not committed", () => {
  const DIRT = {
    "a.txt": "changed\n",
    "staged.txt": "staged\n",
    "new/ü.txt": "new\n",
    "ignored/x": "no",
    "y.log": "no",
  };

  async function soil(): Promise<void> {
    await fill(user.path, DIRT);
    await user.git("add", "staged.txt");
    await rm(join(user.path, "src/z.ts"));
    await user.git("mv", "crlf.txt", "moved.txt");
  }

  test("is the beginning when it is wanted; the user's index, stash and files stay as they are", async () => {
    const head = await user.git("rev-parse", "HEAD");
    await soil();
    const before = await user.fingerprint();
    const sandbox = await openSandbox(place, target({ includeDirty: true }));
    expect(sandbox).toMatchObject({ dirty: true, ref: "refs/heads/main", fresh: true });
    expect(await readTree(sandbox.root)).toEqual(await readTree(user.path, ["ignored", "y.log"]));
    expect(await user.git("rev-parse", `${sandbox.base}^`)).toBe(head);
    expect(await user.git("rev-parse", pinningRef(place, "api"))).toBe(sandbox.base);
    expect(await user.fingerprint()).toEqual(before);
    // A sandbox is found again as it was made, also when other options are given now or the resource has changed
    // since.
    await fill(user.path, { "a.txt": "changed again\n" });
    expect(await openSandbox(place, target())).toEqual({ ...sandbox, fresh: false, carried: expect.any(Function) });
  });

  test("is left out when it is not", async () => {
    const committed = await readTree(user.path);
    await soil();
    const sandbox = await openSandbox(place, target());
    expect(sandbox.dirty).toBe(false);
    expect(await readTree(sandbox.root)).toEqual(committed);
  });

  test("cannot be included when another branch is checked out, or conflicts are open", async () => {
    await user.git("branch", "feature");
    const wanted = target({ branch: "feature", includeDirty: true });
    await expect(openSandbox(place, wanted)).rejects.toMatchObject({
      code: "git_failed",
      message: expect.stringContaining('it is on "main", and the plan is for "feature"'),
    });
    await user.git("checkout", "--quiet", "feature");
    await user.commit({ "a.txt": "feature\n" });
    await user.git("checkout", "--quiet", "main");
    await user.commit({ "a.txt": "main\n" });
    await user.git("merge", "feature").catch(() => undefined);
    const before = await user.fingerprint();
    await expect(openSandbox(place, target({ includeDirty: true }))).rejects.toThrow("has unresolved conflicts");
    expect(await user.fingerprint()).toEqual(before);
    expect(await user.git("for-each-ref", "refs/cleveragents")).toBe("");
    expect(existsSync(home())).toBe(false);
  });
});

describe("made again", () => {
  test.each([
    ["its repository", (): Promise<void> => rm(join(home(), "git"), { recursive: true })],
    ["a part of its repository", (): Promise<void> => rm(join(home(), "git/HEAD"))],
    ["what it borrows from", (): Promise<void> => rm(join(home(), "git/objects"), { recursive: true })],
    ["its files", (): Promise<void> => rm(join(home(), "tree"), { recursive: true })],
  ])("after %s was lost it starts where it did, not where the branch is now", async (_what, lose) => {
    await fill(user.path, { "a.txt": "dirty\n" });
    const first = await openSandbox(place, target({ includeDirty: true }));
    const begun = await readTree(first.root);
    await user.commit({ "a.txt": "moved on\n", "later.txt": "later\n" });
    await lose();
    const again = await openSandbox(place, target());
    expect(again).toEqual({ ...first, carried: expect.any(Function) });
    expect(await readTree(again.root)).toEqual(begun);
    expect(await readdir(join(home(), ".."))).toEqual(["api"]);
  });

  test("when an older version made it, with its repository in the tree", async () => {
    const first = await openSandbox(place, target());
    await rm(join(home(), "git"), { recursive: true });
    await writeFile(join(home(), "git-config"), "");
    await writeFile(join(first.root, ".git", "commondir"), "evil\n");
    expect(await openSandbox(place, target())).toEqual({ ...first, carried: expect.any(Function) });
    expect(existsSync(join(first.root, ".git", "commondir"))).toBe(false);
  });

  test("with everything lost, from the commit that was recorded elsewhere", async () => {
    const first = await openSandbox(place, target());
    await user.commit({ "a.txt": "moved on\n" });
    await user.git("checkout", "--quiet", "-b", "other");
    await rm(place.directory, { recursive: true });
    const base = { commit: first.base ?? "", ref: first.ref, dirty: first.dirty };
    expect(await openSandbox(place, target({ base }))).toEqual({ ...first, carried: expect.any(Function) });
    expect(await openSandbox({ ...place, attempt: 2 }, target({ base: { commit: base.commit } }))).toMatchObject({
      base: first.base,
      dirty: false,
    });
    // Also when the branch it was for is gone.
    const orphaned = target({ base, branch: "gone" });
    expect(await openSandbox({ ...place, attempt: 3 }, orphaned)).toMatchObject({ base: first.base });
  });

  test("not at all when its commit is gone", async () => {
    await expect(openSandbox(place, target({ base: { commit: "1".repeat(40) } }))).rejects.toMatchObject({
      code: "git_failed",
      message: `The commit ${"1".repeat(40)}, which the plan started from, is not in ${user.path} any more.`,
    });
    expect(await user.git("for-each-ref", "refs/cleveragents")).toBe("");
  });

  test("facts that a command has damaged are not believed", async () => {
    const first = await openSandbox(place, target());
    await writeFile(join(home(), "target.json"), "{");
    const base = { commit: first.base ?? "", ref: first.ref, dirty: first.dirty };
    expect(await openSandbox(place, target({ base }))).toEqual({ ...first, carried: expect.any(Function) });
  });
});

describe("histories of other kinds", () => {
  test("a shallow clone is borrowed from like any other", async () => {
    await user.commit({ "second.txt": "2" });
    const path = join(user.directory, "shallow");
    await user.git("clone", "--quiet", "--depth=1", `file://${user.path}`, path);
    const sandbox = await openSandbox(place, target({ path }));
    expect(await readTree(sandbox.root)).toEqual(await readTree(user.path));
    expect(await readFile(join(sandbox.root, ".git/shallow"), "utf8")).toContain(sandbox.base);
  });

  test("a linked worktree, and a repository with SHA-256", async () => {
    const linked = join(user.directory, "linked");
    await user.git("worktree", "add", "--quiet", "-b", "side", linked);
    const sandbox = await openSandbox(place, target({ path: linked, includeDirty: true }));
    expect(sandbox).toMatchObject({ ref: "refs/heads/side", dirty: true });
    const other = join(user.directory, "sha256");
    await user.git("init", "--quiet", "--object-format=sha256", "--initial-branch=main", other);
    await fill(other, { "x.txt": "x" });
    for (const args of [
      ["add", "."],
      ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ])
      await user.git("-C", other, ...args);
    const sha256 = await openSandbox({ ...place, attempt: 2 }, target({ path: other }));
    expect(sha256.base).toMatch(/^[0-9a-f]{64}$/);
    expect(await readFile(join(sha256.root, "x.txt"), "utf8")).toBe("x");
  });
});
