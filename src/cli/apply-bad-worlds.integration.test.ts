import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { FILE_EFFECTS, type FileEffects } from "../apply/file-effects.ts";
import { git } from "../testing/git-repository.ts";
import { put, World, type Step } from "./testing/user-world.ts";

/**
 * Apply and undo in worlds that are in their way: each ends in an error that says what is wrong, leaves everything as
 * it was and nothing behind, and works once the cause is removed.
 */
const WORK = "sed -i s/two/planned/ a.txt; echo x >> docs/deep/x.txt; echo new > new.txt; rm doomed.txt";
const STEPS: readonly Step[] = [
  ["shell_execute", { resource: "api", command: WORK }],
  ["shell_execute", { resource: "notes", command: WORK }],
];
const FILES = { "a.txt": "one\ntwo\n", "docs/deep/x.txt": "x\n", "doomed.txt": "going\n", "other.txt": "other\n" };

interface BadWorld {
  readonly what: string;
  /** Makes it bad; the result makes it good again. "skip": not possible here. */
  readonly spoil: (world: World) => (() => void) | "skip";
  readonly says: string;
  readonly code: "CONFIGURATION" | "MERGE_CONFLICT" | "GIT_FAILED" | "RESOURCE_BUSY" | "RESOURCE_FAILED";
  readonly env?: (world: World) => NodeJS.ProcessEnv;
}

const inGit = (world: World, ...names: string[]): string => join(world.repository, ".git", ...names);

function stopped(world: World, command: string, ...args: string[]): () => void {
  world.git("branch", "theirs", "HEAD");
  world.write({ "other.txt": "ours\n" });
  world.commit("ours");
  world.git("checkout", "--quiet", "theirs");
  world.write({ "other.txt": "theirs\n" });
  world.commit("theirs");
  world.git("checkout", "--quiet", "main");
  expect(() => world.git(command, ...args)).toThrow(command);
  return () => {
    world.git(command, "--abort");
    world.git("reset", "--quiet", "--hard", "HEAD^");
    world.git("branch", "--quiet", "-D", "theirs");
  };
}

/** Nothing below can be written, by root neither: for which permissions mean nothing. */
function frozen(path: string): (() => void) | "skip" {
  if (process.getuid?.() !== 0) return withoutPermission(path);
  try {
    execFileSync("mount", ["--bind", path, path], { stdio: "ignore" });
  } catch {
    return "skip";
  }
  execFileSync("mount", ["-o", "remount,bind,ro", path], { stdio: "ignore" });
  return () => execFileSync("umount", [path]);
}

/** As git and files are replaced by renaming, directories that cannot be written are enough. */
function withoutPermission(path: string): () => void {
  const below = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
  const directories = [path, ...below.map((entry) => join(entry.parentPath, entry.name))];
  const modes = directories.map((directory) => [directory, lstatSync(directory).mode & 0o7777] as const);
  for (const [directory] of modes) chmodSync(directory, 0o555);
  return () => {
    for (const [directory, mode] of modes) chmodSync(directory, mode);
  };
}

function moved(path: string): () => void {
  renameSync(path, `${path} elsewhere`);
  return () => renameSync(`${path} elsewhere`, path);
}

function replacedByLink(root: string): () => void {
  renameSync(join(root, "docs"), `${root} docs`);
  symlinkSync(`${root} docs`, join(root, "docs"));
  return () => {
    rmSync(join(root, "docs"));
    renameSync(`${root} docs`, join(root, "docs"));
  };
}

