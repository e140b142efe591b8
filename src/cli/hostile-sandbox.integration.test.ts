/**
 * Files that a command leaves in its sandbox decide nothing outside of it: our own git runs none of its programs, no
 * file is written through its links, and nothing waits for it. Commands have their own home, so a program that sees the
 * user's home was not started by a command.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { OwnProcess } from "./testing/own-process.ts";
import { listing, World, type Step } from "./testing/user-world.ts";

/** The home of the user, and one process that has it: to start and load one for each test takes a second each. */
const HOME = join(mkdtempSync(join(tmpdir(), "cleveragents-home-")), "user-home");
const user = new OwnProcess({ ...process.env, HOME });
afterAll(() => {
  user[Symbol.dispose]();
  rmSync(dirname(HOME), { recursive: true, force: true });
});

/** A user's home that tells of every program that was started with it, and of every change. */
class Watched implements AsyncDisposable {
  readonly world: World;
  readonly home = HOME;
  readonly #ran: string;
  readonly #before: Readonly<Record<string, string>>;

  private constructor(world: World) {
    this.world = world;
    this.#ran = join(world.agents.directory, "ran-outside");
    rmSync(HOME, { recursive: true, force: true });
    mkdirSync(HOME);
    for (const name of ["canary", ".profile"]) writeFileSync(join(HOME, name), "as it was\n");
    this.#before = listing(HOME);
    world.agents.inSharedProcess(user, { HOME });
  }

  static async make(...options: Parameters<typeof World.make>): Promise<Watched> {
    return new Watched(await World.make(...options));
  }

  /** A shell script that passes its input on, and tells when the user's home is its own. */
  script(file: string): string {
    const tell = `[ "$HOME" = '${this.home}' ] && echo "$0" >> '${this.#ran}'`;
    return `mkdir -p "$(dirname ${file})"; cat > ${file} <<'END'\n#!/bin/sh\n${tell}\nexec cat\nEND\nchmod +x ${file}`;
  }

  /** The pre-commit hook of the user's repository. */
  hook(script: string): void {
    const file = join(this.world.repository, ".git", "hooks", "pre-commit");
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
  }

  used(...steps: readonly Step[]): Promise<string> {
    return this.world.used(steps.map(([tool, params, more = {}]) => [tool, { resource: "api", ...params }, more]));
  }

  /** Every command that looks at the plan's sandbox; undefined for those that went well, else the error. */
  async allOf(id: string): Promise<Readonly<Record<string, string | undefined>>> {
    const { agents } = this.world;
    const told: Record<string, string | undefined> = {};
    for (const words of [["execute"], ["diff"], ["status"], ["apply", "--yes"]]) {
      const [word = "", ...more] = words;
      const { error } = await agents.json("plan", word, id, ...more);
      told[word] = error === undefined ? undefined : `${error.code}: ${error.message}`;
    }
    return told;
  }

