import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { openStore } from "../store/sqlite/open-store.ts";
import { PlanLifecycleService } from "../plans/plan-lifecycle-service.ts";
import type { PlanId } from "../domain/names/ids.ts";
import { Agents, type Envelope } from "./testing/agents.ts";
import { completeApply } from "../testing/complete-apply.ts";

test("every command answers with the full envelope in json, and with the same data in yaml", async () => {
  using agents = new Agents();
  const plan = await agents.withPlan();
  const calls: string[][] = [
    ["version"],
    ["info"],
    ["diagnostics"],
    ["init"],
    ["config", "list"],
    ["config", "get", "core.format"],
    ["config", "set", "core.user", "alice"],
    ["action", "list"],
    ["action", "show", "fix-bug"],
    ["resource", "list"],
    ["project", "list"],
    ["project", "show", "shop"],
    ["plan", "list"],
    ["plan", "status", plan],
    ["plan", "errors", plan],
    ["plan", "tree", plan],
    ["plan", "rollback", plan],
    ["audit", "list"],
    ["audit", "verify"],
    ["completion", "bash"],
    ["help"],
    ["help", "plan", "apply"],
    [],
  ];
  for (const call of calls) {
    const envelope = await agents.json(...call);
    const command = call
      .slice(0, ["plan", "action", "resource", "project", "config", "audit"].includes(call[0] ?? "") ? 2 : 1)
      .join(" ");
    expect(envelope).toMatchObject({ command: command || "overview", exit_code: 0 });
    expect(["ok", "warn"]).toContain(envelope.status);
    expect(Object.keys(envelope)).toEqual(["command", "status", "exit_code", "data", "messages", "timing"]);
    expect(new Date(envelope.timing.started).toISOString()).toBe(envelope.timing.started);
    for (const message of envelope.messages) expect(Object.keys(message)).toEqual(["level", "text"]);
    const { stdout } = await agents.run([...call, "--format", "yaml"]);
    const yaml = parse(stdout) as Envelope;
    expect({ ...yaml, timing: {} }).toEqual({ ...(await agents.json(...call)), timing: {}, ...volatile(yaml) });
  }
});

/** The envelope without the parts that may differ between two runs of the same command. */
function volatile(envelope: Envelope): Partial<Envelope> {
  const changing = ["overview", "plan list", "plan status", "audit list", "config set", "diagnostics", "info"];
  return changing.includes(envelope.command) ? { data: envelope.data } : {};
}

test("an action shows every field it was given", async () => {
  using agents = new Agents();
  await agents.withPlan();
  const { data } = await agents.json("action", "show", "LOCAL/Fix-Bug");
  expect(data["action"]).toMatchObject({
    name: "local/fix-bug",
    state: "available",
    description: "Fix issue {issue}",
    long_description: "The longer story",
    definition_of_done: "- the test for issue {issue} passes\n",
    actors: { strategy: "openai/gpt-4o", execution: "openai/gpt-4o" },
    arguments: [
      { name: "issue", type: "integer", required: true, min: 1, description: "The issue's number" },
      { name: "labels", type: "list", required: false, default: ["bug", "urgent"] },
    ],
    invariants: ["Keep the public API", "Keep the tests"],
  });
  const { stdout } = await agents.run(["action", "show", "fix-bug"]);
  expect(stdout).toContain("Keep the tests");
  expect(stdout).toContain("bug, urgent");
});

test("an action list counts plans and filters", async () => {
  using agents = new Agents();
  await agents.withPlan();
  await agents.json("action", "archive", "fix-bug");
  const { data } = await agents.json("action", "list", "--state", "archived", "--namespace", "local");
  expect(data).toMatchObject({
    actions: [{ name: "local/fix-bug", state: "archived", reusable: true, plans: 1 }],
    filters: { state: "archived", namespace: "local" },
    summary: { total: 1, available: 0, archived: 1, total_plans_created: 1 },
  });
  expect((await agents.json("action", "archive", "fix-bug")).exit_code).toBe(0);
  const refused = await agents.json("plan", "use", "fix-bug", "shop", "--arg", "issue=1");
  expect(refused).toMatchObject({ status: "error", exit_code: 4, error: { code: "CONFLICT" } });
});

test("an action may come from standard input", async () => {
  using agents = new Agents();
  const text = "name: piped\ndescription: d\ndefinition_of_done: done\nexecution_actor: openai/gpt-4o\n";
  const { code, stdout } = await agents.run(["action", "create", "--config", "-"], { input: text });
  expect([code, stdout]).toEqual([0, expect.stringContaining("local/piped created")]);
});

