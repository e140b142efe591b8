import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { git, makeRepository } from "../testing/git-repository.ts";
import { Agents, type Envelope, type Started } from "./testing/agents.ts";
import { stepTurn, strategyTurn } from "./testing/thinking-world.ts";

/** `agents run` with a model, from the request to what the profile wants asked on the way. */
const STEP = { id: "note", description: "Write the note", risk: 0.2, confidence: 0.9, rationale: "It was asked for" };
const WRITE = { tool: "write_file", parameters: { path: "note.txt", content: "done\n" } };

class RunWorld extends Agents {
  readonly repository: string = makeRepository(join(this.directory, "shop"));

  async answering(...turns: string[]): Promise<void> {
    const file = this.write("model.yaml", `turns:\n${turns.join("")}`);
    await this.json("config", "set", "provider.scripted.transcript", file);
    await this.json("config", "set", "provider.scripted.prices", "*=3/15");
  }

  async asked(...words: string[]): Promise<Envelope> {
    const { stdout } = await this.run(["run", ...words, "--format", "json"], { cwd: this.repository });
    return JSON.parse(stdout) as Envelope;
  }
}

const HEARD = '/^The user says: How is the step "note" done\\? in the README, please$/';

const WORKING = [
  strategyTurn([STEP], { usage: { input_tokens: 1_000, output_tokens: 100 } }),
  stepTurn("note", { tool_calls: [WRITE], usage: { input_tokens: 2_000, output_tokens: 100 } }),
  stepTurn("note", { match: { tool: "write_file" }, text: "It is written." }),
];

test("with the default profile and no terminal, run stops at the strategy; execute continues from there", async () => {
  using world = new RunWorld();
  await world.answering(...WORKING);
  const { code, stdout } = await world.run(["run", "write a note"], { cwd: world.repository });
  expect(code).toBe(0);
  expect(stdout).toContain("Strategy: 1 step\n  note: Write the note\n");
  expect(stdout).toContain("    medium complexity, risk 0.2, confidence 0.9\n      because: It was asked for\n");
  const [, id = ""] = /next: agents plan execute (\w+)/.exec(stdout) ?? [];
  expect(stdout).not.toContain("success so far");
  const verbose = await world.run(["run", "write another note", "-v"], { cwd: world.repository });
  expect(verbose.stdout).toMatch(/OK: Confidence 0\.\d+: 0\.50 \+ success so far/);
  expect((await world.json("plan", "status", id)).data).toMatchObject({
    phase: "strategize",
    state: "complete",
    cost: { calls: 1, spent_usd: 0.0045 },
  });
  expect((await world.json("plan", "execute", id)).data).toMatchObject({
    state: "complete",
    changes: { files: 1 },
    cost: { calls: 3, spent_usd: 0.012 },
  });
});

const ANOTHER = { id: "readme", description: "Say it in the README", risk: 0.2, confidence: 0.9 };

test("guidance before the first step makes a new strategy; the first is superseded, and paid for", async () => {
  using world = new RunWorld();
  const about = "/^The user says: .*different from this strategy: note \\(Write the note\\)\\? no note, in the README/";
  await world.answering(
    strategyTurn([ANOTHER], {
      match: { user: about },
      usage: { input_tokens: 1_000, output_tokens: 100 },
    }),
    ...WORKING,
    stepTurn("readme", { tool_calls: [{ tool: "write_file", parameters: { path: "README", content: "note\n" } }] }),
    stepTurn("readme", { match: { tool: "write_file" }, text: "It is written." }),
  );
  const { data } = await world.asked("write a note");
  const id = String(data["plan_id"]);
  const { data: prompted } = await world.json("plan", "prompt", id, "no note, in the README");
  expect(prompted).toMatchObject({ revises_strategy: true, next_steps: [`agents plan execute ${id}`] });
  const { stdout } = await world.run(["plan", "execute", id]);
  expect(stdout).toContain("Strategy: 1 step\n  readme: Say it in the README\n");
  expect((await world.json("plan", "status", id)).data).toMatchObject({
    phase: "strategize",
    state: "complete",
    attempt: 1,
    cost: { calls: 2, spent_usd: 0.009 },
  });
  expect((await world.json("plan", "execute", id)).data).toMatchObject({
    state: "complete",
    steps: [{ id: "readme" }],
  });
  expect((await world.json("plan", "diff", id)).data).toMatchObject({ files: [{ path: "README" }] });
  using database = new DatabaseSync(world.database, { timeout: 5_000 });
  const superseded = database
    .prepare("SELECT step_id, superseded_by FROM decisions WHERE superseded_at IS NOT NULL ORDER BY sequence")
    .all();
  const by = prompted["decision_id"];
  expect(superseded).toEqual([
    { step_id: null, superseded_by: by },
    { step_id: "note", superseded_by: by },
  ]);
  expect((await world.json("audit", "verify")).exit_code).toBe(0);
});

