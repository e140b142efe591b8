import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSandbox } from "../execution/sandbox/sandbox.ts";
import { git } from "../testing/git-repository.ts";
import { contents, World, type Files, type Step } from "./testing/user-world.ts";
import { sized } from "../testing/size.ts";

const FULL = sized({ normal: false, full: true });

const api = (tool: Step[0], params: Step[1]): Step => [tool, { resource: "api", ...params }];
const notes = (tool: Step[0], params: Step[1]): Step => [tool, { resource: "notes", ...params }];

/** Every kind of file and name that is easily damaged, in both resources. */
const AWKWARD: Files = {
  "edit.txt": "one\ntwo\nthree\n",
  "crlf.txt": "one\r\ntwo\r\n",
  "no-newline.txt": "end",
  "binary.bin": Uint8Array.from({ length: 300 }, (_, index) => index % 256),
  "doomed.txt": "going\n",
  "old-name.txt": "the same\n",
  "run.sh": "#!/bin/sh\n",
  "was-run.sh": { executable: "#!/bin/sh\n" },
  "a-link": { link: "edit.txt" },
  "file-to-be-directory": "a file\n",
  "directory-to-be-file/one.txt": "1\n",
  "directory-to-be-file/deep/two.txt": "2\n",
  "with space/häß 文 \"quoted\" 'single'.txt": "unicode\n",
  "-dash.txt": "dash\n",
};

const CHANGES = String.raw`set -e
sed -i s/two/2/ edit.txt
printf 'one\r\n2\r\n' > crlf.txt
printf 'the end' > no-newline.txt
head -c 200 binary.bin | tail -c 150 > x; mv x binary.bin
rm doomed.txt
mv old-name.txt 'new näme "x".txt'
chmod +x run.sh; chmod -x was-run.sh
rm a-link; ln -s run.sh a-link
ln -s ../nowhere dangling
rm file-to-be-directory; mkdir file-to-be-directory; echo below > file-to-be-directory/x
rm -r directory-to-be-file; echo now > directory-to-be-file
mkdir -p new/very/deep/er; echo deep > new/very/deep/er/file.txt
: > empty.txt
echo more >> "with space/häß 文 \"quoted\" 'single'.txt"
echo x >> ./-dash.txt
echo glob > '*'; echo colon > ':(top)x'`;

test("apply writes every kind of file change to repository and directory as the sandbox has it, in one commit; undo restores every byte, and redo the result", async () => {
  await using world = await World.make({ files: AWKWARD, notes: AWKWARD });
  const id = await world.executed(
    api("shell_execute", { command: CHANGES }),
    notes("shell_execute", { command: CHANGES }),
  );
  const [repositoryBefore, notesBefore] = [contents(world.repository), contents(world.notes)];
  const head = world.git("rev-parse", "HEAD").trim();

  const applied = await world.apply(id);
  expect(applied).toMatchObject({ exit_code: 0, data: { phase: "apply", state: "applied" } });
  expect(contents(world.repository)).toEqual(contents(world.sandbox(id, "api")));
  expect(contents(world.notes)).toEqual(contents(world.sandbox(id, "notes")));
  expect(world.git("status", "--porcelain")).toBe("");
  expect(world.git("rev-parse", "HEAD^").trim()).toBe(head);
  expect(world.git("symbolic-ref", "HEAD").trim()).toBe("refs/heads/main");
  expect(world.git("log", "-1", "--format=%an <%ae> %cn <%ce>").trim()).toBe(
    "Ann <ann@example.org> Ann <ann@example.org>",
  );
  const trailers = world.git("log", "-1", "--format=%(trailers)");
  expect(trailers).toContain(`CleverAgents-Plan: ${id}\n`);
  expect(trailers).toMatch(/^CleverAgents-Changeset: \w{26}$/m);
  expect(world.git("reflog", "-1", "HEAD")).toContain(`cleveragents: apply ${id}`);
  expect(world.git("reflog", "-1", "main")).toContain(`cleveragents: apply ${id}`);
  world.git("fsck", "--strict", "--no-dangling");
  expect(world.leftovers()).toEqual([]);

  expect((await world.undo(id)).exit_code).toBe(0);
  expect(contents(world.repository)).toEqual(repositoryBefore);
  expect(contents(world.notes)).toEqual(notesBefore);
  expect(world.git("status", "--porcelain")).toBe("");
  expect((await world.redo(id)).exit_code).toBe(0);
  expect(contents(world.repository)).toEqual(contents(world.sandbox(id, "api")));
  expect(contents(world.notes)).toEqual(contents(world.sandbox(id, "notes")));
  expect(world.git("status", "--porcelain")).toBe("");
  world.git("fsck", "--strict", "--no-dangling");
  expect(world.leftovers()).toEqual([]);

  await world.agents.json("cleanup", "run", "--yes");
  expect(world.git("for-each-ref", "refs/cleveragents")).toBe("");
});

