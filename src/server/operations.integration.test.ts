/** Operations over HTTP: the JSON of the command line, errors by the one table, and approvals that are exact. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withoutSteps } from "./testing/envelopes.ts";
import { ServerWorld } from "./testing/server-world.ts";

let server: ServerWorld;

beforeAll(async () => {
  server = await ServerWorld.start();
});
afterAll(() => server[Symbol.asyncDispose]());

describe("the same JSON as on the command line", () => {
  test.each([
    ["project.show", { project: "shop" }, ["project", "show", "shop"]],
    ["resource.list", {}, ["resource", "list"]],
    ["resource.type.show", { type: "git-checkout" }, ["resource", "type", "show", "git-checkout"]],
    ["automation-profile.show", { profile: "trusted" }, ["automation-profile", "show", "trusted"]],
    ["config.get", { key: "core.automation-profile" }, ["config", "get", "core.automation-profile"]],
  ])("%s", async (operation, body, words) => {
    const { status, envelope } = await server.post(operation, body);
    const { data, command } = await server.world.agents.json(...words);
    expect(status).toBe(200);
    expect(envelope.command).toBe(command);
    expect(withoutSteps(envelope.data)).toEqual(withoutSteps(data));
  });

  test.each([
    ["plan.status", { plan: "01JZZZZZ" }, ["plan", "status", "01JZZZZZ"], 404],
    [
      "resource.add",
      { type: "git-checkout", resource: "api", path: "/" },
      ["resource", "add", "git-checkout", "api", "--path", "/"],
      422,
    ],
    ["project.create", { project: "shop" }, ["project", "create", "shop"], 409],
    ["config.set", { key: "core.nothing", value: "1" }, ["config", "set", "core.nothing", "1"], 400],
  ])("the error of %s", async (operation, body, words, http) => {
    const { status, envelope } = await server.post(operation, body);
    const { error, exit_code } = await server.world.agents.json(...words);
    expect([status, envelope.exit_code]).toEqual([http, exit_code]);
    const { suggestions: _, ...rest } = envelope.error ?? { suggestions: [] };
    const { suggestions: __, ...wanted } = error ?? { suggestions: [] };
    expect(rest).toEqual(wanted);
  });

  test("a notice of an operation is a message of the answer, and a next step a request", async () => {
    const plan = await server.executed("notice.txt");
    const { envelope } = await server.post("plan.errors", { plan: "last", directory: server.world.repository });
    expect(envelope.messages).toEqual([{ level: "info", text: expect.stringContaining("Plan ") }]);
    const missing = await server.post("actor.show", { actor: "local/nothing" });
    expect(missing.envelope.error?.suggestions).toContain("POST /api/v1/operations/actor.list");
    const shown = await server.post("plan.status", { plan });
    expect(JSON.stringify(shown.envelope.data["next_steps"])).toContain(
      `POST /api/v1/operations/plan.apply {\\"plan\\":\\"${plan}\\"}`,
    );
  });
});

describe("inputs", () => {
  test("a reading operation takes its input from the query too", async () => {
    const one = await server.get("/api/v1/operations/plan.list?limit=1&here=false&state=complete");
    expect(one.status).toBe(200);
    expect(one.envelope.data["filters"]).toMatchObject({ state: "complete" });
    const many = await server.get(
      "/api/v1/operations/project.context.inspect?project=shop&focus=api:a.txt&focus=notes:notes.txt&breadth=1",
    );
    expect(many.status).toBe(200);
  });

  test.each([
    ["plan.list?limit=many", "limit must be a number"],
    ["plan.list?limit=1&limit=2", "limit is given twice"],
    ["plan.list?here=yes", "here must be true or false"],
    ["plan.list?nothing=1", "nothing is not a parameter"],
    ["plan.list?state=lost", "state: "],
    ["action.list?namespace=%00", "namespace has a NUL character"],
  ])("GET %s is refused: %s", async (query, message) => {
    const { status, envelope } = await server.get(`/api/v1/operations/${query}`);
    expect(status).toBe(400);
    expect(envelope.error?.message).toContain(message);
  });

  test.each([
    ["plan.list", { Limit: 1 }, "Limit: is not a key of this input (did you mean"],
    ["plan.guard", { plan: "01J", maxCalls: 1 }, 'maxCalls: is not a key of this input (did you mean "max_calls"?)'],
    ["plan.guard", { plan: "01J", max_calls: "many" }, "max_calls: "],
    ["plan.guard", { plan: "01J", deny_tools: [1] }, "deny_tools.0: "],
    [
      "tool.add",
      { definition: { txt: "name: x" } },
      'definition.txt: is not a key of this input (did you mean "text"?)',
    ],
    ["session.list", { directory: "/nowhere/at/all" }, "directory must be a directory on the server's machine"],
    ["session.list", { directory: `/${"a".repeat(5_000)}` }, "directory must be a directory on the server's machine"],
    ["session.list", { directory: "here" }, "directory must be an absolute path on the server's machine"],
    ["resource.set", { resource: "api", path: "../x" }, "path must be an absolute path on the server's machine"],
    ["plan.export", { plan: "01J", patch: "/a\0b" }, "has half a surrogate pair or a NUL character"],
    ["plan.apply", { plan: "01J", approve: "yes" }, "approve must be true or false"],
    ["plan.apply", { plan: "01J", __proto__: null, seen_version: 1.5 }, "seen_version a whole number"],
  ])("%s refuses %j: %s", async (operation, body, message) => {
    const { status, envelope } = await server.post(operation, body);
    expect(status).toBe(400);
    expect(envelope.error?.message).toContain(message);
  });

  test("the keys of a caller's own data stay as they are", async () => {
    const action =
      "name: keep-keys\ndescription: Keep {someKey}\ndefinition_of_done: done\nexecution_actor: local/x\narguments:\n  - { name: someKey }\n";
    expect((await server.post("action.create", { definition: { text: action } })).status).toBe(200);
    const used = await server.post("plan.use", {
      action: "keep-keys",
      projects: ["shop"],
      directory: server.world.repository,
      arguments: { someKey: "a" },
      strategy_actor: "local/actor-1",
      execution_actor: "local/actor-1",
    });
    expect(used.envelope.error).toBeUndefined();
    expect(used.envelope.data["inputs"]).toEqual({ someKey: "a" });
  });
});

describe("questions", () => {
  test("without an approval nothing is changed, and the answer has the question, the preview and the version", async () => {
    const plan = await server.executed("asked.txt");
    const before = server.world.everything();
    const { status, envelope } = await server.post("plan.apply", { plan });
    expect(status).toBe(409);
    expect(envelope.error).toMatchObject({
      code: "AWAITING_INPUT",
      message: "Apply 1 file (+1 −0)?",
      kept: "Nothing was changed.",
      detail: { question: "confirm", shown: [{ kind: "landings", output: { landings: [{ resource: "api" }] } }] },
    });
    const version = Number(envelope.error?.detail["seen_version"]);
    expect(envelope.error?.suggestions).toEqual([
      `repeat the request with "approve": true and "seen_version": ${version}`,
    ]);
    expect(server.world.everything()).toEqual(before);

    const stale = await server.post("plan.apply", { plan, approve: true, seen_version: version - 1 });
    expect([stale.status, stale.envelope.error?.code]).toEqual([409, "CONFLICT"]);
    expect(server.world.everything()).toEqual(before);

    const applied = await server.post("plan.apply", { plan, approve: true, seen_version: version });
    expect([applied.status, applied.envelope.data["state"]]).toEqual([200, "applied"]);
    expect(server.world.read("asked.txt")).toBe("new\n");
  });

  test("the audit log names the token that approved", async () => {
    const plan = await server.executed("audited.txt");
    const token = await server.newToken("editor");
    await server.post("plan.apply", { plan, approve: true }, { token });
    const { envelope } = await server.post("audit.list", { plan, limit: 1 });
    const [, id] = token.split("_");
    expect(JSON.stringify(envelope.data)).toContain(`a editor (token ${id})`);
  });

  test("an operation that goes as far as it may stops where a yes is missing", async () => {
    const plan = await server.executed("told.txt");
    const { status, envelope } = await server.post("run", {
      directory: server.world.repository,
      project: "shop",
      continue: true,
    });
    expect(envelope.error).toBeUndefined();
    expect([status, envelope.data["plan_id"], envelope.data["state"]]).toEqual([200, plan, "complete"]);
  });

  test("a question that a review would ask is not asked, and the review is shown", async () => {
    const plan = await server.executed("reviewed.txt");
    const { status, envelope } = await server.post("plan.review", { plan });
    expect([status, envelope.error]).toEqual([200, undefined]);
  });

  test("a definition is shown before it is used, without a plan and its version", async () => {
    const { status, envelope } = await server.post("resource.remove", { resource: "api" });
    expect([status, envelope.error?.code]).toEqual([409, "AWAITING_INPUT"]);
    expect(envelope.error?.suggestions).toEqual(['repeat the request with "approve": true']);
  });
});

test("of a hundred approvals of one plan at once, one is carried out and ninety-nine are conflicts", async () => {
  const plan = await server.executed("once.txt");
  const { envelope } = await server.post("plan.status", { plan });
  const seen = Number(envelope.data["version"]);
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => server.post("plan.apply", { plan, approve: true, seen_version: seen })),
  );
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([200, ...Array.from({ length: 99 }, () => 409)]);
  expect(server.world.git("log", "--oneline", "--", "once.txt").trim().split("\n")).toHaveLength(1);
});
