/** The schemas of files, as an editor gets them from the command line. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agents } from "./testing/agents.ts";

test("without a kind, the kinds are listed with the command that reads each", async () => {
  using agents = new Agents();
  const { kinds } = (await agents.json("schema")).data as { kinds: { kind: string; command: string }[] };
  expect(kinds.map(({ kind }) => kind)).toEqual([
    "actor",
    "action",
    "automation-profile",
    "validation",
    "tool",
    "skill",
    "mcp-servers",
    "config",
  ]);
  const { stdout } = await agents.run(["schema", "--format", "plain"]);
  for (const { kind, command } of kinds) {
    expect(stdout).toContain(kind);
    expect(stdout).toContain(command.split(" --")[0]);
  }
});

test("a schema is printed as it is, names its dialect, and can be written to a file", async () => {
  using agents = new Agents();
  const { stdout } = await agents.run(["schema", "actions"]);
  const schema = JSON.parse(stdout) as { properties: Record<string, { description?: string }> };
  expect(schema).toMatchObject({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Action",
    required: ["name", "description", "definition_of_done"],
  });
  expect(schema.properties["definition_of_done"]?.description).toContain("must be true in the end");
  expect((await agents.json("schema", "action")).data).toEqual({ kind: "action", schema });
  const { stdout: said, code } = await agents.run([
    "schema",
    "profile",
    "--output",
    "profile.json",
    "--format",
    "plain",
  ]);
  expect(code).toBe(0);
  expect(said).toContain("# yaml-language-server: $schema=profile.json");
  expect(JSON.parse(readFileSync(join(agents.directory, "profile.json"), "utf8"))).toMatchObject({
    title: "Automation profile",
  });
});

test("an unknown kind, a file that cannot be written, and a file without a kind are errors", async () => {
  using agents = new Agents();
  expect(await agents.json("schema", "acter")).toMatchObject({
    exit_code: 2,
    error: { message: expect.stringContaining('did you mean "actor"?'), detail: { suggestion: "actor" } },
  });
  expect((await agents.json("schema", "weather")).error?.detail).toEqual({ kind: "weather" });
  expect(await agents.json("schema", "actor", "--output", "missing/actor.json")).toMatchObject({
    exit_code: 2,
    error: { message: expect.stringContaining("missing/actor.json cannot be written"), kept: "Nothing was written." },
  });
  expect((await agents.json("schema", "--output", "all.json")).error?.suggestions).toEqual(["agents schema actor"]);
});
