/** The variables that a program gives to `openCleverAgents` reach everything that reads variables of the user. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { confinementHere } from "../confinement/availability.ts";
import { startEmbeddingServer } from "../context/testing/embedding-server.ts";
import { openCleverAgents } from "../index.ts";
import { TestDirectory } from "../store/testing/fixtures.ts";
import { git, makeRepository } from "../testing/git-repository.ts";

const confined = (await confinementHere()).kind !== "none";

test("the key of an embedding service comes from the given variables, and secrets among them are masked in what it is sent", async () => {
  await using directory = await TestDirectory.make();
  await using server = await startEmbeddingServer();
  const root = makeRepository(directory.file("shop"));
  writeFileSync(join(root, "garden.md"), "Roses grow in the garden.\nThe gate opens with Xk29-gate-phrase.\n");
  const settings = {
    "context.embedding.url": server.url,
    "context.embedding.model": "words",
    "context.embedding.api-key-env": "SHOP_EMBEDDING_KEY",
  };
  const open = (name: string, environment: Readonly<Record<string, string>>) =>
    openCleverAgents({ dataDir: directory.file(name), environment, settings });
  const question = { question: "roses", directory: root };

  await using without = await open("without", {});
  expect(JSON.stringify((await without.run("context.pack", question)).gaps)).toContain("SHOP_EMBEDDING_KEY");
  expect(server.authorizations).toEqual([]);

  const given = { SHOP_EMBEDDING_KEY: "s3cret-embedding-key", GATE_PASSWORD: "Xk29-gate-phrase" };
  await using agents = await open("with", given);
  const packed = await agents.run("context.pack", question);
  expect(packed.activeStrategies.map(({ name }) => name)).toContain("semantic-embedding");
  expect(new Set(server.authorizations)).toEqual(new Set(["Bearer s3cret-embedding-key"]));
  expect(server.calls.flat().join()).toContain("The gate opens with");
  expect(JSON.stringify([server.calls, packed])).not.toMatch(/Xk29-gate-phrase|s3cret-embedding-key/);
});

const STRATEGY = {
  steps: [{ id: "bake", description: "Bake", complexity: "low", risk: 0.1, confidence: 0.9 }],
};

test.runIf(confined)("the commands of a plan get the given variables", async () => {
  await using directory = await TestDirectory.make();
  const root = makeRepository(directory.file("shop"));
  const turns = [
    { match: { user: "Decide" }, tool_calls: [{ tool: "record_strategy", parameters: STRATEGY }] },
    {
      match: { user: "bake" },
      tool_calls: [{ tool: "shell_execute", parameters: { command: 'echo "$SHOP_FLAVOR" > flavor.txt' } }],
    },
    { match: { user: "bake", tool: "shell_execute" }, text: "Done." },
  ];
  writeFileSync(directory.file("model.yaml"), JSON.stringify({ turns }));
  await using agents = await openCleverAgents({
    dataDir: directory.file("data"),
    environment: { SHOP_FLAVOR: "vanilla" },
    settings: { "provider.scripted.transcript": directory.file("model.yaml"), "sandbox.environment": "SHOP_FLAVOR" },
  });
  const wish = { request: "Bake a cake", directory: root, automationProfile: "trusted" };
  const { planId } = await agents.run("run", wish, { answers: "none" });
  expect((await agents.run("plan.diff", { plan: planId })).patch).toContain("+vanilla");
  expect(git(root, "status", "--porcelain")).toBe("");
});