test("a plan's status tells its progress, its owner and why it stopped, and fails while it is errored", async () => {
  using agents = new Agents();
  const id = (await agents.withPlan()) as PlanId;
  await using store = await openStore(`sqlite:${agents.database}`);
  const service = new PlanLifecycleService({ store });
  await service.startStrategize(id, { holder: "a crashed one", ttlMs: 1 }).then((crashed) => crashed.stop());
  expect((await agents.json("plan", "status", id)).data).toMatchObject({ owner: null, abandoned_by: "a crashed one" });
  expect((await agents.run(["plan", "status", id])).stdout).toContain("its process (a crashed one) died");
  const lease = await service.startStrategize(id, { holder: "a test" });
  const running = await agents.json("plan", "status", id);
  expect(running.data).toMatchObject({
    state: "processing",
    owner: { holder: "a test", epoch: 2 },
    abandoned_by: null,
    progress: [
      { step: "strategize", status: "running" },
      { step: "execute", status: "pending" },
      { step: "apply", status: "pending" },
    ],
    inputs: { issue: 42, labels: ["bug", "urgent"] },
  });
  expect((await agents.run(["plan", "status", id])).stdout).toContain("a test");
  await service.failStrategize(lease, { message: "the model said no", category: "transient" });
  const errored = await agents.json("plan", "status", id);
  expect(errored).toMatchObject({
    status: "error",
    exit_code: 1,
    data: { error: { message: "the model said no" }, owner: null },
  });
  const errors = await agents.json("plan", "errors", id);
  expect(errors.data).toMatchObject({
    recoverable: true,
    errors: [{ phase: "strategize", attempt: 1, kind: "errored", category: "transient", message: "the model said no" }],
    recovery_hints: [{ action: "resume" }, { action: "revert" }, { action: "cancel" }],
  });
  // Status and error offer the same next steps.
  const offered = errored.data["next_steps"] as string[];
  expect(offered).toEqual([`agents plan errors ${id}`, ...(errors.data["next_steps"] as string[])]);
  for (let attempt = 2; attempt <= 4; attempt += 1) {
    const { data } = await agents.json("plan", "revert", id, "--reason", "again");
    expect(data).toMatchObject({ phase: "strategize", state: "queued", attempt, reversions: attempt - 1 });
    await service.failStrategize(await service.startStrategize(id), { message: `attempt ${attempt}` });
  }
  const exhausted = await agents.json("plan", "revert", id);
  expect(exhausted).toMatchObject({ exit_code: 4, error: { message: expect.stringContaining("3 times already") } });
  expect((await agents.json("plan", "errors", id)).data["recovery_hints"]).toMatchObject([
    { action: "resume" },
    { action: "cancel" },
  ]);
  expect((await agents.run(["plan", "errors", id])).stdout).toContain("attempt 4");
  expect((await agents.run(["plan", "status", id])).stdout).toContain("sent back 3 times");
  expect((await agents.json()).data).toMatchObject({
    plans: { stopped: 1 },
    next_steps: expect.arrayContaining(["agents plan list --state errored"]),
  });
});

test("a whole lifecycle shows in status and list", async () => {
  using agents = new Agents();
  const id = (await agents.withPlan()) as PlanId;
  await using store = await openStore(`sqlite:${agents.database}`);
  const service = new PlanLifecycleService({ store });
  await service.completeStrategize(await service.startStrategize(id));
  await service.executePlan(id);
  await service.completeExecute(await service.startExecute(id));
  await service.applyPlan(id);
  await service.constrainApply(id, { message: "2 validations failed" });
  expect((await agents.json("plan", "status", id)).data).toMatchObject({
    state: "constrained",
    error: { recoverable: true },
  });
  await service.revertPlan(id);
  await service.completeStrategize(await service.startStrategize(id));
  await service.executePlan(id);
  await service.completeExecute(await service.startExecute(id));
  await service.applyPlan(id);
  await completeApply(await service.startApply(id));
  const { data } = await agents.json("plan", "status", id);
  expect(data).toMatchObject({
    phase: "apply",
    state: "applied",
    attempt: 2,
    next_steps: [`agents plan undo ${id}`, `agents audit list --plan ${id}`],
  });
  expect(data["progress"]).toMatchObject([{ status: "done" }, { status: "done" }, { status: "done" }]);
  expect((await agents.json("plan", "list")).data["summary"]).toMatchObject({ total: 1, completed: 1 });
  expect((await agents.json("audit", "list", "--plan", id.slice(0, 12), "-n", "3")).data["entries"]).toHaveLength(3);
});