test("permissions of replaced files stay the user's; whether a file can be run follows the plan", async () => {
  const files = { "secret.txt": "a\n", "group.txt": "a\n", "tool.sh": "a\n" };
  await using world = await World.make({ files, notes: files });
  for (const root of [world.repository, world.notes]) {
    chmodSync(join(root, "secret.txt"), 0o600);
    chmodSync(join(root, "group.txt"), 0o664);
    chmodSync(join(root, "tool.sh"), 0o640);
  }
  const command = "for f in secret.txt group.txt tool.sh; do echo b >> $f; done; chmod +x tool.sh";
  const id = await world.executed(api("shell_execute", { command }), notes("shell_execute", { command }));
  const modes = (): string[] =>
    [world.repository, world.notes].flatMap((root) =>
      Object.keys(files).map((name) => (statSync(join(root, name)).mode & 0o777).toString(8)),
    );
  expect((await world.apply(id)).exit_code).toBe(0);
  expect(modes()).toEqual(["600", "664", "750", "600", "664", "750"]);
  expect((await world.undo(id)).exit_code).toBe(0);
  expect(modes()).toEqual(["600", "664", "640", "600", "664", "640"]);
});

test("another content does not get the rights that the old one had: setuid and setgid go, the sticky bit stays", async () => {
  const files = { "suid.sh": "a\n", "sgid.sh": "a\n", "sticky.sh": "a\n", "same.sh": "a\n" };
  await using world = await World.make({ files, notes: files });
  const given = { "suid.sh": 0o4755, "sgid.sh": 0o2755, "sticky.sh": 0o1755, "same.sh": 0o4755 };
  for (const root of [world.repository, world.notes])
    for (const [name, mode] of Object.entries(given)) chmodSync(join(root, name), mode);
  world.git("commit", "--quiet", "--all", "--message=modes");
  // Of the last file only the mode changes: its bit belongs to exactly this content.
  const command = "for f in suid.sh sgid.sh sticky.sh; do echo b >> $f; done; chmod -x same.sh";
  const id = await world.executed(api("shell_execute", { command }), notes("shell_execute", { command }));
  const modes = (): string[] =>
    [world.repository, world.notes].flatMap((root) =>
      Object.keys(files).map((name) => (statSync(join(root, name)).mode & 0o7777).toString(8)),
    );
  expect((await world.apply(id)).exit_code).toBe(0);
  expect(modes()).toEqual(["755", "755", "1755", "4644", "755", "755", "1755", "4644"]);
  expect((await world.undo(id)).exit_code).toBe(0);
  expect(modes()).toEqual(["755", "755", "1755", "4755", "755", "755", "1755", "4755"]);
});

/** Blobs in the repository are plain; what the work tree has is git's to make of them. */
const PLAIN = "one\ntwo\n$Id$\n";
const KINDS = ["plain", "crlf", "rot", "wide", "id"] as const;

