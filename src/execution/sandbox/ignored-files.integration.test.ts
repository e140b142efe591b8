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
    ["edit_file", step("rules", "edit_file", { path: ".gitignore", old: "*.log\n", new: "" })],
    ["write_file", step("rules", "write_file", { path: ".gitignore", content: "ignored/\n" })],
    ["a shell command", shell("rules", "sed -i '/log/d' .gitignore")],
    ["a rule that takes back another", shell("rules", "echo '!*.log' >> .gitignore")],
    ["a rule below", step("rules", "write_file", { path: "src/.gitignore", content: "!*.log\n" }), "src/made.log"],
  ])("become part of the plan with the step that changed the rules: %s", async (_how, rules, only = "made.log") => {
    await using plan = await ExecutingPlan.start();
    const entries = await run(plan, [
      shell("make", "echo 1 > made.log; echo 2 > src/made.log; mkdir ignored; echo 3 > ignored/x"),
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
      shell("make", "echo 1 > made.log; mkdir ignored; echo 3 > ignored/x"),
      step("move", "move_file", { path: ".gitignore", to: "src/.gitignore" }),
      step("back", "move_file", { path: "src/.gitignore", to: ".gitignore" }),
      step("write", "write_file", { path: "made.log", content: "part of it by now" }),
      step("delete", "delete_file", { path: ".gitignore" }),
    ]);
    expect(entries).toEqual([
      "move rename .gitignore -> src/.gitignore",
      "move create ignored/x",
      "move create made.log",
      "back rename src/.gitignore -> .gitignore",
      "write modify made.log",
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

test(`any mixture of rules, nested repositories and files (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const pick = <T>(from: readonly T[]): T => from[Math.trunc(random() * from.length)] as T;
  const directories = ["", "src/", "sub/", "sub/in/", "ignored/"];
  const rules = ["", "*.log\n", "ignored/\n*.log\n", "!*.log\n", "sub/\n", "*\n!*/\n!*.txt\n", "in\n/src\n"];
  const path = (): string => `${pick(directories)}${pick(["a.txt", "b.log", "c", "d.log"])}`;
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