test("plan list filters, limits, matches and says what is left out", async () => {
  using agents = new Agents();
  await agents.withPlan();
  await using store = await openStore(`sqlite:${agents.database}`);
  const service = new PlanLifecycleService({ store });
  for (let issue = 1; issue <= 600; issue += 1) {
    await service.useAction({ action: "fix-bug", projects: ["shop"], arguments: { issue } });
  }
  const { data } = await agents.json(
    "plan",
    "list",
    "--limit",
    "2",
    "--phase",
    "strategize",
    "--state",
    "queued",
    "--project",
    "shop",
    "--action",
    "fix-bug",
  );
  expect(data).toMatchObject({
    filters: { phase: "strategize", state: "queued", project: "shop", action: "fix-bug", regex: null },
    summary: { total: 601, shown: 2, queued: 601 },
  });
  const oldest = (await service.listPlans({ limit: 1000 })).plans.at(-1);
  const found = await agents.json("plan", "list", `^${oldest?.id}`);
  expect(found.data["plans"]).toMatchObject([{ plan_id: oldest?.id }]);
  expect((await agents.json("plan", "list", "no such thing")).data["plans"]).toEqual([]);
  expect((await agents.run(["plan", "list", "no such thing"])).stdout).toContain("No plan fits.");
  expect((await agents.json("plan", "list", "(")).exit_code).toBe(2);
  expect((await agents.json("plan", "list", "--limit", "0")).exit_code).toBe(2);
  expect((await agents.json("plan", "list", "--project", "a b")).exit_code).toBe(2);
  const ambiguous = await agents.json("plan", "status", "0");
  expect(ambiguous).toMatchObject({
    exit_code: 2,
    error: { code: "USAGE", detail: { candidates: expect.any(Array) } },
  });
});

test("plan use takes profile, actors and repeated arguments, and refuses what does not fit", async () => {
  using agents = new Agents();
  await agents.withPlan();
  const use = ["plan", "use", "fix-bug", "shop", "--arg", "issue=1"];
  const full = await agents.json(
    ...use,
    "--automation-profile",
    "ci",
    "--execution-actor",
    "anthropic/claude-sonnet-4-5",
    "-a",
    "labels=a",
    "-a",
    "labels=b",
  );
  expect(full.data).toMatchObject({
    inputs: { issue: 1, labels: ["a", "b"] },
    automation: { profile: "ci", source: "plan" },
    actors: { execution: "anthropic/claude-sonnet-4-5", strategy: "openai/gpt-4o" },
  });
  expect((await agents.json(...use, "--automation-profile", "cii")).error?.message).toContain("no automation profile");
  expect((await agents.json(...use, "--arg", "nothing")).exit_code).toBe(2);
  expect((await agents.json("plan", "use", "fix-bg", "shop")).error).toMatchObject({
    code: "NOT_FOUND",
    suggestions: ["agents action show local/fix-bug"],
  });
  expect((await agents.json("plan", "use", "fix-bug", "shop", "shop", "--arg", "issue=1")).exit_code).toBe(2);
  const cancelled = await agents.json("plan", "cancel", String(full.data["plan_id"]), "-r", "why not");
  expect(cancelled.data).toMatchObject({
    state: "cancelled",
    reason: "why not",
    recovery: [
      `agents plan use local/fix-bug local/shop --arg issue=1 --arg 'labels=["a","b"]' --automation-profile ci --execution-actor anthropic/claude-sonnet-4-5`,
    ],
  });
});