test.each([
  [
    "attributes for line ends, a filter, an encoding and keywords",
    "*.crlf text eol=crlf\n*.rot filter=rot\n*.wide working-tree-encoding=UTF-16LE\n*.id ident\n",
    [
      ["filter.rot.clean", "tr a-z n-za-m"],
      ["filter.rot.smudge", "tr a-z n-za-m"],
    ],
  ],
  [
    "line ends by setting and no executable bits",
    "",
    [
      ["core.autocrlf", "TRUE"],
      ["core.fileMode", "false"],
    ],
  ],
  ["another native line end", "* text=auto\n", [["core.eol", "CRLF"]]],
] as const)(
  "a checkout with %s stays clean, with files as git itself checks them out",
  async (_, attributes, settings) => {
    await using world = await World.make({
      arrange: (made) => {
        for (const [key, value] of settings) made.git("config", key, value);
        made.write({ ".gitattributes": attributes, "../blob": PLAIN });
        made.git("add", ".gitattributes");
        const blob = made.git("hash-object", "-w", "--no-filters", "../blob").trim();
        for (const kind of KINDS) made.git("update-index", "--add", "--cacheinfo", `100644,${blob},x.${kind}`);
        made.git("commit", "--quiet", "-m", "plain");
        made.git("reset", "--quiet", "--hard");
        if (attributes === "") chmodSync(join(made.repository, "x.plain"), 0o755);
      },
    });
    expect(world.git("status", "--porcelain")).toBe("");
    const before = contents(world.repository);
    const command = "for f in x.*; do sed -i s/one/1/ $f; cp $f new${f#x}; done";
    const id = await world.executed(api("shell_execute", { command }));
    expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
    expect(world.git("status", "--porcelain")).toBe("");
    const landed = contents(world.repository);
    // The same commit, checked out by git from nothing.
    world.git("rm", "--quiet", "-r", "--force", ".");
    world.git("reset", "--quiet", "--hard");
    for (const kind of KINDS) {
      const [path, made] = [`x.${kind}`, `new.${kind}`];
      expect([world.git("show", `HEAD:${path}`), world.git("show", `HEAD:${made}`)]).toEqual([
        PLAIN.replace("one", "1"),
        PLAIN.replace("one", "1"),
      ]);
      if (attributes !== "") expect(contents(world.repository)[path], path).toBe(landed[path]);
      expect(contents(world.repository)[made], made).toBe(landed[made]);
    }
    expect(await world.undo(id)).toMatchObject({ exit_code: 0 });
    expect(world.git("status", "--porcelain")).toBe("");
    if (attributes !== "")
      for (const kind of KINDS) expect(contents(world.repository)[`x.${kind}`]).toBe(before[`x.${kind}`]);
  },
);

test("a branch that is not checked out moves alone; the checkout and what is in it stay", async () => {
  await using world = await World.make({ branch: "side", arrange: (made) => made.git("branch", "side") });
  const id = await world.executed(api("edit_file", { path: "a.txt", old: "two", new: "2" }));
  world.write({ "a.txt": "dirty\n", "untracked.txt": "mine\n" });
  world.git("stash", "push", "--quiet");
  world.write({ "a.txt": "dirty again\n" });
  world.git("add", "a.txt");
  const before = world.everything();
  const mainBefore = world.git("rev-parse", "main");
  expect(await world.apply(id)).toMatchObject({
    exit_code: 0,
    data: { landings: [{ branch: "side", checked_out: false }] },
  });
  expect(world.git("show", "side:a.txt")).toBe("one\n2\n");
  expect(world.git("rev-parse", "main")).toBe(mainBefore);
  const moved = new Set(["repository/.git/refs/heads/side", "repository/.git/logs/refs/heads/side"]);
  const after = world.everything();
  expect(Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path])).toEqual(
    [...moved].sort().filter((path) => before[path] !== after[path]),
  );
  // Checked out meanwhile: now the files go with it.
  world.git("reset", "--quiet", "--hard");
  world.git("checkout", "--quiet", "side");
  expect((await world.undo(id)).exit_code).toBe(0);
  expect(world.read("a.txt")).toBe("one\ntwo\n");
  expect(world.git("status", "--porcelain")).toBe("?? untracked.txt\n");
  expect(world.git("show", "stash@{0}:a.txt")).toBe("dirty\n");
});

test("a linked work tree is a checkout like any other", async () => {
  await using world = await World.make({
    arrange: (made) => void made.git("worktree", "add", "--quiet", "-b", "side", "../my tree"),
    checkout: (made) => join(made.repository, "..", "my tree"),
  });
  const tree = join(world.repository, "..", "my tree");
  const id = await world.executed(api("write_file", { path: "new.txt", content: "new\n" }));
  expect((await world.apply(id)).exit_code).toBe(0);
  expect(git(tree, "status", "--porcelain")).toBe("");
  expect(git(tree, "show", "side:new.txt")).toBe("new\n");
  expect(world.git("status", "--porcelain")).toBe("");
  expect((await world.undo(id)).exit_code).toBe(0);
  expect(git(tree, "status", "--porcelain")).toBe("");
  expect(contents(tree)).toEqual(contents(world.repository));
  expect(world.leftovers()).toEqual([]);
});

test("a plan lands on the branch its sandbox was made from, also if another was checked out before the first step", async () => {
  await using world = await World.make();
  const id = await world.used([api("write_file", { path: "new.txt", content: "new\n" })]);
  const place = { directory: join(world.agents.dataDir, "sandboxes"), planId: id, attempt: 1 };
  const facts = { alias: "api", strategy: "git_worktree", path: world.repository, branch: undefined } as const;
  // Killed right after the sandbox was made.
  await openSandbox(place, { ...facts, readOnly: false });
  world.git("checkout", "--quiet", "-b", "another");
  world.commit("on another branch");
  await world.execute(id);
  const head = world.git("rev-parse", "another");
  expect(await world.apply(id)).toMatchObject({ exit_code: 0, data: { landings: [{ branch: "main" }] } });
  expect(world.git("show", "main:new.txt")).toBe("new\n");
  expect(world.git("rev-parse", "another", "HEAD")).toBe(head + head);
});

