/** The strategy that asks a model for vectors, through the command line: off and said so, configured, and failing. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startEmbeddingServer } from "../context/testing/embedding-server.ts";
import { CodeWorld } from "./testing/code-world.ts";

test("embedding is off and said so, until an endpoint is configured; only what the policy lets through is sent", async () => {
  using world = new CodeWorld();
  await using server = await startEmbeddingServer();
  const { agents } = world;
  const root = join(agents.directory, "notes");
  mkdirSync(root);
  writeFileSync(join(root, "garden.md"), "Roses and tulips grow in the garden.\n");
  writeFileSync(join(root, "kitchen.md"), `Bread is baked in the oven AKIA${"Q7".repeat(8)}.\n`);
  writeFileSync(join(root, "keys.md"), "The secret of the garden gate is 1234.\n");
  await agents.json("resource", "add", "fs-directory", "notes", "--path", root);
  await agents.json("project", "create", "diary", "--resource", "notes");
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