  /** The programs that ran outside of the sandbox, and the files of the user's home that changed. */
  harm(): readonly string[] {
    const ran = existsSync(this.#ran) ? readFileSync(this.#ran, "utf8").trimEnd().split("\n") : [];
    const now = listing(this.home);
    const files = Object.keys({ ...this.#before, ...now }).filter((file) => now[file] !== this.#before[file]);
    return [...ran, ...files];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }
}

const WELL = {
  execute: undefined,
  diff: undefined,
  status: undefined,
  apply: undefined,
} as const;

const GIT = "git -c user.name=m -c user.email=m@m";
const LOOKS: readonly Step[] = [
  ["git_status", {}],
  ["git_diff", {}],
  ["git_log", {}],
  ["git_blame", { path: "a.txt" }],
];

describe("programs that a command hides in a repository are not run by our git", () => {
  /** `run.sh` is the program. */
  const HIDDEN: Readonly<Record<string, string>> = {
    "a common directory with a filter": `mkdir .git/evil; for f in HEAD config objects refs info; do cp -r .git/$f .git/evil/; done
      git config -f .git/evil/config filter.x.clean "$PWD/run.sh"; git config -f .git/evil/config filter.x.smudge "$PWD/run.sh"
      echo '* filter=x' > .git/evil/info/attributes; echo evil > .git/commondir`,
    "settings of its own": `git config filter.x.clean "$PWD/run.sh"; git config core.fsmonitor "$PWD/run.sh"
      git config diff.external "$PWD/run.sh"; git config core.hooksPath "$PWD"; echo '* filter=x diff=x' > .git/info/attributes`,
    hooks: `mkdir -p .git/hooks; for h in post-checkout pre-commit post-index-change reference-transaction; do cp run.sh .git/hooks/$h; done
      git config --unset-all core.hooksPath`,
    "attributes in the tree": `git config --global filter.x.clean "$PWD/run.sh"; echo '* filter=x' > .gitattributes`,
    "a nested repository": `git init -q sub; cd sub; echo 1 > f; git add f; ${GIT} commit -qm x
      git config filter.x.clean "$OLDPWD/run.sh"; git config core.fsmonitor "$OLDPWD/run.sh"; mkdir -p .git/info
      echo '* filter=x' > .git/info/attributes; echo 2 > f; cd ..; git add sub; printf '[submodule "sub"]\\n\\tpath = sub\\n\\tignore = none\\n' > .gitmodules`,
    "a submodule of the base": `git init -q lib; cd lib; echo 1 > f; git add f; ${GIT} commit -qm x
      git config filter.x.clean "$OLDPWD/run.sh"; mkdir -p .git/info; echo '* filter=x' > .git/info/attributes; echo 2 > f; cd ..
      printf '[submodule "lib"]\\n\\tpath = lib\\n\\turl = ./lib\\n\\tignore = none\\n' > .gitmodules`,
  };

  test.each(Object.entries(HIDDEN))("%s", async (_name, command) => {
    await using watched = await Watched.make({
      arrange: (world) => {
        const head = world.git("rev-parse", "HEAD").trim();
        world.git("update-index", "--add", "--cacheinfo", `160000,${head},lib`);
        world.git("commit", "--quiet", "--message=submodule");
      },
    });
    watched.hook("git diff --cached --quiet && exit 1; exit 0");
    const attack = `${watched.script("run.sh")}\n${command}\necho changed >> a.txt`;
    const id = await watched.used(["shell_execute", { command: attack }], ...LOOKS, [
      "shell_execute",
      { command: "echo again >> a.txt" },
    ]);
    expect(await watched.allOf(id)).toEqual(WELL);
    expect(watched.harm()).toEqual([]);
    expect(watched.world.read("a.txt")).toBe("one\ntwo\nchanged\nagain\n");
  });

  test("nor are the user's own filters, which would be given what the plan wrote", async () => {
    await using watched = await Watched.make();
    const { agents } = watched.world;
    watched.hook("exit 0");
    const ran = join(agents.directory, "filter-ran");
    const filter = agents.write("filter", `#!/bin/sh\necho "$0" >> '${ran}'\nexec cat\n`);
    chmodSync(filter, 0o755);
    const settings = agents.write("settings", `[filter "mine"]\n\tclean = ${filter}\n\tsmudge = ${filter}\n`);
    agents.inOwnProcess({ HOME: watched.home, GIT_CONFIG_GLOBAL: settings });
    const command = "echo '* filter=mine' > .gitattributes; echo changed >> a.txt";
    const id = await watched.used(["shell_execute", { command }], ...LOOKS, [
      "shell_execute",
      { command: "[ -e $HOME/again ] || { touch $HOME/again; exit 1; }" },
    ]);
    expect((await agents.json("plan", "execute", id)).error).toMatchObject({ code: "TOOL_FAILED" });
    for (const word of ["execute", "diff", "status"])
      expect((await agents.json("plan", word, id)).error).toBeUndefined();
    expect(existsSync(ran)).toBe(false);
    expect(watched.harm()).toEqual([]);
  });

  test("git in a relative entry of PATH is not ours", async () => {
    await using watched = await Watched.make();
    const { agents } = watched.world;
    agents.inOwnProcess({ HOME: watched.home, PATH: `./bin::.:${process.env["PATH"] ?? ""}` });
    const attack = ["bin/git", "bin/sh", "bin/bwrap", "bin/cp", "git", "sh"].map((file) => watched.script(file));
    const id = await watched.used(["shell_execute", { command: attack.join("\n") }], ...LOOKS, [
      "shell_execute",
      { command: "echo more >> a.txt" },
    ]);
    expect(await watched.allOf(id)).toEqual(WELL);
    // Landed, they are where the user is.
    const cwd = watched.world.repository;
    expect(existsSync(join(cwd, "bin", "git"))).toBe(true);
    const { code } = await agents.run(["plan", "diff", id], { cwd });
    expect(code).toBe(0);
    expect(watched.harm()).toEqual([]);
  });
});

describe("links that a command put into its repository lead our git nowhere", () => {
  test.each([
    [["index", "logs/HEAD", "COMMIT_EDITMSG"]],
    [["HEAD", "refs", "packed-refs"]],
    [["config", "objects", "info"]],
  ])("%s", async (names) => {
    await using watched = await Watched.make();
    watched.hook("git diff --cached --quiet && exit 1; exit 0");
    const missing = join(watched.home, "made");
    const file = join(watched.home, "canary");
    const replace = (by: string): string =>
      `mkdir -p .git/logs; ${names.map((name) => `rm -rf .git/${name}; ln -s ${by} .git/${name}`).join("; ")}`;
    const attack = `${replace(missing)}; echo x >> a.txt
        echo 1111111111111111111111111111111111111111 > .git/HEAD.new; [ -L .git/HEAD ] || mv .git/HEAD.new .git/HEAD`;
    const again = `${replace(file)}; touch "$HOME/again"`;
    const id = await watched.used(
      ["shell_execute", { command: attack }],
      // Fails the first time, so that the second execution makes the sandbox what it was.
      ["shell_execute", { command: `[ -e "$HOME/again" ] || { ${again}; exit 1; }` }],
      ...LOOKS,
    );
    const { agents } = watched.world;
    expect((await agents.json("plan", "execute", id)).error).toMatchObject({ code: "TOOL_FAILED" });
    expect(await watched.allOf(id)).toEqual(WELL);
    expect(watched.harm()).toEqual([]);
  });

  test.each([
    ["gone", "rm -rf .git"],
    ["a file that names another", "rm -rf .git; echo 'gitdir: /nowhere' > .git"],
    ["a link to the user's", 'rm -rf .git; ln -s "$USERS" .git'],
    ["a pipe", "rm -rf .git; mkfifo .git"],
    ["locked away", "chmod 000 .git/objects .git"],
  ])("the whole repository is %s", async (_name, command) => {
    await using watched = await Watched.make();
    watched.hook("git diff --cached --quiet && exit 1; exit 0");
    const users = join(watched.world.repository, ".git");
    const before = watched.world.everything();
    const attack = command.replace("$USERS", users);
    const id = await watched.used(["shell_execute", { command: `${attack}; echo x >> a.txt` }], ...LOOKS);
    const { agents } = watched.world;
    expect((await agents.json("plan", "execute", id)).error).toBeUndefined();
    const { error } = await agents.json("plan", "diff", id);
    expect(error).toBeUndefined();
    // The ref that keeps the commit is all that is added.
    const after = Object.entries(watched.world.everything()).filter(([path]) => !path.includes("/cleveragents"));
    expect(Object.fromEntries(after)).toEqual(before);
    expect((await agents.json("plan", "apply", id, "--yes")).error).toBeUndefined();
    expect((await agents.json("cleanup", "run", "--yes")).data["removed"]).toHaveLength(2);
    expect(watched.harm()).toEqual([]);
  });
});

describe("what is neither file, directory nor link holds nothing", () => {
  test.each([
    [[".gitignore", "deep/down/.gitignore"]],
    [[".gitattributes", ".gitmodules", "a.txt"]],
    [["nested/.git", "other/.git/HEAD", "other/.git/index"]],
    [[".git/HEAD", ".git/index", ".git/packed-refs", ".git/objects/info/alternates", ".git/info"]],
  ])("%s", async (paths) => {
    await using watched = await Watched.make();
    watched.hook("exit 0");
    const pipes = paths.map((path) => `rm -rf ${path}; mkdir -p "$(dirname ${path})"; mkfifo ${path}`);
    const command = `${pipes.join("\n")}\necho new > new.txt`;
    const id = await watched.used(
      ["shell_execute", { command }],
      ["git_status", {}],
      ["git_diff", {}],
      // Ignored or not is asked of git.
      ["write_file", { path: "deep/down/file.txt", content: "x" }],
      ["shell_execute", { command: "true" }],
    );
    expect(await watched.allOf(id)).toEqual(WELL);
    expect(watched.world.read("new.txt")).toBe("new\n");
    expect(watched.harm()).toEqual([]);
  });

  test("nor where it lies in a directory that cannot be listed, or is named in no UTF-8", async () => {
    await using watched = await Watched.make();
    const hidden = `mkdir -p shut/in; mkfifo shut/in/.gitignore; mkfifo shut/.gitignore; chmod 100 shut/in shut
      echo more >> a.txt; mkdir -p x.log; cd x.log; d=$(printf '\\377'); mkdir "$d"; mkfifo "$d/.gitignore" "$d/$d"`;
    const id = await watched.used(["shell_execute", { command: hidden }], ["git_status", {}]);
    expect(await watched.allOf(id)).toEqual(WELL);
    expect(watched.harm()).toEqual([]);
  });
});

describe("more than a step may change", () => {
  test.each([
    ["a file of 1 GB without a byte on disk", "truncate -s 1G big", /"big" .* 100 MB/],
    ["a file of 3 GB", "truncate -s 3G big", /"big" .* 100 MB/],
    [
      "many that are each small enough",
      "mkdir big; for i in 1 2 3 4 5 6 7 8 9 10 11; do truncate -s 99M big/$i; done",
      /1 GB/,
    ],
    [
      "a path of 2,000 segments",
      `mkdir -p big/$(printf 'd/%.0s' $(seq 1900)); cd big; : > ${"d/".repeat(1900)}f`,
      /200/,
    ],
    [
      "a path longer than the system takes",
      `mkdir big; cd big; n=${"long-".repeat(10)}; for i in $(seq 300); do mkdir $n; cd -P $n || break; done; : > f`,
      /200/,
    ],
  ])("%s: it is told before it is read, put back, and the plan goes on", async (_name, command, message) => {
    await using watched = await Watched.make();
    const fails = `[ -e "$HOME/again" ] || { touch "$HOME/again"; echo x >> a.txt; rm .gitignore; ${command}; }`;
    const id = await watched.used(
      ["write_file", { path: "kept.txt", content: "kept" }],
      ["shell_execute", { command: fails }, { needs: ["step-1"] }],
      ["shell_execute", { command: "cat a.txt kept.txt > all.txt" }, { needs: ["step-2"] }],
    );
    const { agents } = watched.world;
    const { error } = await agents.json("plan", "execute", id);
    expect(error).toMatchObject({ code: "TOOL_FAILED", message: expect.stringMatching(message) });
    expect(error?.kept).toContain("as they were before");
    expect(Object.keys(listing(watched.world.sandbox(id, "api"))).filter((path) => !path.startsWith(".git/"))).toEqual([
      ".git",
      ".gitignore",
      "a.txt",
      "kept.txt",
    ]);
    expect(await watched.allOf(id)).toEqual(WELL);
    expect(watched.world.read("all.txt")).toBe("one\ntwo\nkept");
    expect(watched.harm()).toEqual([]);
  });
});

test("git works for a command: a clean repository at the commit the plan began with, which it may change as it likes", async () => {
  await using watched = await Watched.make();
  const command = `set -e
    [ -z "$(git status --porcelain)" ]; git log --oneline > log.txt; git checkout -qb work; echo x >> a.txt; git add -A
    ${GIT} commit -qm mine; [ "$(git rev-list --count HEAD)" = 2 ]; git stash list; git tag v1; git gc -q
    [ "$(git show HEAD~1:a.txt | wc -l)" = 2 ]`;
  const id = await watched.used(["shell_execute", { command }], ["git_status", {}]);
  expect(await watched.allOf(id)).toEqual(WELL);
  expect(watched.world.git("tag")).toBe("");
  expect(watched.harm()).toEqual([]);
});
