/**
 * Where nothing can confine commands, they are refused before anything runs, and every command that runs plans names
 * the confinement that holds.
 */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PROFILE_NAMES } from "../domain/profile/automation-profile.ts";
import { Agents } from "./testing/agents.ts";
import { withoutConfinement } from "./testing/confinement.ts";
import { ACTION, stepTurn, strategyTurn, ThinkingWorld } from "./testing/thinking-world.ts";
import { World } from "./testing/world.ts";

const WRITES = "  - { id: write, tool: write_file, params: { path: hello.txt, content: hello } }\n";
const RUNS = "  - { id: shout, tool: shell_execute, params: { command: echo loud > loud.txt } }\n";

/** Nothing confines, and the plans have the profiles that users have. */
function strict(world: World): void {
  withoutConfinement(world.agents);
  world.anywhere = false;
}

function unconfinedWorld(): World {
  const world = new World();
  strict(world);
  return world;
}

function hook(world: World): void {
  const file = join(world.repository, ".git/hooks/pre-commit");
  writeFileSync(file, "#!/bin/sh\necho ran >> ran-by-hook.txt\n");
  chmodSync(file, 0o755);
}

async function validation(world: World): Promise<string> {
  world.agents.write("v.yaml", "name: v\ndescription: v\ncommand: 'true'\n");
  await world.agents.json("validation", "add", "--config", "v.yaml");
  const { data } = await world.agents.json("validation", "attach", "api", "v");
  return JSON.stringify(data);
}

test("a plan with a command is refused before any of its steps runs, in every profile but full-auto, and can be executed later", async () => {
  using world = unconfinedWorld();
  const { agents } = world;
  await world.plan(`${WRITES}${RUNS}`);
  for (const profile of PROFILE_NAMES.filter((name) => name !== "full-auto")) {
    const id = await world.another("--automation-profile", profile);
    const refused = await agents.json("plan", "execute", id);
    expect(refused, profile).toMatchObject({
      exit_code: 1,
      error: {
        code: "CONFINEMENT_MISSING",
        message: expect.stringMatching(
          /the step "shout".*is refused: nothing here can confine commands.*requires that/,
        ),
        kept: "Nothing was run, and the plan stays as it is.",
        detail: { confinement: "none" },
      },
    });
    expect(refused.error?.suggestions.at(-1)).toBe(
      "agents plan use local/greet local/shop --automation-profile full-auto",
    );
    expect((await agents.json("plan", "status", id)).data).toMatchObject({ phase: "strategize", state: "queued" });
    expect(existsSync(join(agents.dataDir, "sandboxes", id))).toBe(false);
  }
  const id = await world.another();
  const { code, stderr } = await agents.run(["plan", "execute", id]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^warning: Commands cannot be confined here \(.*\): plans refuse to run them\./m);
  // Once something can confine, the same plan continues. On a machine without any confinement, this shows that the
  // confinement is looked for each time.
  agents.inThisProcess();
  const later = await agents.json("plan", "execute", id);
  const here = await agents.json("plan", "status", id);
  expect(later.exit_code).toBe(later.error?.code === "CONFINEMENT_MISSING" ? 1 : 0);
  expect(here.exit_code).toBe(0);
});

test("full-auto runs commands unconfined and warns each time; its result is not said to be in the sandbox", async () => {
  using world = unconfinedWorld();
  const { agents } = world;
  await world.plan(RUNS);
  const profile = ["--automation-profile", "full-auto"];
  const { code, stdout, stderr } = await agents.run(["plan", "execute", await world.another(...profile)]);
  expect(code).toBe(0);
  expect(stderr.match(/^warning: COMMANDS RUN UNCONFINED: .*full-auto does not require it/gm)).toHaveLength(1);
  expect(stdout).toContain("1 file changed (+1 −0) in the plan's copy; its commands were not confined to it.");
  expect(stdout).not.toContain("in the sandbox");
  const id = await world.another(...profile);
  expect((await agents.run(["plan", "status", id])).stdout).toContain("NOT CONFINED");
  const told = await agents.json("plan", "execute", id);
  expect(told.messages).toContainEqual({ level: "warning", text: expect.stringContaining("COMMANDS RUN UNCONFINED") });
  expect(told.data).toMatchObject({ confinement: { kind: "none", required: false } });
});

test("a custom profile may do without confinement; a profile that does not say so requires it", async () => {
  using world = unconfinedWorld();
  const { agents } = world;
  await world.plan(RUNS);
  agents.write("own.yaml", "name: own\ndescription: d\nextends: trusted\nsafety: { require_confinement: false }\n");
  agents.write("strict.yaml", "name: strict\ndescription: d\nextends: trusted\n");
  for (const file of ["own.yaml", "strict.yaml"]) await agents.json("automation-profile", "add", "--config", file);
  const shown = await agents.json("automation-profile", "show", "own");
  expect(shown.data).toMatchObject({ profile: { safety: { require_confinement: false } } });
  const run = async (profile: string): Promise<number> =>
    (await agents.json("plan", "execute", await world.another("--automation-profile", profile))).exit_code;
  expect([await run("own"), await run("strict")]).toEqual([0, 1]);
});

