/** Sessions through the application: handed over, told while they work, stopped and carried on, exported. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { RunEvent } from "../domain/run-event.ts";
import type { Ask } from "./base/call.ts";
import { openCleverAgents } from "./open.ts";
import type { InputOf } from "./table/operation-table.ts";
import { CandidatesWorld, writer } from "./testing/candidates-world.ts";

class SessionsWorld extends CandidatesWorld {
  async say(request: string, more: Partial<InputOf<"run">> = {}) {
    const agents = await this.agents();
    const wish = { request, directory: this.repository, automationProfile: "trusted", ...more };
    return agents.run("run", wish);
  }

  /** In the session of the repository. */
  async tell(text: string, options: { readonly signal?: AbortSignal; readonly tell?: (event: RunEvent) => void } = {}) {
    return (await this.agents()).run("tell", { session: "last", text, directory: this.repository }, options);
  }

  async resume(options: { readonly ask?: Ask; readonly answers?: "none" } = {}) {
    return (await this.agents()).run("session.resume", { session: "last", directory: this.repository }, options);
  }

  async show() {
    return (await this.agents()).run("session.show", { session: "last", directory: this.repository });
  }

  read(path: string): string {
    return readFileSync(join(this.repository, path), "utf8");
  }

  /** The text that was shown to the model for the decision with this name. */
  async shown(plan: string, name: string): Promise<string> {
    const agents = await this.agents();
    const { decisionIds } = await agents.run("plan.tree", { plan });
    const { context } = await agents.run("plan.explain", { id: decisionIds[name] ?? "", showContext: true });
    return String(context);
  }

  /** While this is in scope, the store refuses such a statement: the unit of work that has it comes to nothing. */
  refusing(statement: string): Disposable {
    const change = (sql: string): void => {
      using database = new DatabaseSync(join(this.dataDir, "cleveragents.db"), { timeout: 5_000 });
      database.exec(sql);
    };
    change(`CREATE TRIGGER refused BEFORE ${statement} BEGIN SELECT RAISE(ABORT, 'refused by the test'); END`);
    return { [Symbol.dispose]: () => change("DROP TRIGGER refused") };
  }
}

/** Writes a file for each request, by its words. */
function answering(...requests: readonly (readonly [request: string, path: string])[]): object[] {
  return requests.flatMap(([request, path]) => {
    const id = `write-${path.replaceAll(".", "-")}`;
    const step = `step "${id}"`;
    const steps = [{ id, description: `Write ${path}`, risk: 0.1, confidence: 0.9 }];
    return [
      {
        match: { user: `Decide how this is done: ${request}` },
        tool_calls: [{ tool: "record_strategy", parameters: { steps } }],
      },
      {
        match: { user: step, tool: "write_file" },
        text: `${path} is written.`,
      },
      { match: { user: step }, tool_calls: [{ tool: "write_file", parameters: { path, content: `${path}\n` } }] },
    ];
  });
}

