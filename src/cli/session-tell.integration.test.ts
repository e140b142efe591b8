import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { strictServer } from "../actors/testing/strict-server.ts";
import { git, makeRepository } from "../testing/git-repository.ts";
import type { Envelope } from "./testing/agents.ts";
import { SessionWorld, writing } from "./testing/session-world.ts";
import { stepTurn, strategyTurn, turn } from "./testing/thinking-world.ts";
import { calls, TurnList, WireWorld } from "./testing/wire-world.ts";

/** `agents tell`: to plans in every state, by several processes, in forks. */

const STEP = { id: "note", description: "Write it", risk: 0.1, confidence: 0.9 };

test.each(["anthropic/claude-sonnet-4-5", "openai/gpt-5", "google/gemini-2.5-pro", "vllm/qwen3"])(
  "%s: the conversation of a session continues with the same bytes, and its model is told what became of it",
  async (actor) => {
    const worked = (path: string) => [
      calls("record_strategy", { steps: [STEP] }),
      calls("write_file", { path, content: `${path}\n` }),
      { text: `${path} is written.` },
    ];
    const turns = new TurnList([...worked("one.txt"), ...worked("two.txt")]);
    await using server = await strictServer({ script: turns.script });
    using world = new WireWorld();
    await world.at(server);
    const first = await world.asked("remember the word heron", "--actor", actor, "--yes");
    expect(first.data).toMatchObject({ applied: true });
    world.commit({ "theirs.txt": "by another\n" });
    const before = server.log.length;
    const { stdout } = await world.run(["tell", "last", "now the second", "--yes", "--format", "json"], {
      cwd: world.repository,
    });
    expect(JSON.parse(stdout)).toMatchObject({ exit_code: 0, data: { applied: true, actors: { execution: actor } } });
    expect(server.log.flatMap(({ refused }) => refused ?? [])).toEqual([]);
    const [earlier, later] = [server.log[before - 1], server.log[before]];
    // Everything that was sent before is the beginning of what is sent now, and is read from the cache.
    expect(later?.usage?.cacheRead).toBeGreaterThan((earlier?.usage?.input ?? Infinity) * 0.8);
    const text = JSON.stringify(later?.body);
    expect(text).toContain("remember the word heron");
    expect(text).toContain("one.txt is written.");
    expect(text).toMatch(/applied to the user's files as commit [0-9a-f]{12}/);
    expect(text).toContain("Changed since then by others: theirs.txt");
  },
);

test("after undo and after cancel a new plan is made, whose model is told that nothing of it is in the files", async () => {
  using world = new SessionWorld();
  await world.answering(
    ...writing("the first", "one.txt"),
    ...writing("the second", "two.txt"),
    ...writing("the third", "three.txt"),
  );
  const { data: first } = await world.asked("the first", "--yes");
  await world.said("plan", "undo", String(first["plan_id"]), "--yes");
  const { data: second } = await world.said("tell", "last", "the second");
  expect(second).toMatchObject({ outcome: "executed", changes: { files: 1 } });
  await world.said("plan", "cancel", String(second["plan_id"]), "--reason", "not so");
  const { data: third } = await world.said("tell", "last", "the third", "--yes");
  expect(third).toMatchObject({ applied: true, changes: { files: 1 } });
  const { data } = await world.said("session", "show", "last");
  expect(data).toMatchObject({
    turns: [{ standing: "undone" }, { standing: "cancelled", cancel_reason: "not so" }, { standing: "applied" }],
  });
  const { data: explained } = await world.said(
    "plan",
    "explain",
    String(third["plan_id"]),
    "strategy",
    "--show-context",
  );
  const context = JSON.stringify(explained);
  expect(context).toContain("applied and then undone by the user");
  expect(context).toContain("cancelled (not so): its changes are not in the files.");
});

test("the model of the next turn is told when the changes went to a new branch, and are not in the files", async () => {
  using world = new SessionWorld();
  await world.answering(...writing("the first", "one.txt"), ...writing("the second", "two.txt"));
  const { data: first } = await world.asked("the first");
  await world.said("plan", "apply", String(first["plan_id"]), "--onto", "side", "--yes");
  const { data: second } = await world.said("tell", "last", "the second");
  const plan = String(second["plan_id"]);
  const { data } = await world.said("plan", "explain", plan, "strategy", "--show-context");
  expect(JSON.stringify(data)).toMatch(/applied to the new branch side as commit [0-9a-f]{12}: its changes are in the/);
});

test("words for a plan that is ready to review continue it, and words for its question answer it", async () => {
  using world = new SessionWorld();
  const ask = { tool: "ask_user", parameters: { question: "Which name?", options: ["a", "b"] } };
  await world.answering(
    strategyTurn([STEP]),
    stepTurn("note", { tool_calls: [ask] }),
    stepTurn("note", {
      match: { tool: "ask_user" },
      tool_calls: [{ tool: "write_file", parameters: { path: "a.txt", content: "a\n" } }],
    }),
    stepTurn("note", { match: { tool: "write_file" }, text: "a.txt is written." }),
    turn({
      match: { user: 'step "follow-up-1"' },
      tool_calls: [{ tool: "write_file", parameters: { path: "b.txt", content: "b\n" } }],
    }),
    turn({ match: { user: 'step "follow-up-1"', tool: "write_file" }, text: "b.txt too." }),
  );
  const asked = await world.asked("write a file");
  expect(asked.exit_code).toBe(5);
  expect((await world.said("session", "list")).data).toMatchObject({
    sessions: [{ state: "waiting for you", awaiting_input: "Which name?" }],
  });
  const answered = await world.said("tell", "last", "a");
  expect(answered.data).toMatchObject({ outcome: "executed", answer: "a.txt is written." });
  const more = await world.said("tell", "last", "and b");
  expect(more.data).toMatchObject({ plan_id: answered.data["plan_id"], changes: { files: 2 }, answer: "b.txt too." });
  expect((await world.said("session", "show", "1")).data).toMatchObject({
    plans: 1,
    turns: [
      {
        exchanges: [{ answer: "a.txt is written." }, { request: "and b", answer: "b.txt too." }],
        remarks: [{ question: "Which name?", text: "a" }],
      },
    ],
  });
  const refused = await world.said("run", "and c", "--session", "last", "--budget", "1");
  expect([refused.exit_code, refused.error?.message]).toEqual([2, expect.stringContaining("budget cannot be chosen")]);
  expect((await world.said("tell", "last", " ")).exit_code).toBe(2);
});

test("two processes tell a session something at once: no words are lost, and a refusal says why", async () => {
  using world = new SessionWorld();
  await world.answering(
    ...writing("the first", "one.txt"),
    ...writing("the second", "two.txt"),
    ...writing("the third", "three.txt"),
    turn({ text: "Heard." }),
  );
  await world.asked("the first", "--yes");
  const said = await Promise.all(
    ["the second", "the third"].map(async (text) => {
      const { code, stdout } = await world.process(["tell", "last", text, "--format", "json"], {
        cwd: world.repository,
      });
      return { text, code, answer: JSON.parse(stdout) as Envelope };
    }),
  );
  // Which of them is first is chance, and so is whether the other one comes before, while or after it works: its words
  // then make a plan, are guidance, or ask for more. A refusal comes before the words are recorded, or after it, when
  // the other process carries the plan out.
  expect(said.filter(({ code }) => code === 0).length).toBeGreaterThan(0);
  const recorded = said.filter(({ code, answer }) => {
    if (code === 0) return true;
    expect(code, JSON.stringify(answer)).toBe(4);
    expect(answer.error?.message).toMatch(/Another process told the session|is being worked on/);
    return answer.error?.message.includes("is being worked on");
  });
  const { data } = await world.said("session", "show", "last");
  const turns = data["turns"] as Record<"exchanges" | "remarks", { request?: string; text?: string }[]>[];
  const words = turns.flatMap(({ exchanges, remarks }) => [
    ...exchanges.map(({ request }) => request),
    ...remarks.map(({ text }) => text),
  ]);
  expect(new Set(words)).toEqual(new Set(["the first", ...recorded.map(({ text }) => text)]));
  expect(words).toHaveLength(recorded.length + 1);
});

test("a tell that is killed with -9 loses nothing: the next one guides the same plan, which is applied", async () => {
  using world = new SessionWorld();
  const slow = stepTurn("write-two-txt", { match: { tool: "write_file" }, text: "Two.", delay_ms: 60_000 });
  const [strategy = "", write = ""] = writing("the second", "two.txt");
  await world.answering(...writing("the first", "one.txt"), strategy, write, slow);
  await world.asked("the first", "--yes");
  const { child, finished } = world.start(["tell", "last", "the second", "--yes"], { cwd: world.repository });
  /** The different calls: one that is killed before it is on record is made again, and both are shown. */
  const calls = async (): Promise<string[]> => {
    const { data } = await world.said("session", "show", "last", "--decisions");
    const [, second] = data["turns"] as { decisions: { calls: { tool: string; params: unknown }[] }[] }[];
    const all = (second?.decisions ?? []).flatMap((decision) => decision.calls);
    return [...new Set(all.map(({ tool, params }) => JSON.stringify([tool, params])))];
  };
  await expect.poll(async () => (await calls()).length, { timeout: 20_000 }).toBe(1);
  child.kill("SIGKILL");
  await finished;
  expect((await world.said("session", "show", "last")).data).toMatchObject({ plans: 2, state: "stopped" });
  const quick = stepTurn("write-two-txt", { match: { user: "The user says: be brief" }, text: "Two." });
  await world.answering(...writing("the first", "one.txt"), strategy, write, quick);
  expect((await world.said("tell", "last", "be brief", "--yes")).data).toMatchObject({ applied: true });
  expect(readFileSync(join(world.repository, "two.txt"), "utf8")).toBe("two.txt\n");
  expect(await calls()).toHaveLength(1);
  expect((await world.said("session", "show", "last")).data).toMatchObject({ plans: 2, state: "applied" });
});

test("a fork shares the turns up to a plan; neither session sees the later turns of the other", async () => {
  using world = new SessionWorld();
  await world.answering(
    ...writing("the first", "one.txt"),
    ...writing("the second", "two.txt"),
    ...writing("the third", "three.txt"),
  );
  const { data: first } = await world.asked("the first", "--yes");
  await world.said("tell", "1", "the second", "--yes");
  const forked = await world.said("session", "fork", "1", "--at", String(first["plan_id"]));
  expect(forked.data).toMatchObject({ number: 2, plans: 1, forked_from: first["session_id"], cost: { calls: 0 } });
  const { data: third } = await world.said("tell", "2", "the third", "--yes");
  expect(third).toMatchObject({ applied: true });
  const requests = async (session: string): Promise<string[]> => {
    const { data } = await world.said("session", "show", session);
    return (data["turns"] as { request: string; shared: boolean }[]).map((one) => `${one.request} ${one.shared}`);
  };
  expect(await requests("1")).toEqual(["the first false", "the second false"]);
  expect(await requests("2")).toEqual(["the first true", "the third false"]);
  expect((await world.said("session", "fork", "1", "--at", String(third["plan_id"]))).exit_code).toBe(3);
  expect((await world.said("session", "resume", "2")).exit_code).toBe(4);
});

test("words in a fork make a plan of its own, also where the shared plan is not at its end", async () => {
  using world = new SessionWorld();
  await world.answering(...writing("the first", "one.txt"), ...writing("the second", "two.txt"));
  const { data: first } = await world.asked("the first");
  await world.said("session", "fork", "1");
  const { data: second } = await world.said("tell", "2", "the second");
  expect(second).toMatchObject({ outcome: "executed", changes: { files: 1 } });
  expect(second["plan_id"]).not.toBe(first["plan_id"]);
  expect((await world.said("session", "show", "1")).data).toMatchObject({
    plans: 1,
    turns: [{ exchanges: [{ request: "the first" }], changes: { files: [{ path: "one.txt" }] } }],
  });
});

test("an export has everything that was said and changed, and its patches make the same files", async () => {
  using world = new SessionWorld();
  const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
  await world.answering(
    ...writing("write a note", "note.txt"),
    ...writing("write another", "other.txt", `${secret}\n`),
  );
  await world.asked("write a note", "--yes");
  await world.said("tell", "last", "write another", "--yes");
  const file = join(world.directory, "session.json");
  const { exit_code: code } = await world.said("session", "export", "last", "--as", "json", "--output", file);
  expect(code).toBe(0);
  const exported = JSON.parse(readFileSync(file, "utf8")) as { turns: { request: string; patch: string }[] };
  expect(exported).toMatchObject({ schema_version: 1, checksum: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
  expect(exported.turns.map(({ request }) => request)).toEqual(["write a note", "write another"]);
  expect(readFileSync(file, "utf8")).not.toContain(secret);
  const other = makeRepository(join(world.directory, "copy"));
  git(other, "apply", world.write("one.patch", exported.turns[0]?.patch ?? ""));
  expect(readFileSync(join(other, "note.txt"), "utf8")).toBe("note.txt\n");
  const { stdout } = await world.run(["session", "export", "last"], { cwd: world.repository });
  expect(stdout).toContain("# write a note\n");
  expect(stdout).toContain("> write another\n\nother.txt is written.");
  expect(stdout).toContain("+note.txt");
  expect(stdout).not.toContain(secret);
});

test("a session is about one project: a request from another repository is refused", async () => {
  using world = new SessionWorld();
  await world.answering(...writing("write a note", "note.txt"));
  await world.asked("write a note", "--yes");
  const other = makeRepository(join(world.directory, "other"));
  const { code, stderr } = await world.run(["run", "write a note", "--session", "1"], { cwd: other });
  expect([code, stderr]).toEqual([2, expect.stringContaining("Session 1 is about local/shop")]);
  const both = await world.said("run", "more", "--session", "1", "--continue");
  expect(both.exit_code).toBe(2);
});