const BAD_WORLDS: readonly BadWorld[] = [
  {
    what: "git is not there",
    spoil: () => () => undefined,
    env: (world) => ({ PATH: world.agents.directory }),
    code: "CONFIGURATION",
    says: "git cannot be run",
  },
  {
    what: "git is too old",
    spoil: (world) => {
      const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
      const script = `case "$*" in *version) echo git version 2.30.0;; *) exec '${real}' "$@";; esac`;
      put(world.agents.directory, { "old/git": { executable: `#!/bin/sh\n${script}\n` } });
      return () => undefined;
    },
    env: (world) => ({ PATH: `${join(world.agents.directory, "old")}:${process.env["PATH"]}` }),
    code: "CONFIGURATION",
    says: "is too old",
  },
  {
    what: "a merge is in progress",
    spoil: (world) => stopped(world, "merge", "theirs"),
    code: "MERGE_CONFLICT",
    says: "api: a merge is in progress",
  },
  {
    what: "a cherry-pick is in progress",
    spoil: (world) => stopped(world, "cherry-pick", "theirs"),
    code: "MERGE_CONFLICT",
    says: "api: a cherry-pick is in progress",
  },
  {
    what: "a rebase is in progress",
    spoil: (world) => stopped(world, "rebase", "theirs"),
    code: "MERGE_CONFLICT",
    says: "api: main is being rebased",
  },
  {
    what: "the next of several cherry-picks has not begun yet",
    spoil: (world) => {
      put(world.repository, { ".git/sequencer/todo": "pick 0000000 next\n" });
      return () => rmSync(inGit(world, "sequencer"), { recursive: true });
    },
    code: "MERGE_CONFLICT",
    says: "api: a series of cherry-picks or reverts is in progress",
  },
  {
    what: "another rebase takes the branch along",
    spoil: (world) => {
      world.git("checkout", "--quiet", "-b", "top");
      put(world.repository, {
        ".git/rebase-merge/head-name": "refs/heads/top\n",
        ".git/rebase-merge/update-refs": "refs/heads/main\n0\n0\n",
      });
      return () => {
        rmSync(inGit(world, "rebase-merge"), { recursive: true });
        world.git("checkout", "--quiet", "main");
        world.git("branch", "--quiet", "-D", "top");
      };
    },
    code: "MERGE_CONFLICT",
    says: "api: main is being rebased",
  },
  {
    what: "the branch is gone",
    spoil: (world) => {
      world.git("checkout", "--quiet", "--detach");
      world.git("branch", "--quiet", "--move", "main", "hidden");
      return () => {
        world.git("branch", "--quiet", "--move", "hidden", "main");
        world.git("checkout", "--quiet", "main");
      };
    },
    code: "MERGE_CONFLICT",
    says: "api: the branch main is gone",
  },
  {
    what: "the branch was forced to another history",
    spoil: (world) => {
      const head = world.git("rev-parse", "HEAD").trim();
      world.git("checkout", "--quiet", "--orphan", "another");
      world.git("rm", "--quiet", "-r", "--force", ".");
      world.write({ "a.txt": "quite another\n" });
      world.commit("another history");
      world.git("branch", "--quiet", "--force", "main", "HEAD");
      world.git("checkout", "--quiet", "main");
      world.git("branch", "--quiet", "-D", "another");
      return () => void world.git("reset", "--quiet", "--hard", head);
    },
    code: "MERGE_CONFLICT",
    says: "api/a.txt was changed on both sides",
  },
  {
    what: "the branch is checked out in another work tree",
    spoil: (world) => {
      world.git("checkout", "--quiet", "-b", "here");
      world.git("worktree", "add", "--quiet", "../elsewhere", "main");
      return () => {
        world.git("worktree", "remove", "../elsewhere");
        world.git("checkout", "--quiet", "main");
        world.git("branch", "--quiet", "-D", "here");
      };
    },
    code: "MERGE_CONFLICT",
    says: "api: main is checked out in",
  },
  {
    what: "a directory is where a file was",
    spoil: (world) => {
      const restore = moved(join(world.repository, "a.txt"));
      put(world.repository, { "a.txt/mine.txt": "mine\n" });
      return () => {
        rmSync(join(world.repository, "a.txt"), { recursive: true });
        restore();
      };
    },
    code: "MERGE_CONFLICT",
    says: "api/a.txt is in the way",
  },
  {
    what: "a link is where a directory of the repository was",
    spoil: (world) => replacedByLink(world.repository),
    code: "MERGE_CONFLICT",
    says: "api/docs/deep/x.txt is in the way",
  },
  {
    what: "a link is where a directory of the plain directory was",
    spoil: (world) => replacedByLink(world.notes),
    code: "MERGE_CONFLICT",
    says: "notes/docs/deep/x.txt is in the way",
  },
  {
    what: "the repository is gone",
    spoil: (world) => moved(world.repository),
    code: "MERGE_CONFLICT",
    says: "is gone",
  },
  {
    what: "git's directory is gone",
    spoil: (world) => moved(inGit(world)),
    code: "MERGE_CONFLICT",
    says: "is no longer a git work tree",
  },
  {
    what: "the plain directory is gone",
    spoil: (world) => moved(world.notes),
    code: "MERGE_CONFLICT",
    says: "is gone",
  },
  {
    what: "the index is damaged",
    spoil: (world) => {
      const index = readFileSync(inGit(world, "index"));
      writeFileSync(inGit(world, "index"), "damaged");
      return () => writeFileSync(inGit(world, "index"), index);
    },
    code: "GIT_FAILED",
    says: "index",
  },
  {
    what: "another git command holds the index",
    spoil: (world) => {
      writeFileSync(inGit(world, "index.lock"), "");
      return () => rmSync(inGit(world, "index.lock"));
    },
    code: "RESOURCE_BUSY",
    says: "Another git command is running in",
  },
  {
    what: "another git command holds the branch",
    spoil: (world) => {
      writeFileSync(inGit(world, "refs/heads/main.lock"), "");
      return () => rmSync(inGit(world, "refs/heads/main.lock"));
    },
    code: "GIT_FAILED",
    says: "main.lock",
  },
  {
    what: "git's objects cannot be written",
    spoil: (world) => frozen(inGit(world, "objects")),
    code: "GIT_FAILED",
    says: "failed in",
  },
  {
    what: "the repository cannot be written",
    spoil: (world) => frozen(world.repository),
    code: "GIT_FAILED",
    says: "failed in",
  },
  {
    what: "the plain directory cannot be written",
    spoil: (world) => frozen(world.notes),
    code: "RESOURCE_FAILED",
    says: "was reversed",
  },
];

