/** No work in a sandbox changes the user's repository. */
import { appendFile, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ExecutingPlan, step } from "../testing/executing-plan.ts";
import { fill } from "../testing/trees.ts";

async function executing(): Promise<ExecutingPlan> {
  const plan = await ExecutingPlan.start();
  const { user } = plan;
  await user.git("branch", "other");
  await user.git("tag", "v1");
  // A dirty checkout: staged, changed, untracked, stashed.
  await fill(user.path, { "a.txt": "stashed\n" });
  await user.git("stash");
  await fill(user.path, {
    "a.txt": "dirty\n",
    "staged.txt": "staged\n",
    "untracked.txt": "mine\n",
    "ignored/x": "mine\n",
  });
  await user.git("add", "staged.txt");
  // Hooks that would leave a trace.
  const trace = join(user.directory, "hook-ran");
  for (const hook of ["post-checkout", "reference-transaction", "pre-commit", "post-index-change", "pre-auto-gc"])
    await fill(user.path, { [`.git/hooks/${hook}`]: { executable: `#!/bin/sh\necho ${hook} >> '${trace}'\n` } });
  return plan;
}

async function hooksRan(plan: ExecutingPlan): Promise<string> {
  return readFile(join(plan.user.directory, "hook-ran"), "utf8").catch(() => "");
}

describe("git commands of a shell in the sandbox", () => {
  test.each([
    ["stash", "echo x >> a.txt; git stash; git stash list; git stash drop"],
    ["branch -D", "git branch -D main; git branch -D other; git checkout -b other; git branch -f main"],
    ["config", "git config user.name Eve; git config core.bare true; git config --unset core.bare"],
    ["tag", "git tag v2; git tag -f v1; git tag -d v1; git tag -d v2"],
    ["worktree", "git worktree add ../elsewhere; git worktree prune"],
    [
      "commit",
      "git -c user.name=a -c user.email=a@b commit -qam x; git commit --amend -qm y; git reset --hard -q HEAD",
    ],
    ["gc", "git gc -q --prune=now; git reflog expire --all --expire=now; git prune; git repack -adq"],
    ["push", "git push origin HEAD:main; git push --all; git remote -v"],
    ["hooks", "mkdir -p .git/hooks; echo 'exit 1' > .git/hooks/pre-commit; git checkout -q HEAD -- ."],
    ["rm -rf of all files", "rm -rf ./* .gitignore"],
    ["update-ref", "git update-ref refs/heads/main HEAD~0; git update-ref -d refs/heads/main; git pack-refs --all"],
    ["alternates", "git repack -adlq; rm -f .git/objects/info/alternates; git fsck"],
    ["index", "git rm -rfq .; git add -A; rm -f .git/index; git read-tree HEAD"],
  ])("%s", async (_name, command) => {
    await using plan = await executing();
    const before = await plan.user.fingerprint();
    await plan.run([[step("shell", "shell_execute", { command: `{ ${command}; } 2>&1; true` })]]);
    await plan.takeOver();
    await plan.run([]);
    expect(await plan.user.fingerprint()).toEqual(before);
    expect(await hooksRan(plan)).toBe("");
    await plan.user.git("fsck", "--no-dangling");
  });

  test("rm -rf of everything that can be reached fails the step, and the next run makes the sandbox again", async () => {
    await using plan = await executing();
    const before = await plan.user.fingerprint();
    await plan.run([[step("begin", "write_file", { path: "new.txt", content: "new" })]]);
    const everything = step("all", "shell_execute", { command: "find . -mindepth 1 -delete; rm -rf .git ../../../*" });
    await expect(plan.run([[everything]])).rejects.toMatchObject({
      code: expect.stringMatching(/^(resource|tool)_failed$/),
    });
    await plan.takeOver();
    await plan.run([[step("end", "write_file", { path: "end.txt", content: "end" })]]);
    expect(await plan.tree()).toEqual(await plan.replayed(await plan.recorded()));
    expect((await plan.recorded()).map(({ path }) => path)).toEqual(["new.txt", "end.txt"]);
    expect(await plan.user.fingerprint()).toEqual(before);
    await plan.user.git("fsck", "--no-dangling");
  });

  test("settings that point our own git at the user's tree or let it run something are not obeyed", async () => {
    await using plan = await executing();
    const before = await plan.user.fingerprint();
    await plan.run([[step("begin", "write_file", { path: "new.txt", content: "new" })]]);
    const ran = join(plan.directory, "ran");
    const config = [
      `[core]\n\tworktree = ${plan.user.path}\n\tfsmonitor = "touch ${ran} #"\n\thooksPath = ${plan.user.path}/.git/hooks`,
      "[core]\n\tsparseCheckout = true",
    ].join("\n");
    await appendFile(join(plan.root, ".git", "config"), `${config}\n`);
    await writeFile(join(plan.root, "left-over.txt"), "");
    await plan.takeOver();
    await plan.run([[step("shell", "shell_execute", { command: "echo 2 > second.txt" })]]);
    expect(await plan.user.fingerprint()).toEqual(before);
    expect(await hooksRan(plan)).toBe("");
    await expect(readFile(ran)).rejects.toThrow("ENOENT");
    expect(await plan.replayed(await plan.recorded())).toEqual(await plan.tree());
  });

  test.each(["removed", "a link to the user's", "a file that names the user's"])(
    "the sandbox's repository is %s: no other is used in its place, and it is made again",
    async (kind) => {
      await using plan = await executing();
      await plan.run([[step("begin", "write_file", { path: "new.txt", content: "new" })]]);
      const before = await plan.user.fingerprint();
      const repository = join(plan.root, ".git");
      await rm(repository, { recursive: true });
      if (kind === "a link to the user's") await symlink(join(plan.user.path, ".git"), repository);
      if (kind === "a file that names the user's") await writeFile(repository, `gitdir: ${plan.user.path}/.git\n`);
      await plan.takeOver();
      await plan.run([]);
      expect(await plan.tree()).toEqual(await plan.replayed(await plan.recorded()));
      expect(await plan.user.fingerprint()).toEqual(before);
    },
  );
});

test("files that git was told to take for unchanged are reset like all others", async () => {
  await using plan = await ExecutingPlan.start();
  await plan.run([[step("begin", "write_file", { path: "new.txt", content: "new" })]]);
  const { workspace } = await plan.open();
  const hide =
    "git update-index --assume-unchanged a.txt; git update-index --skip-worktree src/z.ts; echo x > a.txt; rm src/z.ts";
  await expect(
    plan.run([[step("hide", "shell_execute", { command: `${hide}; touch .git/index.lock .git/HEAD.lock; exit 1` })]]),
  ).rejects.toMatchObject({ code: "tool_failed" });
  await mkdir(join(workspace.sandbox.root, "nested/.git"), { recursive: true });
  await plan.takeOver();
  await plan.run([]);
  expect(await plan.tree()).toEqual(await plan.replayed(await plan.recorded()));
});