test("a strategy that was not shown yet is shown first, also if the process that made it died in between", async () => {
  using world = new RunWorld();
  await world.answering(...WORKING);
  const { data } = await world.asked("write a note");
  const id = String(data["plan_id"]);
  {
    using database = new DatabaseSync(world.database, { timeout: 5_000 });
    database.exec("DELETE FROM events WHERE type = 'plan.assessed'");
  }
  expect((await world.json("plan", "execute", id)).data).toMatchObject({ phase: "strategize", ran: false });
  expect((await world.json("plan", "execute", id)).data).toMatchObject({ phase: "execute", state: "complete" });
});

test("--yes goes all the way; what the model did is in the repository under its plan", async () => {
  using world = new RunWorld();
  await world.answering(...WORKING);
  const { data, exit_code } = await world.asked("write a note", "--yes", "--budget", "1");
  expect({ exit_code, state: data["state"] }).toEqual({ exit_code: 0, state: "applied" });
  expect(readFileSync(join(world.repository, "note.txt"), "utf8")).toBe("done\n");
  expect(git(world.repository, "log", "-1", "--format=%B")).toContain(`CleverAgents-Plan: ${String(data["plan_id"])}`);
});

test("a profile that applies by itself needs no yes", async () => {
  using world = new RunWorld();
  await world.answering(...WORKING);
  expect((await world.asked("write a note", "--automation-profile", "ci")).data).toMatchObject({ state: "applied" });
});

test("a budget that one call might pass stops it before the call; raised, the plan goes on", async () => {
  using world = new RunWorld();
  await world.answering(...WORKING);
  const words = ["write a note", "--automation-profile", "trusted", "--budget", "0.01"];
  const { error } = await world.asked(...words);
  expect(error).toMatchObject({ code: "BUDGET_EXCEEDED" });
  const [, id = ""] = /agents plan budget (\w+)/.exec(error?.suggestions.join("\n") ?? "") ?? [];
  expect((await world.json("plan", "status", id)).data).toMatchObject({
    cost: { calls: 0, spent_usd: 0, cap_usd: 0.01 },
  });
  await world.json("plan", "budget", id, "1");
  expect((await world.json("plan", "execute", id)).data).toMatchObject({ state: "complete", changes: { files: 1 } });
});

test("where there are other ways and the profile asks, it waits for an answer, and the model hears it", async () => {
  using world = new RunWorld();
  const alternatives = ["Write it into the README"];
  const other = { tool: "write_file", parameters: { path: "README", content: "note\n" } };
  await world.answering(
    strategyTurn([{ ...STEP, alternatives }]),
    // Decisions are part of the context too; the answer must stand where it counts more than they do.
    strategyTurn([{ ...ANOTHER, id: "note", alternatives }], { match: { user: HEARD } }),
    stepTurn("note", { match: { user: "Say it in the README" }, tool_calls: [other] }),
    stepTurn("note", { match: { tool: "write_file" }, text: "It is written." }),
  );
  const { error } = await world.asked("write a note", "--automation-profile", "manual");
  expect(error).toMatchObject({
    code: "AWAITING_INPUT",
    detail: { question: 'How is the step "note" done?', alternatives: ["Write the note", ...alternatives] },
  });
  const id = String(error?.detail["plan_id"]);
  await world.json("plan", "prompt", id, "in the README, please");
  expect((await world.json("plan", "execute", id)).data).toMatchObject({ phase: "strategize", state: "complete" });
  await world.json("plan", "execute", id);
  expect((await world.json("plan", "diff", id)).data).toMatchObject({ files: [{ path: "README" }] });
});

const GUARDED = `name: local/guarded
extends: trusted
description: Held back
guards:
  tool_denylist: [delete_file]
  max_tool_calls_per_step: 2
budget: { max_cost_usd: 0.5 }
`;

