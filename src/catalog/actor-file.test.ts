import { expect, test } from "vitest";
import type { ActorDefinition } from "../domain/actor/actor.ts";
import { ValidationError, type ValidationIssue } from "../domain/errors/errors.ts";
import { parseActionFile } from "./action-file.ts";
import { parseActorFile as parseFile } from "./actor-file.ts";

const GREETER = `name: local/greeter
type: tool
description: Writes a greeting and upper-cases it
steps:
  - { id: write, tool: write_file, params: { resource: api, path: "docs/{file}.txt", content: "hello {who}\\n" } }
  - { id: shout, tool: shell_execute, params: { resource: api, command: "tr a-z A-Z < docs/{file}.txt > docs/LOUD.txt" }, needs: [write] }
`;

/** The result for an author without any variables. */
function parseActorFile(text: string, file: string): ActorDefinition {
  const [actor, ...others] = parseFile(text, file, {});
  expect(others).toEqual([]);
  return actor!;
}

function refusalError(text: string, parse: (text: string, file: string) => unknown = parseActorFile): ValidationError {
  try {
    parse(text, "a.yaml");
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    return error as ValidationError;
  }
  throw new Error("It was not refused.");
}

function issuesOf(text: string): readonly ValidationIssue[] {
  return refusalError(text).issues;
}

test("the documented example is an actor", () => {
  expect(parseActorFile(GREETER, "greeter.yaml")).toEqual({
    name: "local/greeter",
    type: "tool",
    description: "Writes a greeting and upper-cases it",
    steps: [
      {
        id: "write",
        tool: "write_file",
        params: { resource: "api", path: "docs/{file}.txt", content: "hello {who}\n" },
        needs: [],
      },
      {
        id: "shout",
        tool: "shell_execute",
        params: { resource: "api", command: "tr a-z A-Z < docs/{file}.txt > docs/LOUD.txt" },
        needs: ["write"],
      },
    ],
  });
});

test("every problem has its file, line, column, key and suggestion, in the order of the file", () => {
  const text = `name: system/x
type: tool
desciption: x
steps:
  - tool: wirte_file
    params:
      deep: [1, { bad: .nan }]
  - id: a
    tool: git_log
    need: [b]
    needs:
      - zebra
      - step-1
      - step-1
`;
  const at = { file: "a.yaml" };
  const { message, issues, detail } = refusalError(text);
  expect(message).toBe("a.yaml is not a valid actor (8 problems).");
  expect(detail).toMatchObject({ file: "a.yaml" });
  expect(issues).toMatchObject([
    { ...at, path: "description", message: "is required", line: 1, column: 1 },
    { ...at, path: "name", line: 1, column: 1 },
    { ...at, path: "desciption", suggestion: "description", line: 3, column: 1 },
    { ...at, path: "steps.0.tool", suggestion: "write_file", line: 5, column: 5 },
    { ...at, path: "steps.0.params.deep.1.bad", line: 7, column: 19 },
    { ...at, path: "steps.1.need", suggestion: "needs", line: 10, column: 5 },
    { ...at, path: "steps.1.needs.0", line: 12, column: 9 },
    { ...at, path: "steps.1.needs.2", message: '"step-1" is named twice', line: 14, column: 9 },
  ]);
});

test("a cycle is shown at a step that is part of it", () => {
  const text = GREETER.replace("id: write,", "id: write, needs: [shout],");
  expect(issuesOf(text)).toMatchObject([
    { path: "steps.0.needs", line: 5, column: 18, message: expect.stringContaining("write → shout → write") },
  ]);
});

test.each([
  ["a list", "- a\n", "an actor is a set of key: value lines"],
  ["nothing", "", "an actor is a set of key: value lines"],
  ["a key twice", "name: a\nname: b\n", "Map keys must be unique"],
  ["an alias of nothing", "name: *nothing\n", "Unresolved alias"],
  ["more than a mebibyte", `name: ${"x".repeat(1_100_000)}\n`, "larger than 1 MiB"],
  [
    "a date of YAML 1.1",
    `%YAML 1.1\n---\n${GREETER.replace("resource: api", "resource: 2001-12-14")}`,
    "JSON cannot hold",
  ],
  [
    "an alias bomb",
    `a: &a [x]\nb: &b [${"*a,".repeat(10)}]\nc: &c [${"*b,".repeat(10)}]\nd: [${"*c,".repeat(10)}]\n`,
    "alias",
  ],
  ["a thousand brackets", `${GREETER}    params: ${"[".repeat(1000)}`, ""],
  ["the key __proto__", GREETER.replace("resource: api", "__proto__: { polluted: true }"), "__proto__"],
])("%s is refused", (_, text, message) => {
  const [issue] = issuesOf(text);
  expect(issue).toMatchObject({ file: "a.yaml", message: expect.stringContaining(message) });
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
});

test("one anchor may stand for the parameters of many steps, and a problem in it is shown", () => {
  const shared = (tool: string): string => `name: x
type: tool
description: x
steps:
  - { tool: read_file, params: &p { resource: api, path: a } }
  - { tool: ${tool}, params: *p }
`;
  const params = { resource: "api", path: "a" };
  expect(parseActorFile(shared("get_file_info"), "a.yaml")).toMatchObject({ steps: [{ params }, { params }] });
  const broken = shared("get_file_info").replace("path: a", "path: .inf");
  expect(issuesOf(broken)).toMatchObject([
    { path: "steps.0.params.path", line: 5, column: 52 },
    { path: "steps.1.params.path", line: 6 },
  ]);
});

test("an action file is refused as an action, by its own keys", () => {
  const { message, issues } = refusalError("name: fix\nexecutionActor: local/a\n", parseActionFile);
  expect(message).toBe("a.yaml is not a valid action (3 problems).");
  expect(issues.map(({ path, line }) => [path, line])).toEqual([
    ["description", 1],
    ["definition_of_done", 1],
    ["executionActor", 2],
  ]);
});

test("a secret of the environment does not get into an actor, however it is named there", () => {
  const text = "name: x\ntype: llm\ndescription: x\nsystem_prompt: |\n  Say ${DEPLOY_TOKEN} or ${PLACE}\n";
  const environment = { DEPLOY_TOKEN: "correct-horse-battery", PLACE: "Paris" };
  const error = refusalError(text, (source, file) => parseFile(source, file, environment));
  expect(error.issues).toMatchObject([{ path: "system_prompt", line: 4, message: expect.stringContaining("secret") }]);
  expect(JSON.stringify(error)).not.toContain("battery");
  expect(parseFile(text.replace("DEPLOY_TOKEN", "PLACE"), "a.yaml", environment)).toMatchObject([
    { systemPrompt: "Say Paris or Paris\n" },
  ]);
});

test("problems of an older file are shown at its own lines and under its own keys", () => {
  const text = `cleveragents: { version: 1.0 }
agents:
  writer:
    type: llm
    config:
      provider_type: "two words"
      temprature: 1
routes:
  main:
    entrypoint: a
    nodes:
      a: { type: agent, agent: writer }
      b:
        type: router
        conditions: [{ check: "x ==", goto: a }]
    edges:
      - { source: a, target: b, condition: { context_value: x } }
`;
  expect(issuesOf(text).map(({ path, line, column }) => [path, line, column])).toEqual([
    ["agents.writer.config.provider_type", 6, 7],
    ["agents.writer.config.temprature", 7, 7],
    ["routes.main.nodes.b.conditions.0.check", 15, 24],
    ["routes.main.edges.0.condition.equals", 17, 33],
  ]);
});
