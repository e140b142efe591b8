/**
 * The files that are part of a plan: those of its base, those that its changes left, and every other file that git
 * does not ignore. This also holds when git's rules change on the way, and with repositories inside the sandbox: base
 * and changes together are the sandbox.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../testing/random.ts";
import type { PlannedStep } from "../testing/decide.ts";
import { ExecutingPlan, step } from "../testing/executing-plan.ts";
import { sized } from "../../testing/size.ts";
import { UserRepository } from "../testing/user-repository.ts";
import { leftOut } from "./unapplied-files.ts";

const SEED = Number(process.env["CLEVERAGENTS_TEST_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));

const shell = (id: string, command: string): PlannedStep => step(id, "shell_execute", { command });

/** One step after another; then base and changes are the sandbox, and a later owner rebuilds the same. */
async function run(plan: ExecutingPlan, steps: readonly PlannedStep[]): Promise<string[]> {
  const waves = steps.map((one) => [one]);
  await plan.run(waves);
  const entries = await plan.recorded();
  const held = await plan.replayed(entries);
  expect(await plan.partOfPlan(entries)).toEqual(held);
  await plan.takeOver();
  await plan.run(waves);
  expect(await plan.recorded()).toEqual(entries);
  expect(await plan.partOfPlan(entries)).toEqual(held);
  return entries.map(({ operation, path, fromPath, step: by }) =>
    [by, operation, ...(fromPath === undefined ? [] : [fromPath, "->"]), path].join(" "),
  );
}

describe("a repository inside the sandbox", () => {
  test("is a directory of files, whether or not git was told of it", async () => {
    await using plan = await ExecutingPlan.start();
    const commit = "git -c user.name=u -c user.email=u@example.org commit --quiet --message=m";
    const entries = await run(plan, [
      shell(
        "make",
        `git init --quiet sub && cd sub && mkdir -p deep/er && echo 1 > one && echo 2 > deep/er/two && echo '*.o' > .gitignore && echo o > deep/x.o
         mkdir cache && echo c > cache/c && echo cache/ >> .gitignore && git add . && ${commit} && git init --quiet deep/inner && echo i > deep/inner/i`,
      ),
      shell("add", "git add sub 2> hint.log; git ls-files --stage sub | grep -q 160000"),
      shell("change", "echo more >> sub/one; rm -r sub/deep/inner; chmod +x sub/deep/er/two; echo z > sub/z"),
      step("edit", "write_file", { path: "sub/one", content: "written" }),
      step("remove", "delete_file", { path: "sub/z" }),
      step("search", "search_files", { pattern: "written" }),
    ]);
    expect(entries).toEqual([
      "make create sub/.gitignore",
      "make create sub/deep/er/two",
      "make create sub/deep/inner/i",
      "make create sub/one",
      "change mode sub/deep/er/two",
      "change delete sub/deep/inner/i",
      "change modify sub/one",
      "change create sub/z",
      "edit modify sub/one",
      "remove delete sub/z",
    ]);
  });

  test("a file tool does not write what its rules ignore", async () => {
    await using plan = await ExecutingPlan.start();
    await run(plan, [shell("make", "git init --quiet sub; echo '*.o' > sub/.gitignore")]);
    const { call } = await plan.open();
    await expect(call("write_file", { path: "sub/x.o", content: "" })).rejects.toThrow("is ignored by git");
    await call("write_file", { path: "sub/x.c", content: "" });
  });
});

describe("files that are ignored no longer", () => {
  test.each([
    ["edit_file", step("rules", "edit_file", { path: ".gitignore", old: "*.out\n", new: "" })],
    ["write_file", step("rules", "write_file", { path: ".gitignore", content: "ignored/\n" })],
    ["a shell command", shell("rules", "sed -i '/out/d' .gitignore")],
    ["a rule that takes back another", shell("rules", "echo '!*.out' >> .gitignore")],
    ["a rule below", step("rules", "write_file", { path: "src/.gitignore", content: "!*.out\n" }), "src/made.out"],
  ])("become part of the plan with the step that changed the rules: %s", async (_how, rules, only = "made.out") => {
    await using plan = await ExecutingPlan.start();
    const entries = await run(plan, [
      shell("make", "echo 1 > made.out; echo 2 > src/made.out; mkdir ignored; echo 3 > ignored/x"),
      rules,
      shell("later", `echo more >> ${only}`),
    ]);
    expect(entries).toContain(`rules create ${only}`);
    expect(entries.filter((entry) => entry.includes("ignored/x"))).toEqual([]);
    expect(entries.at(-1)).toBe(`later modify ${only}`);
  });

  test("also when the rules are deleted or moved by a file tool", async () => {
    await using plan = await ExecutingPlan.start();
    const entries = await run(plan, [
      shell("make", "echo 1 > made.out; mkdir ignored; echo 3 > ignored/x"),
      step("move", "move_file", { path: ".gitignore", to: "src/.gitignore" }),
      step("back", "move_file", { path: "src/.gitignore", to: ".gitignore" }),
      step("write", "write_file", { path: "made.out", content: "part of it by now" }),
      step("delete", "delete_file", { path: ".gitignore" }),
    ]);
    expect(entries).toEqual([
      "move rename .gitignore -> src/.gitignore",
      "move create ignored/x",
      "move create made.out",
      "back rename src/.gitignore -> .gitignore",
      "write modify made.out",
      "delete delete .gitignore",
    ]);
  });
});

