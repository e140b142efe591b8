/** Looking at a sandbox: no change escapes, and nothing is taken for part of a plan that is none. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, open, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { monotonicIds, type PlanId } from "../../domain/names/ids.ts";
import { openSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import { changedPaths, takeSnapshot } from "./file-listing.ts";
import { fill } from "../testing/trees.ts";
import { UserRepository } from "../testing/user-repository.ts";

describe.each(["git_worktree", "filesystem_copy"] as const)("%s", (strategy) => {
  let user: UserRepository;
  let directory: string;
  let sandbox: Sandbox;

  beforeEach(async () => {
    user = await UserRepository.make();
    directory = await mkdtemp(join(tmpdir(), "cleveragents-snapshot-"));
    const target = { alias: "api", strategy, path: user.path, branch: undefined, readOnly: false };
    sandbox = await openSandbox({ directory, planId: monotonicIds()() as PlanId, attempt: 1 }, target);
  });
  afterEach(async () => {
    await user[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  test("the same size and time of change do not hide other bytes", async () => {
    const file = join(sandbox.root, "a.txt");
    const time = new Date(1_700_000_000_000);
    await writeFile(file, "first");
    await utimes(file, time, time);
    await sleep(40);
    const before = await takeSnapshot(sandbox);
    await writeFile(file, "other");
    await utimes(file, time, time);
    expect(changedPaths(before, await takeSnapshot(sandbox, before))).toEqual(["a.txt"]);
  });

  test("nor does a rewrite within the same tick of the file system's clock, however late the next look is", async () => {
    const file = join(sandbox.root, "a.txt");
    await writeFile(file, "first");
    const before = await takeSnapshot(sandbox);
    await writeFile(file, "other");
    // Within one tick the look in between saw the very time stamps that the file has now.
    const { mtimeMs: modified, ctimeMs: changed } = await stat(file);
    const seen = before.get("a.txt");
    if (seen === undefined) throw new Error("a.txt was not seen");
    const sameTick = new Map(before).set("a.txt", { ...seen, modified, changed, looked: changed + 1 });
    await sleep(40);
    expect(changedPaths(before, await takeSnapshot(sandbox, sameTick))).toEqual(["a.txt"]);
  });

  test("what may change is limited; what was there before is not, however large it is", async () => {
    const large = join(sandbox.root, "large.bin");
    await writeFile(large, "");
    await truncate(large, 101 * 1024 * 1024);
    const before = await takeSnapshot(sandbox);
    await utimes(large, 1, 1);
    expect(changedPaths(before, await takeSnapshot(sandbox, before))).toEqual([]);
    await using handle = await open(large, "r+");
    await handle.write("x");
    await expect(takeSnapshot(sandbox, before)).rejects.toMatchObject({
      code: "tool_failed",
      message: expect.stringContaining(
        '"large.bin" is a file of 101 MB, and a step can change files of at most 100 MB',
      ),
    });
  });

  test("files that were left alone are not read again", async () => {
    await sleep(40);
    const before = await takeSnapshot(sandbox);
    const after = await takeSnapshot(sandbox, before);
    expect(after).toEqual(before);
    expect(after.get("a.txt")).toEqual(before.get("a.txt"));
    expect(changedPaths(before, after)).toEqual([]);
  });

  test("sees creations, deletions, modes, links and deep directories, in order", async () => {
    const before = await takeSnapshot(sandbox);
    await fill(sandbox.root, {
      "z/y/x/w": "",
      "a.txt": { executable: "one\ntwo\nthree\n" },
      link: { link: "crlf.txt" },
    });
    await rm(join(sandbox.root, "src"), { recursive: true });
    await mkdir(join(sandbox.root, "only-a-directory"));
    const after = await takeSnapshot(sandbox, before);
    expect(changedPaths(before, after)).toEqual([
      "a.txt",
      "link",
      "src/deep/er/x.ts",
      "src/deep/y.ts",
      "src/z.ts",
      "z/y/x/w",
    ]);
  });

  test("what is below a link or a file that took a directory's place is not there", async () => {
    await rm(join(sandbox.root, "src/deep"), { recursive: true });
    await fill(sandbox.root, { "src/other/y.ts": "elsewhere", "src/deep": { link: "other" } });
    const linked = await takeSnapshot(sandbox);
    expect([...linked.keys()].filter((path) => path.startsWith("src/deep"))).toEqual(["src/deep"]);
    await rm(join(sandbox.root, "src"), { recursive: true });
    await fill(sandbox.root, { src: "a file" });
    const filed = await takeSnapshot(sandbox);
    expect([...filed.keys()].filter((path) => path.startsWith("src"))).toEqual(["src"]);
  });

  test("a pipe is not a file, and .git is not part of it", async () => {
    await promisify(execFile)("mkfifo", [join(sandbox.root, "pipe")]);
    const paths = [...(await takeSnapshot(sandbox)).keys()];
    expect(paths).not.toContain("pipe");
    expect(paths.filter((path) => path.split("/").includes(".git"))).toEqual([]);
  });

  test("a name that is not UTF-8 is not overlooked", async () => {
    await writeFile(Buffer.concat([Buffer.from(`${sandbox.root}/`), Buffer.from([0x66, 0xff])]), "x");
    await expect(takeSnapshot(sandbox)).rejects.toThrow("a name that is not UTF-8");
  });

  test("files that go while one looks are gone", async () => {
    await fill(
      sandbox.root,
      Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`many/${index % 20}/${index}`, "x"])),
    );
    const looks: Promise<unknown>[] = [];
    for (let index = 0; index < 4; index += 1) looks.push(takeSnapshot(sandbox));
    const removal = rm(join(sandbox.root, "many"), { recursive: true });
    await expect(Promise.all(looks)).resolves.toHaveLength(4);
    await removal;
    expect([...(await takeSnapshot(sandbox)).keys()].filter((path) => path.startsWith("many"))).toEqual([]);
  });

  test("what git ignores stays out, unless git knows it anyway", async () => {
    await fill(sandbox.root, { "ignored/x": "", "y.log": "" });
    const paths = [...(await takeSnapshot(sandbox)).keys()];
    const seen = paths.filter((path) => path === "y.log" || path.startsWith("ignored/"));
    expect(seen).toEqual(strategy === "git_worktree" ? [] : ["ignored/x", "y.log"]);
  });
});