const GONE = ["the repository is gone", "git's directory is gone", "the plain directory is gone"];

test("apply in a bad world: a clear error, everything as it was, and it works once the world is good again", async () => {
  await using world = await World.make({ files: FILES, notes: FILES });
  const id = await world.executed(...STEPS);
  for (const { what, spoil, code, says, env } of BAD_WORLDS) {
    const restore = spoil(world);
    if (restore === "skip") {
      process.stderr.write(`skipped, because nothing can be mounted here: ${what}\n`);
      continue;
    }
    try {
      const look = (): unknown => (GONE.includes(what) ? undefined : world.everything());
      const before = look();
      if (env !== undefined) world.agents.inOwnProcess(env(world));
      const answer = await world.apply(id);
      world.agents.inThisProcess();
      const expected = { code, message: expect.stringContaining(says), kept: expect.any(String) };
      expect(answer, what).toMatchObject({
        exit_code: ["GIT_FAILED", "RESOURCE_FAILED", "CONFIGURATION"].includes(code) ? 1 : 4,
        error: expected,
      });
      expect(look(), what).toEqual(before);
    } finally {
      restore();
    }
    if (code === "MERGE_CONFLICT") continue;
    // The next command finds nothing to repair, and says nothing of the kind.
    const { data, messages } = await world.agents.json("plan", "status", id);
    expect(["complete", "errored"], what).toContain(data["state"]);
    expect(messages, what).toEqual([]);
  }
  expect(world.leftovers()).toEqual([]);
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(world.git("status", "--porcelain")).toBe("");
  expect([world.read("a.txt"), world.readNote("a.txt")]).toEqual(["one\nplanned\n", "one\nplanned\n"]);
  await world.agents.json("cleanup", "run", "--yes");
  expect(world.git("for-each-ref", "refs/cleveragents")).toBe("");
});

test("a full disk takes nothing away: what there was is there, and with room again the plan lands", async ({
  skip,
}) => {
  await using world = await World.make({ files: FILES });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", world.notes], { stdio: "ignore" });
  } catch {
    skip("nothing can be mounted here");
  }
  try {
    world.writeNotes(FILES);
    const command = `${WORK}; head -c 300000 /dev/urandom > big.bin`;
    const id = await world.executed(["shell_execute", { resource: "notes", command }], ...STEPS.slice(0, 1));
    const { bavail, bsize } = statfsSync(world.notes);
    world.writeNotes({ "filler.bin": new Uint8Array(bavail * bsize - 100_000) });
    const before = world.everything();
    expect(await world.apply(id)).toMatchObject({
      exit_code: 1,
      error: { code: "RESOURCE_FAILED", message: expect.stringContaining("ENOSPC"), kept: expect.any(String) },
    });
    expect(world.everything()).toEqual(before);
    rmSync(join(world.notes, "filler.bin"));
    expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
    expect(world.leftovers()).toEqual([]);
  } finally {
    execFileSync("umount", [world.notes]);
  }
});

