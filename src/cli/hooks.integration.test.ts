/** The repository's own hooks at the end of execute: what they see, what they rewrite, and what their failing means. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commitMessage, recordedCommitMessage } from "../changes/commit-message.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import { recordedHooks } from "../execution/checks/hooks.ts";
import { SandboxHome } from "../execution/testing/sandbox-home.ts";
import { ShopWorld } from "./testing/shop-world.ts";

const STEPS = `  - { id: write, tool: write_file, params: { path: hello.txt, content: "hello\\n" } }
  - { id: drop, tool: delete_file, params: { path: a.txt } }
`;

function hook(world: ShopWorld, name: string, script: string, directory = ".git/hooks", mode = 0o755): void {
  const at = join(world.repository, directory);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(at, name), mode);
}

/** The record that the library gives to the caller that applies the plan. */
async function recorded(world: ShopWorld, id: string) {
  await using store = await openStore(`sqlite:${world.agents.database}`);
  const plan = await new PlanLifecycleService({ store }).getPlan(id);
  return {
    plan,
    message: await recordedCommitMessage(store, plan, "api"),
    hooks: await recordedHooks(store, plan),
  };
}

test("hooks see the plan's changes as git would show them; what they rewrite is credited to them, also the message", async () => {
  using world = new ShopWorld();
  const { agents } = world;
  hook(
    world,
    "pre-commit",
    `{ git diff-files --name-only; git diff --cached --name-status; git status --short; pwd; git config user.name; git var GIT_AUTHOR_IDENT; } > $HOME/out &&
     tr a-z A-Z < hello.txt > x && cat x > hello.txt && rm x && git add hello.txt && echo formatted > formatted.txt && echo l > l.log`,
  );
  hook(
    world,
    "commit-msg",
    `git diff --cached --name-status >> $HOME/out; printf 'Reviewed-by: hook  \\n\\n\\n' >> "$1"; echo noted >> hello.txt`,
  );
  agents.write("v.yaml", "name: v\ndescription: v\ncommand: cat hello.txt\n");
  const id = await world.plan(STEPS);
  await agents.json("validation", "add", "--config", "v.yaml");
  await agents.json("validation", "attach", "api", "v");
  const before = world.git("status", "--porcelain", "--ignored") + world.git("for-each-ref", "refs/heads");
  const { data, exit_code } = await agents.json("plan", "execute", id);
  expect(exit_code).toBe(0);
  expect(data["hooks"]).toEqual([
    { resource: "api", hook: "pre-commit", skipped: false },
    { resource: "api", hook: "commit-msg", skipped: false },
  ]);
  // The validations look at what the hooks left.
  expect(data["validations"]).toMatchObject([{ passed: true, output: "HELLO\nnoted\n" }]);
  const tree = join(agents.dataDir, "sandboxes", id, "1", "api", "tree");
  expect(new SandboxHome(agents.dataDir, id).read("out").split("\n")).toEqual([
    "D\ta.txt",
    "A\thello.txt",
    "D  a.txt",
    "A  hello.txt",
    tree,
    expect.stringMatching(/^Ann <ann@example.org>/),
    "D\ta.txt",
    "A\tformatted.txt",
    "A\thello.txt",
    "",
  ]);
  expect((await agents.json("plan", "diff", id)).data["files"]).toMatchObject([
    { path: "a.txt", change: "deleted", steps: ["drop"] },
    { path: "formatted.txt", change: "added", steps: ["hook:api:pre-commit"] },
    { path: "hello.txt", change: "added", steps: ["write", "hook:api:pre-commit", "hook:api:commit-msg"] },
  ]);
  const { message } = await recorded(world, id);
  expect(message).toBe(`Greet everybody in the shop\n\nCleverAgents-Plan: ${id}\nReviewed-by: hook\n`);
  expect(world.git("status", "--porcelain", "--ignored") + world.git("for-each-ref", "refs/heads")).toBe(before);
});