test("rules that a file tool writes hold for the next one", async () => {
  await using plan = await ExecutingPlan.start();
  const { call, workspace } = await plan.open();
  await using _open = workspace;
  await call("write_file", { path: "src/one.new", content: "" });
  await call("write_file", { path: "src/.gitignore", content: "*.new\n" });
  await expect(call("write_file", { path: "src/two.new", content: "" })).rejects.toThrow("is ignored by git");
  await call("edit_file", { path: "src/.gitignore", old: "new", new: "other" });
  await call("write_file", { path: "src/two.new", content: "" });
});

describe("what is part of the plan stays so when git ignores it by now", () => {
  test("for commands and for file tools, until it is gone", async () => {
    await using plan = await ExecutingPlan.start();
    const entries = await run(plan, [
      step("new", "write_file", { path: "new.tmp", content: "1" }),
      step("rules", "edit_file", { path: ".gitignore", old: "*.log", new: "*" }),
      shell("base", "echo more >> a.txt; rm crlf.txt; echo x > never; chmod +x new.tmp"),
      step("tool", "write_file", { path: "new.tmp", content: "2" }),
      step("again", "write_file", { path: "crlf.txt", content: "of the base" }),
      step("gone", "delete_file", { path: "new.tmp" }),
      shell("ignored", "echo x > new.tmp"),
    ]);
    expect(entries).toEqual([
      "new create new.tmp",
      "rules modify .gitignore",
      "base modify a.txt",
      "base delete crlf.txt",
      "base mode new.tmp",
      "tool modify new.tmp",
      "again create crlf.txt",
      "gone delete new.tmp",
    ]);
    const { call } = await plan.open();
    await expect(call("write_file", { path: "new.tmp", content: "" })).rejects.toThrow("is ignored by git");
  });

  test("and when git was made to forget it", async () => {
    await using plan = await ExecutingPlan.start();
    const entries = await run(plan, [
      shell("forget", "echo '*.txt' >> .gitignore; git rm --quiet --cached a.txt crlf.txt"),
      shell("change", "echo more >> a.txt; rm crlf.txt"),
      shell("index", "rm .git/index"),
      shell("more", "echo more >> bom.txt; rm 'with space/'*"),
    ]);
    expect(entries).toEqual([
      "forget modify .gitignore",
      "change modify a.txt",
      "change delete crlf.txt",
      "more modify bom.txt",
      "more delete with space/häß 文.txt",
    ]);
  });
});

test("a submodule's content is not part of a plan: file tools refuse it, commands leave it out", async () => {
  await using plan = await ExecutingPlan.start();
  const { user } = plan;
  const head = await user.git("rev-parse", "HEAD");
  await user.git("update-index", "--add", "--cacheinfo", `160000,${head},lib/mod`);
  await user.git("commit", "--quiet", "--message=submodule");
  await plan.run([
    [shell("make", "echo x > lib/mod/x; echo y > lib/y; git init --quiet lib/mod")],
    [shell("forget", "git rm --quiet --cached lib/mod; echo more >> lib/mod/x; echo more >> lib/y")],
  ]);
  expect((await plan.recorded()).map(({ operation, path }) => `${operation} ${path}`)).toEqual([
    "create lib/y",
    "modify lib/y",
  ]);
  const { call } = await plan.open();
  await expect(call("write_file", { path: "lib/mod/z", content: "" })).rejects.toMatchObject({
    code: "contained",
    message: expect.stringContaining("lies in a submodule"),
  });
  await expect(call("create_directory", { path: "lib/mod/d" })).rejects.toThrow("lies in a submodule");
});

