/** Sandboxes: made whole or not at all, from the commit that was asked for, and back to the beginning. */
import { existsSync, statSync, utimesSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { monotonicIds, type PlanId } from "../../domain/names/ids.ts";
import { gone, uniqueSeconds } from "../../testing/processes.ts";
import { BaseContent } from "./base-content.ts";
import type { FileState } from "../../platform/file-state.ts";
import { git } from "../../git/git.ts";
import { sandboxGit } from "../../git/own-repository.ts";
import { copyRepository } from "./sandbox-repository.ts";
import { openSandbox, resetSandbox, type Sandbox, type SandboxPlace, type SandboxTarget } from "./sandbox.ts";
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

const home = (): string => join(place.directory, place.planId, "1");

describe.each(["git_worktree", "filesystem_copy"] as const)("%s", (strategy) => {
  test("holds what the resource holds, and is found again", async () => {
    const sandbox = await openSandbox(place, target({ strategy }));
    expect(sandbox.fresh).toBe(true);
    expect(await readTree(sandbox.root)).toEqual(await readTree(user.path));
    await fill(sandbox.root, { "a.txt": "changed" });
    const again = await openSandbox(place, target({ strategy }));
    expect(again).toEqual({ ...sandbox, fresh: false, carried: expect.any(Function) });
    expect(await readFile(join(again.root, "a.txt"), "utf8")).toBe("changed");
  });

  test("reset takes everything back, twice, and after it was cut short", async () => {
    const sandbox = await openSandbox(place, target({ strategy }));
    const before = await readTree(sandbox.root);
    await fill(sandbox.root, { "a.txt": "changed", "new/x": "new" });
    await rm(join(sandbox.root, "src"), { recursive: true });
    await resetSandbox(sandbox);
    expect(await readTree(sandbox.root)).toEqual(before);
    await resetSandbox(sandbox);
    expect(await readTree(sandbox.root)).toEqual(before);
    for (const name of await readdir(sandbox.root))
      if (name !== ".git") await rm(join(sandbox.root, name), { recursive: true });
    if (strategy === "filesystem_copy") await rm(sandbox.root, { recursive: true });
    await resetSandbox(sandbox);
    expect(await readTree(sandbox.root)).toEqual(before);
  });

  test("knows what a path held at the beginning", async () => {
    const sandbox = await openSandbox(place, target({ strategy }));
    await fill(sandbox.root, { "script.sh": "changed" });
    expect(await baseState(sandbox, "script.sh")).toMatchObject({ mode: 0o100755 });
    expect(await baseState(sandbox, "a.txt")).toMatchObject({
      mode: 0o100644,
      content: Buffer.from("one\ntwo\nthree\n"),
    });
    expect(await baseState(sandbox, "link")).toEqual({ mode: 0o120000, content: Buffer.from("a.txt") });
    expect(await baseState(sandbox, "with space/häß 文.txt")).toMatchObject({ content: Buffer.from("unicode\n") });
    expect(await baseState(sandbox, "none")).toBeUndefined();
    expect(await baseState(sandbox, "*.txt")).toBeUndefined();
    expect(await baseState(sandbox, ":a.txt")).toBeUndefined();
  });

  test("appears whole, in one step", async () => {
    const whole = await readTree(user.path);
    let ready = false;
    const making = openSandbox(place, target({ strategy })).finally(() => (ready = true));
    for (const api = join(home(), "api"); !ready; await new Promise((resolve) => setImmediate(resolve))) {
      if (!existsSync(api)) continue;
      expect(await readTree(join(api, "tree"))).toEqual(whole);
      expect(existsSync(join(api, strategy === "git_worktree" ? "git" : "base"))).toBe(true);
    }
    expect((await making).fresh).toBe(true);
  });

  test("one that cannot be made whole is not there", async () => {
    const missing = target({ strategy, path: join(user.directory, "nowhere") });
    await expect(openSandbox(place, missing)).rejects.toThrow(/cannot be copied|no longer exists/);
    expect(await readdir(home())).toEqual([]);
    // The remains of a killed process have another name and are never used.
    await mkdir(join(home(), "api.half.tmp", "tree"), { recursive: true });
    const sandbox = await openSandbox(place, target({ strategy }));
    expect(await readTree(sandbox.root)).toEqual(await readTree(user.path));
  });
});

async function baseState(sandbox: Sandbox, path: string): Promise<FileState | undefined> {
  const base = new BaseContent(sandbox);
  try {
    return await base.state(path);
  } finally {
    await base.close();
  }
}

test("the base is what base names, not what the shell replaced it with", async () => {
  const sandbox = await openSandbox(place, target());
  const oid = async (path: string): Promise<string> =>
    (await git(["rev-parse", `HEAD:${path}`], { cwd: sandbox.root })).stdout.toString().trim();
  await git(["replace", await oid("a.txt"), await oid("crlf.txt")], { cwd: sandbox.root });
  expect(await baseState(sandbox, "a.txt")).toMatchObject({ content: Buffer.from("one\ntwo\nthree\n") });
  expect(await baseState(sandbox, "src")).toBeUndefined();
});

test("a directory that cannot be copied is told with cp's own words", async () => {
  const path = join(user.directory, "nowhere");
  await expect(openSandbox(place, target({ strategy: "filesystem_copy", path }))).rejects.toMatchObject({
    code: "tool_failed",
    message: expect.stringContaining("cannot be copied"),
  });
});

test("a dirty checkout is left as it is and not part of the sandbox; ignored files survive a reset", async () => {
  const committed = await readTree(user.path);
  await fill(user.path, { "a.txt": "dirty", "untracked.txt": "mine" });
  const before = await user.fingerprint();
  const sandbox = await openSandbox(place, target());
  expect(await readTree(sandbox.root)).toEqual(committed);
  await fill(sandbox.root, { "ignored/kept": "kept", "x.log": "kept" });
  await resetSandbox(sandbox);
  expect(await readFile(join(sandbox.root, "ignored/kept"), "utf8")).toBe("kept");
  expect(await user.fingerprint()).toEqual(before);
});

test("starts from the branch that was asked for, and keeps its commit alive", async () => {
  await user.git("checkout", "--quiet", "-b", "feature");
  const base = await user.commit({ "feature.txt": "f" });
  await user.git("checkout", "--quiet", "main");
  const sandbox = await openSandbox(place, target({ branch: "feature" }));
  expect(sandbox.base).toBe(base);
  expect(await user.git("rev-parse", `refs/cleveragents/${place.planId}/${place.attempt}/api`)).toBe(base);
  await user.git("branch", "-D", "feature");
  await user.git("reflog", "expire", "--all", "--expire=now");
  await user.git("gc", "--quiet", "--prune=now");
  await rm(join(sandbox.root, "feature.txt"));
  await resetSandbox(sandbox);
  expect(await readFile(join(sandbox.root, "feature.txt"), "utf8")).toBe("f");
});

test("an empty repository, or a branch that is not there, has nothing to start from", async () => {
  await using empty = await UserRepository.make({});
  for (const [path, branch, message] of [
    [empty.path, undefined, `${empty.path} has no commit at HEAD to start from.`],
    [user.path, "nope", `The sandbox cannot be made: there is no branch "nope" in "${user.path}".`],
  ] as const) {
    await expect(openSandbox(place, target({ path, branch }))).rejects.toMatchObject({ code: "git_failed", message });
  }
  expect(await user.git("for-each-ref", "refs/cleveragents")).toBe("");
});

test("a sandbox has no way back: no remote, no conversions, no hooks", async () => {
  const sandbox = await openSandbox(place, target());
  const inSandbox = async (...args: string[]): Promise<string> =>
    (await git(args, { cwd: sandbox.root, accept: [0, 1] })).stdout.toString().trim();
  expect(await inSandbox("remote")).toBe("");
  expect(await inSandbox("config", "--local", "core.hooksPath")).toBe("/dev/null");
  expect(await inSandbox("config", "--local", "core.autocrlf")).toBe("false");
  expect(await inSandbox("tag")).toBe("");
});

test("git that fails is told with its own last words; one that cannot be started too", async () => {
  await expect(git(["rev-parse", "--verify", "nope"], { cwd: user.path })).rejects.toMatchObject({
    code: "git_failed",
    message: expect.stringContaining("git rev-parse failed in"),
    detail: { exit_code: 128 },
  });
  await expect(git(["cat-file", "-e", "0".repeat(40)], { cwd: user.path })).rejects.toThrow("exit code 1");
  await expect(git(["status"], { cwd: join(user.directory, "nowhere") })).rejects.toThrow("no longer exists");
  const input = await git(["hash-object", "--stdin"], { cwd: user.path, input: "x" });
  expect(input.stdout.toString()).toMatch(/^[0-9a-f]{40}\n$/);
  // Closes its input unread.
  await git(["version"], { cwd: user.path, input: Buffer.alloc(1_000_000) });
  await writeFile(join(user.path, "env"), "");
  process.env["GIT_DIR"] = "/nowhere";
  try {
    expect((await git(["rev-parse", "--git-dir"], { cwd: user.path })).stdout.toString().trim()).toBe(".git");
  } finally {
    delete process.env["GIT_DIR"];
  }
});

test("git that gives no answer is ended with all it started", async () => {
  const seconds = uniqueSeconds();
  const hanging = ["-c", `alias.hang=!sleep ${seconds}`, "hang"];
  await expect(git(hanging, { cwd: user.path, timeoutMs: 500 })).rejects.toMatchObject({
    code: "git_failed",
    message: `git hang gave no answer within 0.5 s in ${user.path}.`,
  });
  expect(await gone(seconds)).toBe(true);
});

test("a copied repository's index is not younger than ours, so that git reads what changed in the second of the checkout", async () => {
  const { root, objects } = await openSandbox(place, target());
  const own = sandboxGit(root, objects);
  utimesSync(join(own.repository, "index"), 1000.75, 1000.75);
  const copy = join(place.directory, "copy");
  copyRepository(own, copy);
  expect(statSync(join(copy, "index")).mtimeMs).toBe(1_000_000);
});
