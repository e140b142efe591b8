/**
 * Each family of commands in a process that has just started, with the program that users have. Other tests call it in
 * their own process.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { git, makeRepository } from "../testing/git-repository.ts";
import { Agents, ACTION_YAML, type Envelope } from "./testing/agents.ts";
import { COMMANDS } from "./words/command-table.ts";

const NOTE = `name: note
type: tool
description: Writes down what was asked for
steps:
  - { id: note, tool: write_file, params: { path: note.txt, content: "{request}\\n" } }
`;

const CALLS: readonly (readonly string[])[] = [
  ["version"],
  ["init"],
  ["config", "set", "core.user", "ann"],
  ["actor", "add", "--config", "note.yaml"],
  ["action", "create", "--config", "fix.yaml"],
  ["resource", "add", "git-checkout", "api", "--path", "code"],
  ["project", "create", "shop", "--resource", "api"],
  ["validation", "list"],
  ["models", "list"],
  ["login", "list"],
  ["logout", "copilot"],
  ["gateway", "true"],
  ["automation-profile", "show", "trusted"],
  ["context", "pack", "greeting", "--path", "code"],
  ["run", "say hello", "--project", "shop", "--actor", "note", "--automation-profile", "trusted", "--yes"],
  ["tell", "last", "say bye", "--yes"],
  ["jobs", "list"],
  ["schema"],
  ["edit", "actor"],
  ["server", "token", "list"],
  ["session", "list"],
  ["plan", "list"],
  ["mcp", "server", "list"],
  ["tool", "list"],
  ["skill", "list"],
  ["cleanup", "list"],
  ["audit", "verify"],
  ["watch", "--once"],
  ["info"],
  ["diagnostics"],
  ["completion", "bash"],
  ["help", "capping-costs"],
  ["watch"],
  ["upgrade", "--check"],
  ["uninstall", "--yes"],
];

test("every family of commands works in a process of its own, and one finds what another left", async () => {
  using agents = new Agents();
  // The test asks no registry.
  agents.environment["npm_config_registry"] = "http://127.0.0.1:9/";
  const repository = makeRepository(join(agents.directory, "code"));
  agents.write("note.yaml", NOTE);
  agents.write("fix.yaml", ACTION_YAML);
  const families = (paths: readonly (readonly string[])[]): string[] => [
    ...new Set(paths.map(([family = ""]) => family)),
  ];
  // `agents acp` answers in a protocol and has a test of its own.
  const all = families(COMMANDS.map(({ path }) => path.split(" "))).filter((family) => family !== "acp");
  expect(families(CALLS).sort()).toEqual(all.sort());
  const answers = new Map<string, Envelope>();
  for (const call of CALLS) {
    const answer = await agents.processJson(...call);
    expect([call, answer.error, answer.exit_code]).toEqual([call, undefined, 0]);
    answers.set(call.join(" "), answer);
  }
  expect(answers.get("plan list")?.data["plans"]).toMatchObject([
    { request: "say bye", state: "applied" },
    { request: "say hello", state: "applied" },
  ]);
  expect(readFileSync(join(repository, "note.txt"), "utf8")).toBe("say bye\n");
  expect(git(repository, "status", "--porcelain")).toBe("");
});