test("the profile comes from flag, action, project, configuration or default, in that order", async () => {
  using agents = new Agents();
  await agents.withPlan();
  await agents.json("project", "create", "other");
  const profileOf = async (...extra: string[]): Promise<unknown> =>
    (await agents.json("plan", "use", "fix-bug", "shop", "--arg", "issue=1", ...extra)).data["automation"];
  expect(await profileOf()).toMatchObject({ profile: "supervised", source: "default" });
  await agents.json("config", "set", "core.automation-profile", "trusted");
  expect(await profileOf()).toMatchObject({ profile: "trusted", source: "global" });
  await agents.json("config", "set", "core.automation-profile", "manual", "--project", "shop");
  expect(await profileOf()).toMatchObject({ profile: "manual", source: "project" });
  expect(await profileOf("--automation-profile", "auto")).toMatchObject({ profile: "auto", source: "plan" });
  await agents.json("config", "set", "core.automation-profile", "ci", "--project", "other");
  const torn = await agents.json("plan", "use", "fix-bug", "shop", "other", "--arg", "issue=1");
  expect(torn.error?.message).toContain("different automation profiles");
  const { data } = await agents.json("-v", "config", "get", "core.automation-profile", "--project", "shop");
  expect(data).toMatchObject({ value: "manual", level: "project", chain: [{ level: "project" }, { level: "global" }] });
  expect((await agents.json("config", "set", "core.format", "json", "--project", "shop")).exit_code).toBe(2);
  expect((await agents.json("config", "get", "core.formt")).error?.suggestions).toEqual([
    "agents config get core.format",
  ]);
  expect((await agents.json("config", "set", "core.automation-profile", "x")).exit_code).toBe(2);
  const entries = (await agents.json("audit", "list", "-n", "200")).data["entries"] as {
    type: string;
    details: unknown;
  }[];
  expect(entries.filter(({ type }) => type === "config.changed")).toHaveLength(3);
});

test("init creates what is missing and never wipes", async () => {
  using agents = new Agents();
  expect((await agents.json()).data).toMatchObject({ initialised: false });
  expect((await agents.run([])).stdout).toContain("agents init");
  const first = await agents.json("init");
  expect(first.data).toMatchObject({ created: ["data_dir", "config", "database"], existing: [] });
  expect(statSync(agents.dataDir).mode & 0o777).toBe(0o700);
  expect(statSync(agents.database).mode & 0o777).toBe(0o600);
  await agents.withPlan();
  const config = join(agents.dataDir, "config.yaml");
  writeFileSync(config, "# mine\ncore.user: bob\n");
  const second = await agents.json("init");
  expect(second.data).toMatchObject({ created: [], existing: ["data_dir", "config", "database"] });
  expect(readFileSync(config, "utf8")).toBe("# mine\ncore.user: bob\n");
  expect((await agents.json("plan", "list")).data["plans"]).toHaveLength(1);
  expect((await agents.json("info")).data).toMatchObject({
    user: "bob",
    counts: { actions: 1, projects: 1, plans: 1 },
  });
});

test("info and diagnostics create nothing", async () => {
  using agents = new Agents();
  expect((await agents.json("info")).data).toMatchObject({ counts: null, database: { exists: false } });
  expect((await agents.json("diagnostics")).status).toBe("warn");
  expect(existsSync(agents.dataDir)).toBe(false);
});

test("project delete asks, and without a terminal wants --yes", async () => {
  using agents = new Agents();
  await agents.json("project", "create", "shop", "-d", "The web shop");
  expect((await agents.run(["project", "list"])).stdout).toContain("The web shop");
  expect((await agents.run(["project", "show", "shop"])).stdout).toContain("The web shop");
  const asked = await agents.json("project", "delete", "shop");
  expect(asked).toMatchObject({ exit_code: 2, error: { suggestions: ["repeat the command with --yes"] } });
  expect((await agents.json("project", "delete", "shop", "--yes")).data).toMatchObject({ deleted: true });
  expect((await agents.json("project", "show", "shop")).exit_code).toBe(3);
  expect((await agents.json("project", "create", "shop")).exit_code).toBe(0);
  expect((await agents.json("project", "create", "Shop")).error).toMatchObject({ code: "ALREADY_EXISTS" });
});

test("audit verify says what it checked and what it did not, and how far an earlier head reaches", async () => {
  using agents = new Agents();
  const id = await agents.withPlan();
  const first = await agents.json("audit", "verify");
  expect(first.data).toMatchObject({ verified: true, entries_since_expected: null, not_checked: expect.any(Array) });
  const head = String(first.data["head"]);
  const same = await agents.json("audit", "verify", "--expect", head);
  expect(same.data).toMatchObject({ entries_since_expected: 0 });
  await agents.json("plan", "cancel", id);
  const { stdout } = await agents.run(["audit", "verify", "--expect", head]);
  expect(stdout).toContain("the state of every plan agrees with them");
  expect(stdout).toContain("It says nothing about the 1 entry since.");
  expect(stdout).toContain("Not checked, because it is kept beside the log: what plans decided, the tools they called");
});