test("a detached HEAD moves by itself, and no branch with it", async () => {
  await using world = await World.make({ arrange: (made) => void made.git("checkout", "--quiet", "--detach") });
  const id = await world.executed(api("write_file", { path: "new.txt", content: "new\n" }));
  const main = world.git("rev-parse", "main");
  expect((await world.apply(id)).exit_code).toBe(0);
  expect(world.git("rev-parse", "main", "HEAD^")).toBe(`${main}${main}`);
  expect(() => world.git("symbolic-ref", "--quiet", "HEAD")).toThrow("symbolic-ref");
  expect(world.git("status", "--porcelain")).toBe("");
});

test.each([
  ["none that git knows: then it is ours", {}, "CleverAgents <cleveragents@localhost>"],
  [
    "that of the environment, as in a pipeline",
    {
      GIT_AUTHOR_NAME: "Bot",
      GIT_AUTHOR_EMAIL: "bot@example.org",
      GIT_COMMITTER_NAME: "Bot",
      GIT_COMMITTER_EMAIL: "bot@example.org",
    },
    "Bot <bot@example.org>",
  ],
])("the author of the commit is the user; %s", async (_, environment, author) => {
  await using world = await World.make({
    arrange: (made) => {
      made.git("config", "--unset", "user.name");
      made.git("config", "--unset", "user.email");
      made.git("config", "user.useConfigOnly", "true");
      made.git("config", "i18n.commitEncoding", "ISO-8859-1");
    },
  });
  const id = await world.executed(api("write_file", { path: "new.txt", content: "new\n" }));
  const env = { HOME: world.agents.directory, XDG_CONFIG_HOME: world.agents.directory, ...environment };
  const { code, stderr } = await world.agents.process(["plan", "apply", id, "--yes"], { env });
  expect([code, stderr]).toEqual([0, expect.anything()]);
  expect(world.git("log", "-1", "--format=%an <%ae>").trim()).toBe(author);
  expect(world.git("cat-file", "commit", "HEAD")).not.toContain("encoding");
});

test("in a sparse checkout what is left out stays out, and what is marked as unchanged stays marked", async () => {
  await using world = await World.make({
    files: { "in/x.txt": "1\n", "out/y.txt": "1\n", "out/gone.txt": "1\n", "marked.txt": "1\n", "edited.txt": "1\n" },
    arrange: (made) => {
      made.git("sparse-checkout", "set", "in");
      made.git("update-index", "--assume-unchanged", "marked.txt", "edited.txt");
    },
  });
  const command =
    "for f in in/x.txt out/y.txt marked.txt; do echo 2 >> $f; done; rm out/gone.txt; echo n > out/new.txt";
  const id = await world.executed(api("shell_execute", { command }));
  const other = await world.executed(api("write_file", { path: "edited.txt", content: "theirs\n" }));
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(world.git("status", "--porcelain")).toBe("");
  expect(world.git("show", "HEAD:out/y.txt")).toBe("1\n2\n");
  expect(Object.keys(contents(world.repository))).not.toContain("out/y.txt");
  expect(world.git("ls-files", "-v", "marked.txt", "out/y.txt")).toBe("h marked.txt\nS out/y.txt\n");
  expect((await world.undo(id)).exit_code).toBe(0);
  expect(world.git("status", "--porcelain")).toBe("");
  expect(Object.keys(contents(world.repository))).not.toContain("out/y.txt");
  // Hidden from git's status, but it is the user's work all the same.
  world.write({ "edited.txt": "mine\n" });
  expect(await world.apply(other)).toMatchObject({ exit_code: 4, error: { code: "MERGE_CONFLICT" } });
  expect(world.read("edited.txt")).toBe("mine\n");
});