test("what the profile denies is refused, the model is told and goes on; its limits stop it", async () => {
  using world = new RunWorld();
  world.write("guarded.yaml", GUARDED);
  expect((await world.json("automation-profile", "add", "--config", "guarded.yaml")).exit_code).toBe(0);
  const remove = { tool: "delete_file", parameters: { path: "README" } };
  await world.answering(
    WORKING[0] ?? "",
    stepTurn("note", { tool_calls: [remove] }),
    stepTurn("note", { match: { tool: "delete_file", result: "tool_denylist" }, tool_calls: [WRITE] }),
    stepTurn("note", { match: { tool: "write_file" }, text: "It is written." }),
  );
  const profile = ["--automation-profile", "local/guarded"];
  const { data } = await world.asked("write a note", ...profile);
  expect(data).toMatchObject({ state: "complete", changes: { files: 1 }, cost: { cap_usd: 0.5 } });
  const id = String(data["plan_id"]);
  expect((await world.json("plan", "guard", id)).data).toMatchObject({ plan_id: id });
  expect((await world.json("plan", "budget", id, "0.6")).error?.message).toContain("at most $0.5");
  const { data: audit } = await world.json("audit", "list");
  expect(JSON.stringify(audit)).toContain("guard.refused");
  // Three calls of one step, however many questions they were spread over.
  await world.answering(
    WORKING[0] ?? "",
    stepTurn("note", { tool_calls: [WRITE] }),
    stepTurn("note", {
      match: { tool: "write_file" },
      tool_calls: [{ ...WRITE, tool: "read_file", parameters: { path: "README" } }],
    }),
    stepTurn("note", { match: { tool: "read_file" }, tool_calls: [{ tool: "find_files", parameters: { glob: "*" } }] }),
  );
  const { error } = await world.asked("write a note again", ...profile);
  expect(error).toMatchObject({ code: "GUARD_REFUSED", detail: { guard: "max_tool_calls_per_step", step: "note" } });
});

/** A run whose model thinks for a minute about its step. */
async function thinking(world: RunWorld): Promise<Started & { readonly id: string }> {
  await world.answering(WORKING[0] ?? "", stepTurn("note", { delay_ms: 60_000, tool_calls: [WRITE] }));
  const words = ["run", "write a note", "--automation-profile", "trusted"];
  const started = world.start(words, { cwd: world.repository });
  let stderr = "";
  started.child.stderr.on("data", (text: string) => (stderr += text));
  while (!stderr.includes("started  note")) await once(started.child.stderr, "data");
  const [, id = ""] = /^plan (\w+) of/.exec(stderr) ?? [];
  return { ...started, id };
}

test("Ctrl-C stops it cleanly and says how to go on; what was asked before is not asked again", async () => {
  using world = new RunWorld();
  const { child, finished, id } = await thinking(world);
  child.kill("SIGINT");
  const { code, stderr } = await finished;
  expect(code).toBe(1);
  expect(stderr).toContain("stopping; press Ctrl-C again to kill\n");
  expect(stderr).toContain(`next:  agents plan execute ${id}\n`);
  await world.answering(strategyTurn([]), ...WORKING.slice(1));
  expect((await world.json("plan", "execute", id)).data).toMatchObject({ state: "complete", changes: { files: 1 } });
});

test("a second Ctrl-C ends it at once in any wait, and nothing is lost", async () => {
  using world = new RunWorld();
  const { child, finished, id } = await thinking(world);
  // A clean stop is written to the store, which is impossible while another process is writing.
  const other = new DatabaseSync(world.database, { timeout: 10_000 });
  other.exec("BEGIN IMMEDIATE");
  let said = "";
  child.stderr.on("data", (text: string) => (said += text));
  child.kill("SIGINT");
  while (!said.includes("press Ctrl-C again to kill")) await once(child.stderr, "data");
  child.kill("SIGINT");
  expect((await finished).code).toBe(130);
  // The test does not wait for a lease to lapse.
  other.exec("ROLLBACK; UPDATE leases SET expires_at = 0");
  other.close();
  await world.answering(strategyTurn([]), ...WORKING.slice(1));
  const again = await world.json("plan", "execute", id);
  expect(again.error).toBeUndefined();
  expect(again.data).toMatchObject({ state: "complete", changes: { files: 1 } });
});

test("without a model it says how to get one, and with several that one is to be chosen", async () => {
  using world = new RunWorld();
  const none = await world.asked("write a note");
  expect(none.error).toMatchObject({
    message: "No model is configured.",
    kept: "Nothing was written and nothing was sent.",
    suggestions: [
      expect.stringContaining("ANTHROPIC_API_KEY"),
      expect.stringContaining("provider.ollama"),
      expect.stringContaining("provider.scripted"),
    ],
  });
  await world.answering(...WORKING);
  world.environment["ANTHROPIC_API_KEY"] = "sk-ant-no-key-at-all";
  const several = await world.asked("write a note");
  expect(several.error?.message).toMatch(/^Several models are configured \(anthropic\/[\w.-]+, scripted\/transcript\)/);
  await world.json("actor", "set-default", "execution", "scripted/transcript");
  expect((await world.asked("write a note", "--yes")).data).toMatchObject({ state: "applied" });
});