test("another model gets a handover with requests, answers and outcomes instead of a conversation", async () => {
  await using world = new SessionsWorld();
  const one = world.model("one", answering(["remember the word heron", "one.txt"]));
  const two = world.model("two", answering(["now the second", "two.txt"]));
  const first = await world.say("remember the word heron", { actor: one });
  expect(first).toMatchObject({ applied: true });
  world.commit({ "theirs.txt": "by another\n" });
  const second = await world.say("now the second", { actor: two, session: "last", automationProfile: undefined });
  expect(second).toMatchObject({ applied: true, sessionId: (first as { sessionId: string }).sessionId });
  const shown = await world.shown(second.planId, "strategy");
  expect(JSON.parse(shown)).toMatchObject({ model: { provider: "two" } });
  expect(shown).toContain("The user asked: remember the word heron");
  expect(shown).toContain("The answer: one.txt is written.");
  expect(shown).toMatch(/The outcome: applied to the user's files as commit [0-9a-f]{12}\. It changed one\.txt\./);
  expect(shown).toContain("Changed since then by others: theirs.txt.");
  expect(shown).not.toContain("Decide how this is done: remember");
});

test("a graph gets the handover too", async () => {
  await using world = new SessionsWorld();
  const one = world.model("one", answering(["remember the word heron", "one.txt"]));
  const write = { tool: "write_file", parameters: { path: "graph.txt", content: "graph\n" } };
  world.model("node", [
    { match: { tool: "write_file" }, text: "Written." },
    { match: { user: "Write it" }, tool_calls: [write] },
  ]);
  const agents = await world.agents();
  const text = `name: around
type: graph
description: d
model: node/transcript
route:
  nodes: [{ id: ask, type: llm, prompt: "Write it", tools: [write_file] }]
  edges: []
  entry: ask
  exits: [ask]
`;
  await agents.run("actor.add", { definition: { text, file: "around.yaml", outside: false } });
  await world.say("remember the word heron", { actor: one });
  const second = await world.say("now the second", { actor: "local/around", session: "last" });
  expect(second).toMatchObject({ applied: true, actors: { execution: "local/around" } });
  const { decisionIds } = await (await world.agents()).run("plan.tree", { plan: second.planId });
  const shown = await Promise.all(
    Object.keys(decisionIds).map((name) => world.shown(second.planId, name).catch(() => "")),
  );
  expect(shown.join("\n")).toContain("The user asked: remember the word heron");
});

test("words for a plan that another process works on reach it; after a stop, resume carries it on", async () => {
  await using world = new SessionsWorld();
  const actor = world.model("one", writer("one.txt", "1\n", { delayMs: 60_000 }));
  const stop = new AbortController();
  const asking = Promise.withResolvers<void>();
  const tell = (event: RunEvent): void => {
    if (event.type === "step_started") asking.resolve();
  };
  const agents = await world.agents();
  const wish = { request: "write a note", directory: world.repository, automationProfile: "trusted", actor };
  const running = agents.run("run", wish, { signal: stop.signal, tell }).catch((error: unknown) => error);
  await asking.promise;
  const options = { dataDir: world.dataDir, settings: world.settings, environment: process.env };
  await using other = await openCleverAgents(options);
  const place = { session: "last", directory: world.repository };
  const told = await other.run("tell", { ...place, text: "in one line" });
  expect(told).toMatchObject({ outcome: "told", ran: false, state: "processing" });
  expect(await other.run("session.show", place)).toMatchObject({ state: "working", plans: 1 });
  stop.abort();
  expect(await running).toMatchObject({ name: expect.stringContaining("Error") });
  expect(await other.run("session.show", place)).toMatchObject({
    state: "stopped",
    nextSteps: [{ operation: "session.resume" }, {}],
  });
  const write = { tool: "write_file", parameters: { path: "one.txt", content: "1\n" } };
  world.model("one", [
    ...writer("one.txt", "1\n").slice(0, 1),
    { match: { user: "The user says: in one line", tool: "write_file" }, text: "One line." },
    { match: { user: "The user says: in one line" }, tool_calls: [write] },
  ]);
  const resumed = await world.resume();
  expect(resumed).toMatchObject({ applied: true, planId: told.planId, sessionId: told.sessionId });
  expect(world.read("one.txt")).toBe("1\n");
  expect(await world.show()).toMatchObject({
    plans: 1,
    turns: [{ remarks: [{ question: null, text: "in one line" }] }],
  });
});

test("resume finishes an apply that was begun, without asking again", async () => {
  await using world = new SessionsWorld();
  const actor = world.model("one", answering(["write a note", "one.txt"]));
  const wish = { request: "write a note", directory: world.repository, automationProfile: "trusted", actor };
  const agents = await world.agents();
  const place = { session: "last", directory: world.repository };
  {
    using _refusing = world.refusing("INSERT ON journals");
    await expect(agents.run("run", wish)).rejects.toThrow("refused by the test");
  }
  const { turns } = await agents.run("session.show", place);
  expect(turns).toMatchObject([{ phase: "apply" }]);
  const ask: Ask = ({ text }) => Promise.reject(new Error(`asked: ${text}`));
  expect(await agents.run("session.resume", place, { ask })).toMatchObject({ applied: true });
  expect(world.read("one.txt")).toBe("one.txt\n");
});

test("after a unit of work that came to nothing, a session is as it was, and takes the same words again", async () => {
  await using world = new SessionsWorld();
  const actor = world.model("one", answering(["the first", "one.txt"], ["the second", "two.txt"]));
  await world.say("the first", { actor });
  const before = await world.show();
  // The last of the statements that make a plan in a session.
  {
    using _refusing = world.refusing("INSERT ON session_plans");
    await expect(world.tell("the second")).rejects.toThrow("refused by the test");
  }
  expect(await world.show()).toEqual(before);
  expect((await (await world.agents()).run("plan.list", {})).plans).toHaveLength(1);
  await expect(world.resume()).rejects.toMatchObject({ code: "invalid_transition" });
  expect(await world.tell("the second")).toMatchObject({ applied: true });
  expect(await world.show()).toMatchObject({ plans: 2 });
  expect(world.read("two.txt")).toBe("two.txt\n");
});

test("a tell that stopped before its plan began is carried on by resume, with one plan", async () => {
  await using world = new SessionsWorld();
  const actor = world.model("one", answering(["the first", "one.txt"], ["the second", "two.txt"]));
  await world.say("the first", { actor });
  {
    using _refusing = world.refusing("INSERT ON leases");
    await expect(world.tell("the second")).rejects.toThrow("refused by the test");
  }
  expect(await world.show()).toMatchObject({ state: "not started", plans: 2 });
  expect(existsSync(join(world.repository, "two.txt"))).toBe(false);
  expect(await world.resume()).toMatchObject({ applied: true });
  expect(world.read("two.txt")).toBe("two.txt\n");
  expect(await world.show()).toMatchObject({ state: "applied", plans: 2 });
});

test("where nothing was stopped, resume asks the person what comes next", async () => {
  await using world = new SessionsWorld();
  const actor = world.model("one", answering(["the first", "one.txt"], ["the second", "two.txt"]));
  await world.say("the first", { actor });
  const error = { code: "invalid_transition", message: expect.stringContaining("its last plan is applied") };
  await expect(world.resume({ answers: "none" })).rejects.toMatchObject(error);
  await expect(world.resume({ ask: () => Promise.resolve({ kind: "none" }) })).rejects.toMatchObject(error);
  const asked: string[] = [];
  const ask: Ask = (question) => {
    asked.push(question.kind === "plan" ? question.text : question.kind);
    return Promise.resolve(question.kind === "plan" ? { kind: "text", text: "the second" } : { kind: "yes" });
  };
  expect(await world.resume({ ask })).toMatchObject({ applied: true });
  expect(asked[0]).toBe("the first\nWhat comes next?");
  expect(world.read("two.txt")).toBe("two.txt\n");
});

test("the checksum of an export covers everything else in it", async () => {
  await using world = new SessionsWorld();
  const actor = world.model("one", answering(["the first", "one.txt"]));
  await world.say("the first", { actor });
  const agents = await world.agents();
  const place = { session: "last", directory: world.repository };
  const { text, checksum } = await agents.run("session.export", { ...place, as: "json" });
  const { checksum: written, ...rest } = JSON.parse(text) as { checksum: string; turns: { request: string }[] };
  const digest = (value: object): string =>
    `sha256:${createHash("sha256").update(JSON.stringify(value)).digest("hex")}`;
  expect([written, checksum]).toEqual([digest(rest), digest(rest)]);
  expect(digest({ ...rest, turns: rest.turns.map((one) => ({ ...one, request: "another" })) })).not.toBe(checksum);
  // The same facts have the same checksum, in both forms.
  expect(await agents.run("session.export", { ...place, as: "markdown" })).toMatchObject({ checksum });
});