test("the branch it started from is not checked out any more: it moves, and the detached HEAD stays", async () => {
  await using world = await World.make({ files: FILES, notes: FILES });
  const id = await world.executed(...STEPS);
  world.git("checkout", "--quiet", "--detach");
  world.write({ "a.txt": "in the work tree of another commit\n" });
  const head = world.git("rev-parse", "HEAD");
  expect(await world.apply(id)).toMatchObject({ exit_code: 0, data: { landings: [{ checked_out: false }, {}] } });
  expect(world.git("rev-parse", "HEAD", "main^")).toBe(head + head);
  expect(world.git("status", "--porcelain")).toBe(" M a.txt\n");
});

test("a plan that started from a detached HEAD does not land on a branch that was checked out later", async () => {
  await using world = await World.make({
    files: FILES,
    arrange: (made) => void made.git("checkout", "--quiet", "--detach"),
  });
  const id = await world.executed(...STEPS.slice(0, 1));
  world.git("checkout", "--quiet", "main");
  const before = world.everything();
  expect(await world.apply(id)).toMatchObject({
    exit_code: 4,
    error: { message: expect.stringContaining("started from a detached HEAD, and main is checked out now") },
  });
  expect(world.everything()).toEqual(before);
});

test("a shallow clone is as good as any", async () => {
  await using world = await World.make({
    files: FILES,
    arrange: (made) => {
      made.commit("second");
      made.git("clone", "--quiet", "--depth=1", "--no-local", ".", "../shallow");
    },
    checkout: (made) => join(made.repository, "..", "shallow"),
  });
  const shallow = join(world.repository, "..", "shallow");
  git(shallow, "config", "user.name", "Ann");
  const id = await world.executed(...STEPS.slice(0, 1));
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(await world.undo(id)).toMatchObject({ exit_code: 0 });
  expect(git(shallow, "status", "--porcelain")).toBe("");
  expect(git(shallow, "rev-list", "--count", "HEAD").trim()).toBe("3");
});

test("remains of a crash in a place that can no longer be reached do not stop other commands", async () => {
  await using world = await World.make({ files: FILES, notes: FILES });
  const id = await world.executed(...STEPS);
  let renames = 0;
  const dying: FileEffects = {
    ...FILE_EFFECTS,
    rename: (from, to) => {
      renames += 1;
      if (renames > 2) throw new Error("the process is gone");
      FILE_EFFECTS.rename(from, to);
    },
    link: (from, to) => {
      if (renames > 2) throw new Error("the process is gone");
      FILE_EFFECTS.link(from, to);
    },
  };
  await expect((await world.applier(dying)).apply(id)).rejects.toThrow("the process is gone");
  const restore = [moved(world.repository), moved(world.notes)];
  expect(await world.agents.json("plan", "list")).toMatchObject({
    exit_code: 0,
    messages: [{ level: "warning", text: expect.stringContaining("cannot be finished or undone yet") }, {}],
  });
  expect(await world.agents.json("plan", "apply", id, "--yes")).toMatchObject({ exit_code: 4 });
  for (const back of restore) back();
  await world.agents.json("plan", "list");
  expect(await world.agents.json("plan", "apply", id, "--yes")).toMatchObject({ exit_code: 0 });
  expect(world.git("status", "--porcelain")).toBe("");
  expect(world.leftovers()).toEqual([]);
});

test("an undo in a bad world leaves the plan applied, and works once the world is good again", async () => {
  await using world = await World.make({ files: FILES, notes: FILES });
  const id = await world.executed(...STEPS);
  await (await world.applier()).apply(id);
  const before = world.everything();
  mkdirSync(inGit(world, "sequencer"));
  expect(await world.undo(id)).toMatchObject({ exit_code: 4, error: { code: "MERGE_CONFLICT" } });
  rmSync(inGit(world, "sequencer"), { recursive: true });
  expect(world.everything()).toEqual(before);
  writeFileSync(inGit(world, "refs/heads/main.lock"), "");
  expect(await world.undo(id)).toMatchObject({ exit_code: 1, error: { code: "GIT_FAILED" } });
  rmSync(inGit(world, "refs/heads/main.lock"));
  expect(world.everything()).toEqual(before);
  expect((await world.agents.json("plan", "status", id)).data).toMatchObject({ state: "applied", undone_at: null });
  expect(await world.undo(id)).toMatchObject({ exit_code: 0 });
  expect(existsSync(join(world.notes, "new.txt"))).toBe(false);
  expect(world.leftovers()).toEqual([]);
});