test("a repository with SHA-256 names, and a submodule as a checkout of its own", async () => {
  await using world = await World.make({
    arrange: (made) => {
      const { directory } = made.agents;
      made.git("init", "--quiet", "--object-format=sha256", "--initial-branch=main", "../long names");
      git(join(directory, "long names"), "commit", "--quiet", "--allow-empty", "-m", "first");
      made.git("init", "--quiet", "--initial-branch=main", "../inner");
      git(join(directory, "inner"), "commit", "--quiet", "--allow-empty", "-m", "first");
      made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../inner", "sub");
      made.commit("with a submodule");
    },
  });
  await world.link("git-checkout", "long", join(world.agents.directory, "long names"));
  await world.link("git-checkout", "sub", join(world.repository, "sub"));
  const id = await world.executed(
    ["write_file", { resource: "long", path: "x.txt", content: "x\n" }],
    ["write_file", { resource: "sub", path: "x.txt", content: "x\n" }],
  );
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(git(join(world.repository, "sub"), "status", "--porcelain")).toBe("");
  expect(git(join(world.agents.directory, "long names"), "show", "main:x.txt")).toBe("x\n");
  expect(await world.undo(id)).toMatchObject({ exit_code: 0 });
  expect(git(join(world.agents.directory, "long names"), "ls-files")).toBe("");
});

test("a submodule is not written through, on any branch", async () => {
  await using world = await World.make({
    branch: "side",
    arrange: (made) => {
      made.git("init", "--quiet", "--initial-branch=main", "../inner");
      git(join(made.agents.directory, "inner"), "commit", "--quiet", "--allow-empty", "-m", "first");
      made.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../inner", "sub");
      made.commit("with a submodule");
      made.git("branch", "side");
    },
  });
  const writing = world.executed(api("write_file", { path: "sub/x.txt", content: "x\n" }));
  await expect(writing).rejects.toThrow("submodules are not part of a plan");
  expect(world.git("status", "--porcelain")).toBe("");
});

test("of two work trees of one repository each has its own HEAD", async () => {
  await using world = await World.make({
    arrange: (made) => void made.git("worktree", "add", "--quiet", "--detach", "../second tree"),
  });
  const second = join(world.repository, "..", "second tree");
  await world.link("git-checkout", "second", second);
  const id = await world.executed(api("write_file", { path: "x.txt", content: "x\n" }), [
    "write_file",
    { resource: "second", path: "y.txt", content: "y\n" },
  ]);
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(world.git("symbolic-ref", "HEAD").trim()).toBe("refs/heads/main");
  expect([world.git("status", "--porcelain"), git(second, "status", "--porcelain")]).toEqual(["", ""]);
  expect([world.git("ls-files"), git(second, "ls-files")]).toEqual([
    ".gitignore\na.txt\nx.txt\n",
    ".gitignore\na.txt\ny.txt\n",
  ]);
});

test("two names of one branch cannot both take a plan's changes, and then none of them does", async () => {
  await using world = await World.make();
  await world.link("git-checkout", "twin", world.repository);
  const id = await world.executed(api("write_file", { path: "x.txt", content: "x\n" }), [
    "write_file",
    { resource: "twin", path: "y.txt", content: "y\n" },
  ]);
  const before = world.everything();
  expect(await world.apply(id)).toMatchObject({
    exit_code: 4,
    error: { code: "MERGE_CONFLICT", message: expect.stringContaining("twin"), kept: expect.any(String) },
  });
  expect(world.everything()).toEqual(before);
});

const [FILES, MEGABYTES] = FULL ? [1_000, 50] : [300, 8];

test(`${FILES} files and one of ${MEGABYTES} MB land together`, async () => {
  await using world = await World.make({ files: { "big.bin": randomBytes(MEGABYTES * 1024 * 1024) } });
  const command = `i=0; while [ $i -lt ${FILES} ]; do mkdir -p d$((i % 20)); echo $i > d$((i % 20))/$i.txt; i=$((i+1)); done
    printf x >> big.bin`;
  const id = await world.executed(api("shell_execute", { command }), notes("shell_execute", { command }));
  expect(await world.apply(id)).toMatchObject({ exit_code: 0 });
  expect(contents(world.repository)).toEqual(contents(world.sandbox(id, "api")));
  expect(contents(world.notes)).toEqual(contents(world.sandbox(id, "notes")));
  expect(world.git("status", "--porcelain")).toBe("");
  expect((await world.undo(id)).exit_code).toBe(0);
  expect(Object.keys(contents(world.repository))).toHaveLength(3);
  expect(Object.keys(contents(world.notes))).toHaveLength(1);
});

test("undoing leaves a directory that was there before, and removes those the plan made", async () => {
  await using world = await World.make();
  mkdirSync(join(world.notes, "inbox"));
  const id = await world.executed(
    notes("write_file", { path: "inbox/x.txt", content: "x" }),
    notes("write_file", { path: "made/by/plan.txt", content: "x" }),
  );
  const before = world.everything();
  await world.apply(id);
  expect((await world.undo(id)).exit_code).toBe(0);
  expect(world.everything()).toEqual(before);
});