test("a failing hook stops the plan with what it said; repeated, the steps stay recorded; --no-verify skips it", async () => {
  using world = new ShopWorld();
  const { agents } = world;
  hook(
    world,
    "pre-commit",
    `echo half > half.txt; printf 'no \\033[31mtabs\\033[0m here\\n'; echo x >> $HOME/count; exit 1`,
  );
  hook(world, "commit-msg", "exit 1");
  const id = await world.plan(STEPS);
  const failed = await agents.json("plan", "execute", id);
  expect(failed).toMatchObject({
    exit_code: 1,
    error: {
      code: "HOOK_FAILED",
      message: 'The hook pre-commit of "api" ended with exit code 1:\nno tabs here',
      suggestions: [`agents plan execute ${id}`, `agents plan execute ${id} --no-verify`],
    },
  });
  expect((await agents.json("plan", "status", id)).data).toMatchObject({
    phase: "execute",
    state: "errored",
    error: { message: expect.stringContaining("no tabs here") },
  });
  expect((await agents.json("plan", "diff", id)).data["files"]).toMatchObject([
    { path: "a.txt" },
    { path: "hello.txt" },
  ]);
  const again = await agents.run(["plan", "execute", id]);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("recorded write") });
  expect(again.stderr).toContain("failed   pre-commit  api");
  const skipped = await agents.json("plan", "execute", id, "--no-verify");
  expect(skipped).toMatchObject({
    exit_code: 0,
    data: {
      steps: [{ status: "recorded" }, { status: "recorded" }],
      hooks: [{ skipped: true }, { skipped: true }],
      changes: { files: 2 },
    },
  });
  expect(await agents.json("plan", "apply", id, "--yes")).toMatchObject({
    exit_code: 1,
    error: { code: "PLAN", message: expect.stringContaining("pre-commit (api), commit-msg (api)") },
  });
  const landed = await agents.json("plan", "apply", id, "--yes", "--no-verify");
  expect(landed).toMatchObject({ exit_code: 0, data: { phase: "apply", state: "applied" } });
  const { plan, message, hooks } = await recorded(world, id);
  expect(message).toBe(commitMessage(plan));
  expect(hooks).toEqual([
    { resource: "api", hook: "pre-commit", round: 0, skipped: true },
    { resource: "api", hook: "commit-msg", round: 0, skipped: true },
  ]);
  // Twice for each of the two: it had changed a file, and so was tried again on what it left.
  expect(new SandboxHome(agents.dataDir, id).read("count")).toBe("x\nx\nx\nx\n");
});

test("a formatter that fails because it rewrote something is run again on what it rewrote, once", async () => {
  using world = new ShopWorld();
  const { agents } = world;
  hook(
    world,
    "pre-commit",
    `git diff --cached | grep -q '^+hello $' && exit 0; for f in $(git diff --cached --name-only --diff-filter=A); do sed -i 's/$/ /' "$f"; done; exit 1`,
  );
  const id = await world.plan(STEPS);
  expect(await agents.json("plan", "execute", id)).toMatchObject({ exit_code: 0, data: { changes: { files: 2 } } });
  expect(String((await agents.json("plan", "diff", id)).data["patch"])).toContain("+hello \n");
});

test("the hooks are those git would run: core.hooksPath, executable files, only where something changed", async () => {
  using world = new ShopWorld();
  const { agents } = world;
  hook(world, "pre-commit", "echo default >> $HOME/log");
  hook(world, "pre-commit", "echo custom >> $HOME/log", "my hooks");
  hook(world, "commit-msg", "echo unused >> $HOME/log", "my hooks", 0o644);
  world.git("config", "core.hooksPath", "my hooks");
  const id = await world.plan(STEPS);
  const { data } = await agents.json("plan", "execute", id);
  expect(data["hooks"]).toEqual([{ resource: "api", hook: "pre-commit", skipped: false }]);
  expect(new SandboxHome(agents.dataDir, id).read("log")).toBe("custom\n");
  world.git("config", "--unset", "core.hooksPath");
  await agents.json("plan", "revert", id);
  await agents.json("plan", "execute", id);
  expect(new SandboxHome(agents.dataDir, id, { attempt: 2 }).read("log")).toBe("default\n");

  agents.write("reader.yaml", "name: reader\ntype: tool\ndescription: reads\nsteps: [{ tool: git_status }]\n");
  await agents.json("actor", "add", "--config", "reader.yaml");
  const { data: used } = await agents.json("plan", "use", "greet", "shop", "--execution-actor", "local/reader");
  const idle = String(used["plan_id"]);
  expect((await agents.json("plan", "execute", idle)).data["hooks"]).toEqual([]);
  expect(new SandboxHome(agents.dataDir, idle).has("log")).toBe(false);
});

