/** A git that stays: answers in order, of any size, by the rules of the moment it began, and a clear end. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { monotonicIds, type PlanId } from "../domain/names/ids.ts";
import { BaseContent } from "../execution/sandbox/base-content.ts";
import { GitDialogue } from "./git-dialogue.ts";
import { IgnoredPaths } from "../execution/sandbox/ignored-paths.ts";
import { gitIn } from "../execution/sandbox/sandbox-facts.ts";
import { openSandbox, type Sandbox } from "../execution/sandbox/sandbox.ts";
import { AWKWARD_FILES, UserRepository } from "../execution/testing/user-repository.ts";

const LARGE = Buffer.alloc(3_000_000, "large and\n\0");

let user: UserRepository;
let directory: string;
let sandbox: Sandbox;

beforeEach(async () => {
  user = await UserRepository.make({ ...AWKWARD_FILES, "large.bin": LARGE });
  directory = await mkdtemp(join(tmpdir(), "cleveragents-dialogue-"));
  const target = {
    alias: "api",
    strategy: "git_worktree",
    path: user.path,
    branch: undefined,
    readOnly: false,
  } as const;
  sandbox = await openSandbox({ directory, planId: monotonicIds()() as PlanId, attempt: 1 }, target);
});
afterEach(async () => {
  await user[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

test("many questions at once each get their own answer", async () => {
  const ignored = new IgnoredPaths(sandbox);
  const names = Array.from({ length: 500 }, (_, index) =>
    index % 3 === 0 ? `${index}.log` : `${index} ü :(glob)*.txt`,
  );
  const answers = await Promise.all(names.map((name) => ignored.has(name)));
  expect(answers).toEqual(names.map((name) => name.endsWith(".log")));
  await ignored.forget();
});

test("rules are those of the moment it began, until it is told to forget them", async () => {
  const ignored = new IgnoredPaths(sandbox);
  expect([await ignored.has("x.log"), await ignored.has(":x.log"), await ignored.has("x.new")]).toEqual([
    true,
    true,
    false,
  ]);
  await writeFile(join(sandbox.root, ".gitignore"), "*.log\n!keep.log\n*.new\n\\!odd\n");
  await ignored.forget();
  const after = ["x.new", "keep.log", "x.log", "!odd"].map((path) => ignored.has(path));
  expect(await Promise.all(after)).toEqual([true, false, true, true]);
  await ignored.forget();
  await ignored.forget();
});

test("settings that a command wrote into the sandbox's .git have no effect", async () => {
  const rules = join(directory, "rules");
  await writeFile(rules, "also-hidden\n");
  await writeFile(join(sandbox.root, ".git/info/exclude"), "hidden\n");
  await promisify(execFile)("git", ["config", "core.excludesFile", rules], { cwd: sandbox.root });
  const ignored = new IgnoredPaths(sandbox);
  expect([await ignored.has("hidden"), await ignored.has("also-hidden")]).toEqual([false, false]);
  await ignored.forget();
});

test("one that fails rejects every open question with the reason, and the next question starts another", async () => {
  await symlink("/etc", join(sandbox.root, "out"));
  const ignored = new IgnoredPaths(sandbox);
  const asked = await Promise.allSettled([ignored.has("a"), ignored.has("out/x"), ignored.has("b")]);
  expect(asked.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(asked[1]).toMatchObject({
    reason: { code: "git_failed", message: expect.stringContaining("beyond a symbolic link") },
  });
  expect(await ignored.has("x.log")).toBe(true);
  await ignored.forget();
});

test("one that waits for a pipe that a command left is ended with an error", async () => {
  await promisify(execFile)("mkfifo", ["waiting"], { cwd: sandbox.root });
  const place = gitIn(sandbox);
  const lines = { length: (head: Buffer) => head.indexOf("\n") + 1 || undefined, read: String };
  await using git = await GitDialogue.start(["hash-object", "--stdin-paths"], place, lines, 3000);
  const asked = [git.ask("a.txt\n"), git.ask("waiting\n")];
  expect(await asked[0]).toMatch(/^[0-9a-f]{40}\n$/);
  await expect(asked[1]).rejects.toThrow("git has stopped answering: it gave no answer within 3 s");
  await expect(git.ask("a.txt\n")).rejects.toThrow("gave no answer");
});

test("contents of any size, in the order of the questions; a lost one is an error", async () => {
  const base = new BaseContent(sandbox);
  const paths = ["large.bin", "empty.txt", "a.txt", "large.bin", "link"];
  const states = await Promise.all(paths.map((path) => base.state(path)));
  expect(states.map((state) => state?.content.byteLength)).toEqual([LARGE.byteLength, 0, 14, LARGE.byteLength, 5]);
  expect(Buffer.compare(states[3]?.content ?? Buffer.of(), LARGE)).toBe(0);
  await base.close();
  // Without the borrowed objects the sandbox has no contents; the hash of a path is known all the same.
  await rm(join(sandbox.root, "../git/objects/info/alternates"));
  await expect(base.state("a.txt")).rejects.toThrow('has lost its content of "a.txt"');
  await base.close();
});