test("hooks and validations are refused as well; a plan that needs nothing else is told how to go on without its hooks", async () => {
  using world = unconfinedWorld();
  const { agents } = world;
  const id = await world.plan(WRITES);
  hook(world);
  const refused = await agents.json("plan", "execute", id);
  expect(refused.error).toMatchObject({
    code: "CONFINEMENT_MISSING",
    message: expect.stringContaining('(the hook pre-commit of "api") is refused'),
    suggestions: expect.arrayContaining([`agents plan execute ${id} --no-verify`]),
  });
  expect((await agents.json("plan", "execute", id, "--no-verify")).exit_code).toBe(0);
  await validation(world);
  const other = await world.another();
  const validated = await agents.json("plan", "execute", other, "--no-verify");
  expect(validated.error).toMatchObject({
    code: "CONFINEMENT_MISSING",
    message: expect.stringContaining("(the validation local/v) is refused"),
    suggestions: expect.arrayContaining([expect.stringContaining("agents validation detach ")]),
  });
  const both = await agents.json("plan", "execute", other);
  expect(both.error?.message).toContain('(the validation local/v, the hook pre-commit of "api")');
  expect(both.error?.suggestions).not.toContain(`agents plan execute ${other} --no-verify`);
  // A plan that runs nothing needs nothing.
  expect(existsSync(join(world.repository, "ran-by-hook.txt"))).toBe(false);
});

test("a model that calls a command is told, and goes on with its other tools", async () => {
  using world = new ThinkingWorld();
  const { agents } = world;
  strict(world);
  world.script(
    strategyTurn([{ id: "one", description: "Do it" }]),
    stepTurn("one", {
      tool_calls: [{ tool: "shell_execute", parameters: { command: "echo 1 > by-command.txt" } }],
    }),
    stepTurn("one", {
      match: { tool: "shell_execute" },
      tool_calls: [{ tool: "write_file", parameters: { path: "by-tool.txt", content: "1\n" } }],
    }),
    stepTurn("one", { match: { tool: "write_file" }, text: "done" }),
  );
  const id = await world.thinking(ACTION);
  const { exit_code } = await agents.json("plan", "execute", id);
  expect(exit_code).toBe(0);
  const { data } = await agents.json("plan", "diff", id);
  expect(JSON.stringify(data)).toContain("by-tool.txt");
  expect(JSON.stringify(data)).not.toContain("by-command.txt");
  const explained = (await agents.run(["plan", "explain", id, "one"])).stdout;
  expect(explained).toContain("nothing here can confine commands");
});

test("what is validated again at apply is refused too, and the plan can be applied later", async () => {
  using world = new World();
  const { agents } = world;
  world.anywhere = false;
  const id = await world.plan(WRITES);
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  agents.write("v.yaml", "name: v\ndescription: v\ncommand: 'true'\nmode: informational\n");
  await agents.json("validation", "add", "--config", "v.yaml");
  await agents.json("validation", "attach", "api", "v");
  writeFileSync(join(world.repository, "moved.txt"), "moved\n");
  world.commit();
  withoutConfinement(agents);
  const refused = await agents.json("plan", "apply", id, "--yes");
  expect(refused.error).toMatchObject({
    code: "CONFINEMENT_MISSING",
    message: expect.stringContaining("The validation local/v is refused"),
  });
  expect(existsSync(join(world.repository, "hello.txt"))).toBe(false);
  const free = await world.another("--automation-profile", "full-auto");
  expect((await agents.json("plan", "execute", free)).exit_code).toBe(0);
  writeFileSync(join(world.repository, "moved.txt"), "moved again\n");
  world.commit();
  const landed = await agents.run(["plan", "apply", free, "--yes"]);
  expect(landed.stderr).toContain("warning: COMMANDS RUN UNCONFINED");
  expect(readFileSync(join(world.repository, "hello.txt"), "utf8")).toBe("hello");
});

test("init, diagnostics and the status of a plan say that commands cannot be confined", async () => {
  using world = unconfinedWorld();
  const { agents } = world;
  const first = await agents.run(["init"]);
  expect(first.stdout).toMatch(/Commands cannot be confined here \(.*\): plans refuse to run them\./);
  expect((await agents.json("init")).data).toMatchObject({ confinement: { kind: "none", required: true } });
  const id = await world.plan(WRITES);
  expect((await agents.run(["plan", "status", id])).stdout).toMatch(/commands:? +refused: /);
  expect((await agents.json("plan", "status", id)).data).toMatchObject({ confined: false });
  const { data } = await agents.json("diagnostics");
  const checks = data["checks"] as { name: string; status: string; message: string }[];
  expect(checks.find(({ name }) => name === "confinement")).toMatchObject({
    status: "warning",
    message: expect.stringContaining("plans refuse to run commands"),
  });
  // The plan only writes files, which stay in the sandbox with any confinement.
  const { stdout } = await agents.run(["plan", "execute", id]);
  expect(stdout).toContain("in the sandbox.");
});

test("where commands can be confined, the line says by what", async () => {
  using agents = new Agents();
  const { stdout } = await agents.run(["init"]);
  const { data } = await agents.json("init");
  const { kind } = data["confinement"] as { kind: string };
  if (kind === "none") expect(stdout).toContain("Commands cannot be confined here");
  else expect(stdout).toMatch(/Commands are confined by .*: they write only to the sandbox, without network\./);
});