test("neither a commit in the sandbox nor marks in its index hide changes from a hook", async () => {
  using world = new ShopWorld();
  const { agents } = world;
  hook(world, "pre-commit", "git diff --cached --name-status > $HOME/out");
  const id = await world.plan(`  - id: hide
    tool: shell_execute
    params:
      command: |
        git update-index --assume-unchanged a.txt
        echo changed > a.txt; echo new > new.txt; echo forced > forced.log
        git add new.txt && git add -f forced.log
        git -c user.name=x -c user.email=x@y -c core.hooksPath=/dev/null commit -qm hidden
        touch .git/index.lock .git/HEAD.lock
`);
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  expect(new SandboxHome(agents.dataDir, id).read("out")).toBe("M\ta.txt\nA\tnew.txt\n");
});

test("interrupted, a hook has not failed; resumed, it runs once more and the recorded ones do not", async () => {
  using world = new ShopWorld();
  const { agents } = world;
  hook(world, "pre-commit", "echo pre >> $HOME/log; echo formatted > formatted.txt");
  hook(world, "commit-msg", "echo half > half.txt; echo msg >> $HOME/log; test -e $HOME/go || sleep 60; rm half.txt");
  const id = await world.plan(STEPS);
  const home = new SandboxHome(agents.dataDir, id);
  const { code, stderr } = await world.interrupted(id, () => home.read("log").includes("msg"));
  expect([code, stderr]).toEqual([1, expect.stringContaining("was interrupted")]);
  home.write("go");
  const { data } = await agents.json("plan", "execute", id);
  expect(data).toMatchObject({ state: "complete", changes: { files: 3 } });
  expect(home.read("log")).toBe("pre\nmsg\nmsg\n");
});

test("an invalid commit message fails the hook, and a link in its place is not followed", async () => {
  using world = new ShopWorld();
  const { agents } = world;
  const secret = agents.write("secret", "secret\n");
  const id = await world.plan(STEPS);
  for (const [script, why] of [
    [': > "$1"', "left a message that is empty"],
    [`ln -sf '${secret}' "$1"`, "left a message that cannot be read"],
    ['rm "$1"', "left a message that cannot be read"],
    ["printf 'a\\001b' > \"$1\"", "left a message that contains a control character"],
    ['head -c 100000 /dev/zero | tr "\\0" x > "$1"', "left a message that is not a file of at most"],
  ] as const) {
    hook(world, "commit-msg", script);
    const { error } = await agents.json("plan", "execute", id);
    expect(error).toMatchObject({ code: "HOOK_FAILED", message: expect.stringContaining(why) });
  }
  expect(existsSync(secret)).toBe(true);
});

test("a resumed plan runs the hooks like any other, and lands with the message they left", async () => {
  using world = new ShopWorld();
  const { agents } = world;
  hook(world, "pre-commit", "test -e $HOME/ready");
  hook(world, "commit-msg", 'echo "Reviewed-by: hook" >> "$1"');
  const id = await world.plan(STEPS);
  expect((await agents.json("plan", "execute", id)).error?.code).toBe("HOOK_FAILED");
  new SandboxHome(agents.dataDir, id).write("ready");
  expect((await agents.json("plan", "resume", id)).data["hooks"]).toMatchObject([
    { skipped: false },
    { skipped: false },
  ]);
  expect((await agents.json("plan", "apply", id, "--yes")).exit_code).toBe(0);
  const trailers = world.git("log", "-1", "--format=%(trailers:only)");
  expect(trailers).toContain("Reviewed-by: hook");
  expect(trailers).toContain(`CleverAgents-Plan: ${id}`);
  expect(trailers).toMatch(/CleverAgents-Decision: /);
  expect((await agents.json("plan", "resume", id)).exit_code).toBe(4);
});