describe("junk that commands leave", () => {
  test("is listed and left out; what a file tool writes there is part of the plan", async () => {
    await using plan = await ExecutingPlan.start({
      user: await UserRepository.make({ "a.txt": "one\n", "logs/old.log": "tracked\n" }),
    });
    const junk =
      "mkdir -p __pycache__ .pytest_cache coverage node_modules/x; echo 1 > __pycache__/m.pyc; echo 2 > .pytest_cache/v; echo 3 > coverage/i.html; echo 4 > node_modules/x/i.js; echo 5 > run.log; echo 6 > .DS_Store; echo 7 > tsconfig.tsbuildinfo";
    const entries = await run(plan, [
      shell("tests", `${junk}; echo real > real.txt; echo more >> logs/old.log`),
      step("meant", "write_file", { path: "coverage/meant.md", content: "meant" }),
      step("over", "write_file", { path: "run.log", content: "meant too" }),
      step("edit", "edit_file", { path: "tsconfig.tsbuildinfo", old: "7", new: "8" }),
      step("keep", "move_file", { path: "node_modules/x/i.js", to: "kept.js" }),
      step("drop", "delete_file", { path: ".DS_Store" }),
      shell("later", "echo more >> run.log; echo more >> __pycache__/m.pyc; rm coverage/meant.md"),
    ]);
    expect(entries).toEqual([
      "tests modify logs/old.log",
      "tests create real.txt",
      "meant create coverage/meant.md",
      "over create run.log",
      "edit create tsconfig.tsbuildinfo",
      "keep create kept.js",
      "later delete coverage/meant.md",
      "later modify run.log",
    ]);
    const changes = await plan.recorded();
    const executed = { ...plan.lease.plan, phase: "execute", state: "complete" } as const;
    const left = await leftOut(plan.directory, executed, changes);
    expect(left?.map(({ path }) => path)).toEqual([".pytest_cache/", "__pycache__/", "coverage/"]);
  });

  test("is part of the plan where the project's own rules say so", async () => {
    const user = await UserRepository.make({ ".gitignore": "!*.log\n", "a.txt": "one\n" });
    await using plan = await ExecutingPlan.start({ user });
    expect(await run(plan, [shell("make", "echo 1 > wanted.log; echo 2 > m.pyc")])).toEqual(["make create wanted.log"]);
  });
});

test(`any mixture of rules, nested repositories and files (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const pick = <T>(from: readonly T[]): T => from[Math.trunc(random() * from.length)] as T;
  const directories = ["", "src/", "sub/", "sub/in/", "ignored/"];
  const rules = ["", "*.log\n", "ignored/\n*.log\n", "!*.log\n", "*.out\n", "sub/\n", "*\n!*/\n!*.txt\n", "in\n/src\n"];
  const path = (): string => `${pick(directories)}${pick(["a.txt", "b.log", "c", "d.out"])}`;
  for (let round = 0; round < sized({ normal: 4, full: 60 }); round += 1) {
    await using plan = await ExecutingPlan.start();
    const commands: (() => string)[] = [
      () => `echo ${round} >> ${path()}`,
      () => `rm -f ${path()}`,
      () => `git init --quiet ${pick(["sub", "sub/in", "ignored"])}`,
      () => `git add --force ${path()}`,
      () => `printf '${pick(rules).replaceAll("\n", "\\n")}' > ${pick(directories)}.gitignore`,
      () => `rm -f ${pick(directories)}.gitignore`,
    ];
    const waves = Array.from({ length: 12 }, (_, index): PlannedStep[] => {
      if (random() < 0.3)
        return [step(`rules-${index}`, "write_file", { path: ".gitignore", content: `${pick(rules)}# ${index}\n` })];
      const lines = Array.from({ length: 4 }, () => pick(commands)());
      return [shell(`shell-${index}`, `mkdir -p src sub/in ignored; { ${lines.join("; ")}; } 2> /dev/null; true`)];
    });
    await plan.run(waves);
    const entries = await plan.recorded();
    expect(await plan.partOfPlan(entries), `round ${round}`).toEqual(await plan.replayed(entries));
  }
});

test("the git that answers does not outlive the run", async () => {
  await using plan = await ExecutingPlan.start();
  await plan.run([[step("write", "write_file", { path: "new", content: "" })]]);
  await expect.poll(() => gitsIn(plan.root), { timeout: 30_000 }).toEqual([]);
  {
    const { call, workspace } = await plan.open();
    await using _open = workspace;
    await call("write_file", { path: "other", content: "" });
    expect(await gitsIn(plan.root)).not.toEqual([]);
  }
  await expect.poll(() => gitsIn(plan.root), { timeout: 30_000 }).toEqual([]);
});

/** Processes of git whose working directory it is. */
async function gitsIn(root: string): Promise<string[]> {
  const script = `for p in /proc/[0-9]*; do [ "$(readlink $p/cwd)" = "$1" ] && tr '\\0' ' ' < $p/cmdline; done; true`;
  const { stdout } = await promisify(execFile)("sh", ["-c", script, "sh", root]);
  return stdout.split("\n").filter((line) => line.includes("git"));
}
