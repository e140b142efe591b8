/** Guards and the safety profile really hold a plan's tools back: seen through the command line, with tool actors. */
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { expect, test } from "vitest";
import { World } from "./testing/world.ts";

/** A world with a profile of these lines, and a plan of these steps that was made with it. */
async function guarded(world: World, steps: string, profile: string): Promise<string> {
  world.agents.write(
    "own.yaml",
    `name: own\ndescription: Mine\nextends: trusted\nrequire_confinement: false\n${profile}`,
  );
  const { error } = await world.agents.json("automation-profile", "add", "--config", "own.yaml");
  if (error !== undefined) throw new Error(error.message);
  return world.plan(steps, "--automation-profile", "own");
}

const writes = (count: number, needs = ""): string =>
  Array.from(
    { length: count },
    (_, index) =>
      `  - { id: w${index}, tool: write_file, params: { path: w${index}.txt, content: "${index}" }${index === 0 ? "" : needs} }\n`,
  ).join("");

test("a denied tool is refused before it runs, and the refusal is on record everywhere", async () => {
  using world = new World();
  const { agents } = world;
  const steps = `${writes(1)}  - { id: shell, tool: shell-execute, params: { command: "echo x > shell.txt" } }\n`;
  const id = await guarded(world, steps, "guards: { tool_denylist: ['shell_*'] }\n");
  const refused = await agents.json("plan", "execute", id);
  expect(refused).toMatchObject({
    exit_code: 1,
    error: {
      code: "GUARD_REFUSED",
      message: expect.stringMatching(/"shell_\*" is denied.*tool_denylist of the plan's profile "local\/own"/),
      suggestions: [`agents plan guard ${id}`, expect.stringContaining("--automation-profile")],
      detail: { guard: "tool_denylist", tool: "shell_execute", step: "shell", profile: "local/own" },
    },
  });
  expect((await agents.json("plan", "diff", id)).data["files"]).toMatchObject([{ path: "w0.txt" }]);
  const { data } = await agents.json("plan", "explain", id, "shell");
  expect(data["tool_calls"]).toMatchObject([{ outcome: "failed", refused_by: "tool_denylist", changes: 0 }]);
  expect((await agents.json("plan", "guard", id)).data["used"]).toMatchObject({ tool_calls: 1, refused: 1 });
  const audit = await agents.json("audit", "list", "--plan", id);
  expect(audit.data["entries"]).toContainEqual(
    expect.objectContaining({
      type: "guard.refused",
      plan_id: id,
      details: expect.objectContaining({ step: "shell" }),
    }),
  );
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
  using database = new DatabaseSync(agents.database, { readOnly: true });
  expect(database.prepare("SELECT plan_id FROM events WHERE type = 'guard.refused'").all()).toEqual([{ plan_id: id }]);
  // No try changes that.
  expect((await agents.json("plan", "execute", id)).error?.code).toBe("GUARD_REFUSED");
});

test("only allowed tools run, and what is denied is denied although it is allowed", async () => {
  using world = new World();
  const { agents } = world;
  const steps = `${writes(1)}  - { id: list, tool: list_directory }\n`;
  const guards = `guards: { tool_allowlist: ["*_file", list_directory], tool_denylist: [list_directory] }\n`;
  const id = await guarded(world, steps, guards);
  expect((await agents.json("plan", "execute", id)).error?.detail).toMatchObject({ guard: "tool_denylist" });
  agents.write("narrow.yaml", "name: narrow\ndescription: d\nguards: { tool_allowlist: ['*_file'] }\n");
  await agents.json("automation-profile", "add", "--config", "narrow.yaml");
  const narrow = await world.another("--automation-profile", "narrow");
  const { error } = await agents.json("plan", "execute", narrow);
  expect(error).toMatchObject({ code: "GUARD_REFUSED", detail: { guard: "tool_allowlist", tool: "list_directory" } });
});

test("limits hold for steps that run side by side, after an error, and in another process", async () => {
  using world = new World();
  const { agents } = world;
  // Eleven steps in one wave behind the first one.
  const id = await guarded(world, writes(12, ", needs: [w0]"), "guards: { max_tool_calls: 5 }\n");
  for (let run = 0; run < 3; run += 1) {
    const { error } = await agents.json("plan", "execute", id);
    expect(error).toMatchObject({ code: "GUARD_REFUSED", detail: { guard: "max_tool_calls", limit: 5 } });
    const { data } = await agents.json("plan", "guard", id);
    expect(data["used"]).toMatchObject({ tool_calls: 5, by_tool: { write_file: 5 } });
    expect((await agents.json("plan", "diff", id)).data["files"]).toHaveLength(5);
  }
  expect((await agents.run(["plan", "guard", id])).stdout).toMatch(/calls:\s+5 of 5/);
  // Another attempt is not another allowance.
  await agents.json("plan", "revert", id);
  expect((await agents.json("plan", "execute", id)).error?.detail).toMatchObject({ guard: "max_tool_calls" });
});

test("a tool has a limit of its own, and a step that fails is called no more often than it may", async () => {
  using world = new World();
  const { agents } = world;
  const steps = `${writes(3)}  - { id: bad, tool: shell_execute, params: { command: "exit 3" } }\n`;
  const id = await guarded(
    world,
    steps,
    "guards: { max_calls_per_tool: { 'write_*': 2 }, max_tool_calls_per_step: 2 }\n",
  );
  const limited = await agents.json("plan", "execute", id);
  expect(limited.error?.detail).toMatchObject({ guard: "max_calls_per_tool", step: "w2", limit: 2 });
  agents.write(
    "step.yaml",
    "name: step\ndescription: d\nrequire_confinement: false\nguards: { max_tool_calls_per_step: 2 }\n",
  );
  await agents.json("automation-profile", "add", "--config", "step.yaml");
  const other = await world.another("--automation-profile", "step");
  const codes = [];
  for (let run = 0; run < 4; run += 1) codes.push((await agents.json("plan", "execute", other)).error?.code);
  expect(codes).toEqual(["TOOL_FAILED", "TOOL_FAILED", "GUARD_REFUSED", "GUARD_REFUSED"]);
});

test("a failed step is tried again as often as the profile says, counted from zero in each attempt", async () => {
  using world = new World();
  const { agents } = world;
  const id = await guarded(
    world,
    `  - { id: bad, tool: shell_execute, params: { command: "exit 3" } }\n`,
    "max_retries_per_step: 1\n",
  );
  const run = async (): Promise<unknown> => (await agents.json("plan", "execute", id)).error?.detail["guard"];
  expect([await run(), await run(), await run()]).toEqual([undefined, undefined, "max_retries_per_step"]);
  await agents.json("plan", "revert", id);
  expect(await run()).toBeUndefined();
});

test("the guards of a plan are tightened while it exists, never loosened", async () => {
  using world = new World();
  const { agents } = world;
  const id = await guarded(world, writes(4), "guards: { max_tool_calls: 3 }\n");
  const guard = (...flags: string[]) => agents.json("plan", "guard", id, ...flags);
  expect((await guard("--max-calls", "9")).error).toMatchObject({ code: "POLICY", detail: { limit: 3, wanted: 9 } });
  expect((await guard("--max-calls", "many")).exit_code).toBe(2);
  expect((await guard("--deny-tool", "shel_execute")).error?.message).toContain('did you mean "shell_execute"');
  expect((await guard("--max-calls", "1", "--max-calls-per-step", "7", "--deny-tool", "git_*")).data).toMatchObject({
    guards: { max_tool_calls: 1, max_tool_calls_per_step: 7, tool_denylist: ["git_*"] },
    profile_guards: { max_tool_calls: 3, max_tool_calls_per_step: null, tool_denylist: [] },
  });
  expect((await agents.json("plan", "execute", id)).error?.detail).toMatchObject({ guard: "max_tool_calls", limit: 1 });
  // Back to what the profile allows, but not further.
  expect((await guard("--max-calls", "3")).exit_code).toBe(0);
  expect((await agents.json("plan", "execute", id)).error?.detail).toMatchObject({ limit: 3, step: "w3" });
  await agents.json("plan", "cancel", id);
  expect((await guard("--max-calls", "1")).exit_code).toBe(4);
  expect((await guard()).data["used"]).toMatchObject({ tool_calls: 3, refused: 2 });
});

test("writing waits for an approval, step by step; of two approvals at once one has an effect", async () => {
  using world = new World();
  const { agents } = world;
  const steps = `  - { id: look, tool: list_directory }\n${writes(2)}`;
  const id = await guarded(world, steps, "guards: { require_approval_for_writes: true }\n");
  const allow = ["plan", "guard", id, "--allow-writes"];
  expect((await agents.json(...allow)).exit_code).toBe(4);
  for (const step of ["w0", "w1"]) {
    const { error } = await agents.json("plan", "execute", id);
    expect(error).toMatchObject({
      code: "APPROVAL_NEEDED",
      suggestions: [`agents plan guard ${id} --allow-writes`, expect.stringContaining("plan execute")],
      detail: { step },
    });
    expect((await agents.run(["plan", "guard", id])).stdout).toMatch(new RegExp(`waits for you:\\s+writes:${step}`));
    const both = await Promise.all([agents.processJson(...allow), agents.processJson(...allow)]);
    expect(new Set(both.map(({ exit_code }) => exit_code))).toEqual(new Set([0, 4]));
    expect(both.find(({ exit_code }) => exit_code === 0)?.data["allowed_steps"]).toEqual([step]);
  }
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
  const approvals = (await agents.json("audit", "list", "--plan", id)).data["entries"] as { type: string }[];
  expect(approvals.filter(({ type }) => type === "guard.approved")).toHaveLength(2);
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test.each(["require_human_approval: true", "guards: { require_approval_for_apply: true }"])(
  "nothing is applied that no person approved: %s",
  async (line) => {
    using world = new World();
    const { agents } = world;
    const id = await guarded(world, writes(1), `auto_apply: 0\n${line}\n`);
    const [allow, apply] = [
      ["plan", "guard", id, "--allow-apply"],
      ["plan", "apply", id, "--yes"],
    ];
    expect((await agents.json(...allow)).error?.message).toContain("no result to approve yet");
    await agents.json("plan", "execute", id);
    const refused = await agents.json(...apply);
    expect(refused.error).toMatchObject({
      code: "APPROVAL_NEEDED",
      suggestions: [expect.any(String), allow.join(" ").replace(/^/, "agents ")],
    });
    expect((await agents.json("plan", "status", id)).data).toMatchObject({ phase: "execute", state: "complete" });
    expect((await agents.json(...allow)).exit_code).toBe(0);
    expect((await agents.json(...allow)).exit_code).toBe(4);
    // The approval is for that result: a new result needs a new approval.
    const { data } = await agents.json("plan", "rollback", id);
    const [first] = data["checkpoints"] as { id: string }[];
    await agents.json("plan", "rollback", id, String(first?.id), "--yes");
    await agents.json("plan", "execute", id);
    expect((await agents.json(...apply)).error?.code).toBe("APPROVAL_NEEDED");
    await agents.json(...allow);
    expect((await agents.json(...apply)).data).toMatchObject({ state: "applied" });
    expect(readFileSync(join(world.repository, "w0.txt"), "utf8")).toBe("0");
    expect((await agents.json("audit", "verify")).exit_code).toBe(0);
  },
);

test("a profile that requires no sandbox but checkpoints does not work in place", async () => {
  using world = new World();
  const { agents } = world;
  world.resource = ["fs-directory", "api", "--path", world.repository, "--sandbox", "none"];
  await expect(guarded(world, writes(1), "require_sandbox: false\n")).rejects.toThrow("requires checkpoints");
  agents.write("free.yaml", "name: free\ndescription: d\nrequire_sandbox: false\nrequire_checkpoints: false\n");
  await agents.json("automation-profile", "add", "--config", "free.yaml");
  const id = await world.another("--automation-profile", "free");
  expect((await agents.json("plan", "execute", id)).exit_code).toBe(0);
});
