/** The strategy that asks a model for vectors, through the command line: off and said so, configured, and failing. */
import { mkdirSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { daySpending } from "../ledger/budget-report.ts";
import { openStore } from "../store/sqlite/open-store.ts";
import { startEmbeddingServer } from "../context/testing/embedding-server.ts";
import type { Agents } from "./testing/agents.ts";
import { CodeWorld } from "./testing/code-world.ts";

/** The project "diary" of a directory with one note. */
async function diaryOf(agents: Agents): Promise<string> {
  const root = join(agents.directory, "notes");
  mkdirSync(root);
  writeFileSync(join(root, "garden.md"), "Roses and tulips grow in the garden.\n");
  await agents.json("resource", "add", "fs-directory", "notes", "--path", root);
  await agents.json("project", "create", "diary", "--resource", "notes");
  return root;
}

test("embedding is off and said so, until an endpoint is configured; only what the policy lets through is sent", async () => {
  using world = new CodeWorld();
  await using server = await startEmbeddingServer();
  const { agents } = world;
  const root = await diaryOf(agents);
  writeFileSync(join(root, "kitchen.md"), `Bread is baked in the oven AKIA${"Q7".repeat(8)}.\n`);
  writeFileSync(join(root, "keys.md"), "The secret of the garden gate is 1234.\n");
  await agents.json("project", "context", "set", "diary", "--exclude", "keys.md");
  const inspect = () => agents.json("project", "context", "inspect", "diary", "--query", "tulips in the garden");

  expect((await inspect()).data).toMatchObject({
    gaps: expect.arrayContaining([expect.objectContaining({ name: "semantic-embedding" })]),
  });
  expect((await agents.json("project", "context", "index", "diary")).data).toMatchObject({ embedded: null });

  expect((await agents.json("config", "set", "context.embedding.url", server.url)).exit_code).toBe(0);
  expect((await agents.json("config", "set", "context.embedding.model", "words")).exit_code).toBe(0);
  const indexed = await agents.json("project", "context", "index", "diary");
  expect(indexed).toMatchObject({ exit_code: 0, data: { files: 3, embedded: 2 } });
  const sent = server.calls.flat();
  expect(sent.toSorted()).toEqual([
    "Bread is baked in the oven [masked: AWS key].",
    "Roses and tulips grow in the garden.",
  ]);
  expect((await agents.json("project", "context", "index", "diary")).data).toMatchObject({ embedded: 0 });

  const { data } = await inspect();
  expect(data).toMatchObject({
    active_strategies: expect.arrayContaining([expect.objectContaining({ name: "semantic-embedding" })]),
  });
  expect(server.calls.flat().slice(sent.length)).toEqual(["tulips in the garden"]);

  server.answer = (_request, response) => void response.writeHead(503).end("asleep");
  writeFileSync(join(root, "cellar.md"), "Wine is kept in the cellar.\n");
  const failed = await agents.json("project", "context", "index", "diary");
  expect(failed).toMatchObject({
    exit_code: 1,
    error: {
      message: expect.stringContaining("answered 503: asleep"),
      kept: expect.stringContaining("index is complete"),
    },
  });
  expect((await inspect()).data).toMatchObject({
    gaps: expect.arrayContaining([
      expect.objectContaining({ name: "semantic-embedding", reason: expect.stringContaining("answered 503") }),
    ]),
  });
});

test("what is embedded counts against the budgets: refused before anything is sent, settled at what it was", async () => {
  using world = new CodeWorld();
  await using server = await startEmbeddingServer();
  const { agents } = world;
  const root = await diaryOf(agents);
  const set = async (key: string, value: string): Promise<void> => {
    expect((await agents.json("config", "set", key, value)).exit_code).toBe(0);
  };
  await set("context.embedding.url", server.url);
  await set("context.embedding.model", "words");
  // Ten cents for a token.
  await set("context.embedding.price", "100000");
  await set("budget.per-day", "1");

  const index = () => agents.json("project", "context", "index", "diary");
  const inspect = () => agents.json("project", "context", "inspect", "diary", "--query", "tulips");
  expect(await index()).toMatchObject({ exit_code: 1, error: { code: "BUDGET_EXCEEDED" } });
  const gap = {
    name: "semantic-embedding",
    reason: expect.stringContaining("is not used: A call of embedding/words"),
  };
  expect((await inspect()).data).toMatchObject({ gaps: expect.arrayContaining([expect.objectContaining(gap)]) });
  expect(server.calls).toEqual([]);

  await set("budget.per-day", "100");
  const spent = async (): Promise<unknown> => {
    await using store = await openStore(`sqlite:${join(agents.dataDir, "cleveragents.db")}`);
    const { spent: cost, reserved } = await store.read((reader) =>
      daySpending(reader, { perPlan: undefined, perDay: undefined }),
    );
    return { cost, reserved };
  };
  expect(await index()).toMatchObject({ exit_code: 0, data: { embedded: 1 } });
  expect(await spent()).toEqual({ cost: 800_000, reserved: 0 });
  expect(JSON.stringify((await inspect()).data["gaps"])).not.toContain("semantic-embedding");
  expect(await spent()).toEqual({ cost: 900_000, reserved: 0 });
  await inspect();
  expect(await spent()).toEqual({ cost: 900_000, reserved: 0 });

  // Not taken, so not billed; and what was taken without an answer counts at the most it can have been.
  writeFileSync(join(root, "cellar.md"), "Wine\n");
  server.answer = (_request, response) => void response.writeHead(503).end("asleep");
  await index();
  expect(await spent()).toEqual({ cost: 900_000, reserved: 0 });
  server.answer = (_request, response) => void response.end("{}");
  await index();
  expect(await spent()).toEqual({ cost: 1_300_000, reserved: 0 });

  // So does what a strategy was waiting for when its time was over, and its thread ended. Its absence is an error.
  server.answer = () => undefined;
  expect(await inspect()).toMatchObject({
    exit_code: 1,
    error: { code: "TIMED_OUT", message: "The search timed out: semantic-embedding did not finish in time." },
  });
  expect(await spent()).toEqual({ cost: 1_700_000, reserved: 0 });
  // The deadline of a strategy is a minute.
}, 240_000);

test("an embedding endpoint that lies about what it used, or breaks off, is billed by what was sent", async () => {
  using world = new CodeWorld();
  await using server = await startEmbeddingServer();
  const { agents } = world;
  const root = await diaryOf(agents);
  for (const [key, value] of [
    ["url", server.url],
    ["model", "words"],
    // Ten cents for a token.
    ["price", "100000"],
  ]) {
    expect((await agents.json("config", "set", `context.embedding.${key}`, String(value))).exit_code).toBe(0);
  }
  const WORDS = 12;
  const BYTES = WORDS * 5 - 1;
  let before = 0;
  /** In tokens: what such a note is billed at. Its words are one each, by our tokenizer. */
  const costOf = async (note: string, answer: (response: ServerResponse) => void): Promise<number> => {
    writeFileSync(join(root, "garden.md"), `${`${note} `.repeat(WORDS).trim()}\n`);
    server.answer = (_request, response) => answer(response);
    await agents.json("project", "context", "index", "diary");
    const { data } = await agents.json("info");
    const { spent_usd: spent, reserved_usd: reserved } = data["cost_today"] as Record<string, number>;
    expect(reserved).toBe(0);
    const cost = Math.round(((spent ?? 0) - before) * 10);
    before = spent ?? 0;
    return cost;
  };
  const said = (tokens: unknown) => (response: ServerResponse) =>
    void response.end(JSON.stringify({ data: [{ index: 0, embedding: [1, 2] }], usage: { total_tokens: tokens } }));
  expect(await costOf("wine", said(12))).toBe(12);
  expect(await costOf("rose", said(20))).toBe(20);
  expect(await costOf("tree", said(0))).toBe(12);
  expect(await costOf("gate", said(-1_000_000))).toBe(BYTES);
  expect(await costOf("door", said(0.2))).toBe(BYTES);
  expect(await costOf("wall", said(1e15))).toBe(BYTES);
  expect(await costOf("path", (response) => void response.destroy())).toBe(BYTES);
});
