/**
 * A plan's changes as a patch: made from what was recorded, and applied to the base it gives what the sandbox holds.
 */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { diffChanges } from "./diff-of-plan.ts";
import type { PlanChange } from "./plan-changes.ts";
import { ExecutingPlan, step } from "../execution/testing/executing-plan.ts";
import { readTree } from "../execution/testing/trees.ts";

const COMMANDS: readonly (readonly [name: string, command: string])[] = [
  ["added", "printf 'x\\ny\\n' > new.txt"],
  [
    "added below new directories, with awkward names",
    "mkdir -p 'd e/ü'; echo x > 'd e/ü/文 a.txt'; echo y > 'x a'; mkdir 'p a'; : > 'p a/q'",
  ],
  [
    "quotes in names",
    "echo x > '\"begins'; echo y > 'in\"side'; mkdir '\"'; mv a.txt '\"/\"'; echo z > ' space first'",
  ],
  ["added empty", ": > nothing"],
  ["deleted", "rm a.txt 'with space/häß 文.txt' empty.txt"],
  ["modified", "echo more >> a.txt; sed -i s/one/1/ crlf.txt bom.txt"],
  ["renamed", "mv a.txt b.txt; mv 'with space' 'other space'; mv src/deep/y.ts 'src/ÿ.ts'"],
  ["renamed and changed", "mv src/z.ts z2.ts; for i in 1 2 3 4 5 6 7 8 9; do echo line $i >> z2.ts; done"],
  ["mode", "chmod 755 a.txt; chmod 644 script.sh"],
  ["mode and content", "chmod 755 a.txt; echo x >> a.txt"],
  ["binary", "mv binary.bin other.bin; head -c 3000 /dev/urandom > binary.bin; head -c 500 /dev/urandom > new.bin"],
  ["no newline", "printf 'still none' > no-newline.txt; printf x > n"],
  [
    "no UTF-8",
    "printf '\\n' >> latin1.txt; cp latin1.txt 'l [1]*?#.txt'; mv latin1.txt moved; head -c 3000 /dev/urandom | tr -d '\\0' > r",
  ],
  ["links", "ln -s a.txt l2; rm link; ln -s crlf.txt link; rm link-out; echo file > link-out; rm a.txt; ln -s x a.txt"],
  ["places changed", "rm a.txt; mkdir a.txt; echo x > a.txt/x; rm -r src/deep; echo x > src/deep"],
  [
    "carriage returns under attributes",
    "printf '* text=auto eol=lf\\n*.txt diff=x\\n' > .gitattributes; printf 'a\\r\\nb\\r\\n' > c.txt; printf 'z\\r\\n' >> crlf.txt",
  ],
  ["ignore file", "printf 'new*\\n' > .gitignore; mkdir k; printf 'y*\\n' > k/.gitignore; echo x > k/x"],
];

describe("applies to the base and gives the sandbox's tree:", () => {
  test.each(COMMANDS)("%s", async (_name, command) => {
    await using plan = await ExecutingPlan.start();
    await plan.run([[step("shell", "shell_execute", { command })]]);
    const done = await plan.tree();
    // The sandbox need not be there any more.
    await rm(plan.directory, { recursive: true });
    const { patch, files } = await diffChanges(plan.changesets, await plan.recorded());
    expect(files.length).toBeGreaterThan(0);
    const file = join(plan.user.directory, "patch");
    await writeFile(file, patch);
    await plan.user.git("apply", "--whitespace=nowarn", file);
    expect(await readTree(plan.user.path)).toEqual(done);
  });
});

test("tells files, kinds, steps and counts; renames are found", async () => {
  await using plan = await ExecutingPlan.start();
  await plan.run([
    [
      step("add", "write_file", { path: "n.txt", content: "1\n2\n" }),
      step("remove", "delete_file", { path: "empty.txt" }),
      step("mode", "write_file", { path: "no-newline.txt", content: "end", mode: "755" }),
      step("edit", "edit_file", { path: "a.txt", old: "two", new: "2" }),
      step("move", "move_file", { path: "src/z.ts", to: "z.ts" }),
      step("gone", "write_file", { path: "temporary", content: "t" }),
    ],
    [
      step("edit-2", "edit_file", { path: "a.txt", old: "one", new: "1" }),
      step("gone-2", "delete_file", { path: "temporary" }),
    ],
  ]);
  const diff = await diffChanges(plan.changesets, await plan.recorded());
  const decisions = (...steps: string[]): Promise<string[]> => Promise.all(steps.map((one) => plan.decision(one)));
  expect(diff.files).toEqual([
    {
      resource: "api",
      path: "a.txt",
      change: "modified",
      steps: ["edit", "edit-2"],
      decisions: await decisions("edit", "edit-2"),
      size: 10,
    },
    {
      resource: "api",
      path: "empty.txt",
      change: "deleted",
      steps: ["remove"],
      decisions: await decisions("remove"),
      size: 0,
    },
    { resource: "api", path: "n.txt", change: "added", steps: ["add"], decisions: await decisions("add"), size: 4 },
    {
      resource: "api",
      path: "no-newline.txt",
      change: "mode",
      steps: ["mode"],
      decisions: await decisions("mode"),
      size: 3,
    },
    {
      resource: "api",
      path: "src/z.ts",
      change: "deleted",
      steps: ["move"],
      decisions: await decisions("move"),
      size: 0,
    },
    { resource: "api", path: "z.ts", change: "added", steps: ["move"], decisions: await decisions("move"), size: 20 },
  ]);
  expect(diff).toMatchObject({ insertions: 4, deletions: 2 });
  for (const line of [
    "diff --git a/a.txt b/a.txt",
    "diff --git a/n.txt b/n.txt\nnew file mode 100644",
    "diff --git a/empty.txt b/empty.txt\ndeleted file mode 100644",
    "old mode 100644\nnew mode 100755",
    "rename from src/z.ts\nrename to z.ts",
  ])
    expect(diff.patch).toContain(line);
});

test("several resources are told apart; nothing changed is an empty patch; a lost content is told", async () => {
  await using plan = await ExecutingPlan.start();
  expect(await diffChanges(plan.changesets, [])).toEqual({ files: [], patch: "", insertions: 0, deletions: 0 });
  await plan.run([[step("add", "write_file", { path: "n.txt", content: "1\n" })]]);
  const [entry] = await plan.recorded();
  if (entry === undefined) throw new Error("nothing was recorded");
  const web: PlanChange = { ...entry, resource: "web", step: "other", decision: undefined };
  const { patch, files } = await diffChanges(plan.changesets, [entry, web]);
  expect(patch).toContain("+++ b/api/n.txt");
  expect(patch).toContain("+++ b/web/n.txt");
  expect(files.map(({ steps, decisions }) => [steps, decisions])).toEqual([
    [["add"], [entry.decision]],
    [["other"], []],
  ]);
  const lost: PlanChange = { ...entry, after: { hash: "0".repeat(64), mode: 0o100644 } };
  await expect(diffChanges(plan.changesets, [lost])).rejects.toThrow('The content of "n.txt" was not recorded.');
});
