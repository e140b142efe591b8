/** Actors with models and graphs through the command line: added, shown, defaulted, asked and removed. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agents } from "./testing/agents.ts";

const TRANSCRIPT = `turns:
  - match: { system: You review, user: first }
    text: "FAIL: too short"
    times: always
    usage: { input_tokens: 5, output_tokens: 2 }
  - match: { system: You review, user: second }
    text: PASS
    times: always
  - match: { user: too short }
    text: the second text
  - match: { user: health }
    text: the first text
    usage: { input_tokens: 10, output_tokens: 3 }
  - match: { system: Be brief, user: lease }
    text: One owner.
    times: always
  - match: { user: lease }
    text: A lease is held by one owner.
    times: always
`;

const THINKER = `name: thinker
type: llm
description: Thinks briefly
model: scripted/transcript
system_prompt: Be brief.
options: { temperature: 0.2 }
tools: [read_file, git-diff]
`;

const SEVERAL = `cleveragents: { default_actor: careful }
actors:
  reviewer:
    type: llm
    config: { provider: scripted, model: transcript, system_prompt: You review. }
routes:
  careful:
    provider: scripted
    model: transcript
    entrypoint: write
    exitpoints: [done]
    nodes:
      write: { type: agent, prompt: "{goal} {review}", output_key: text }
      review: { type: agent, agent: reviewer, prompt: "{text}" }
      decide:
        type: router
        conditions: [{ check: '"PASS" in review', to: done }, { to: write }]
      done: { type: function, function: concat, input: { keys: [text, review], separator: ": " } }
    edges: [{ source: write, target: review }, { source: review, target: decide }]
`;

async function scripted(): Promise<Agents> {
  const agents = new Agents();
  agents.write("answers.yaml", TRANSCRIPT);
  await agents.json("config", "set", "provider.scripted.transcript", join(agents.directory, "answers.yaml"));
  return agents;
}

test("an actor with a model is added, listed, shown and asked; what the caller says counts more", async () => {
  using agents = await scripted();
  agents.write("thinker.yaml", THINKER);
  const added = await agents.json("actor", "add", "--config", "thinker.yaml");
  expect(added.data).toMatchObject({
    actor_added: { name: "local/thinker", type: "llm", builtin: false, model: "scripted/transcript" },
    actors_added: ["local/thinker"],
  });
  const shown = await agents.json("actor", "show", "thinker");
  expect(shown.data).toMatchObject({
    actor_details: { name: "local/thinker", system_prompt: "Be brief.", version: 1 },
    options: { temperature: 0.2, max_output_tokens: null, top_p: null, base_url: null },
    graph_structure: null,
    tools: ["read_file", "git_diff"],
    access: { unsafe: false, filesystem: "read", network: "model endpoint" },
    usage: { referenced_by_actions: [], referenced_by_graphs: [] },
  });
  expect((await agents.run(["actor", "show", "thinker", "--format", "plain"])).stdout).toMatch(
    /system prompt.*Be brief/,
  );
  expect((await agents.run(["actor", "run", "thinker", "what is a lease?"])).stdout).toBe("One owner.\n");
  const other = await agents.json("actor", "run", "thinker", "what is a lease?", "--system", "At length.");
  expect(other.data).toMatchObject({
    actor_run: { actor: "local/thinker", type: "llm", answered_by: "scripted/transcript" },
    response: "A lease is held by one owner.",
    usage: { model_calls: 1, tool_calls: 0 },
  });
  expect(await agents.json("actor", "run", "thinker", "hello", "--top-p", "2")).toMatchObject({ exit_code: 2 });
  const elsewhere = await agents.json("actor", "run", "thinker", "hello", "--model", "nowhere/m");
  expect(elsewhere).toMatchObject({ exit_code: 1, error: { code: "CONFIGURATION", kept: "Nothing was sent." } });
});

test("a model by itself is shown like an actor, never stored, and can be neither removed nor shadowed", async () => {
  using agents = await scripted();
  const shown = await agents.json("actor", "show", "scripted/transcript");
  expect(shown.data).toMatchObject({
    actor_details: { name: "scripted/transcript", builtin: true, provider: "scripted", model: "transcript" },
    tools: null,
  });
  expect(await agents.json("actor", "remove", "scripted/transcript", "--yes")).toMatchObject({
    exit_code: 2,
    error: { message: expect.stringContaining("cannot be removed"), kept: "Nothing was changed." },
  });
  agents.write("shadow.yaml", THINKER.replace("name: thinker", "name: scripted/transcript"));
  const shadow = await agents.json("actor", "add", "--config", "shadow.yaml");
  expect(shadow).toMatchObject({ exit_code: 2, error: { message: expect.stringContaining("belongs to the models") } });
  expect(await agents.json("actor", "show", "openai/gpt-4o")).toMatchObject({ error: { code: "CONFIGURATION" } });
  expect(await agents.json("actor", "show", "scritped/transcript")).toMatchObject({
    exit_code: 3,
    error: { suggestions: ["agents actor show scripted/transcript"] },
  });
});

test("a file of several actors is added whole, and its graph is asked", async () => {
  using agents = await scripted();
  agents.write("several.yaml", SEVERAL);
  const added = await agents.json("actor", "add", "--config", "several.yaml");
  expect(added.data["actors_added"]).toEqual(["local/careful", "local/reviewer"]);
  const shown = await agents.json("actor", "show", "careful");
  expect(shown.data).toMatchObject({
    actor_details: { type: "graph" },
    graph_structure: {
      nodes: [
        { id: "write", type: "llm", output_key: "text" },
        { id: "review", type: "llm", actor_ref: "local/reviewer", output_key: "review" },
        {
          id: "decide",
          type: "conditional",
          conditions: [
            { check: '"PASS" in review', to: "done" },
            { check: null, to: "write" },
          ],
        },
        { id: "done", type: "function" },
      ],
      edges: [
        { from: "write", to: "review", condition: null },
        { from: "review", to: "decide", condition: null },
      ],
      entry: "write",
      exits: ["done"],
      limits: { max_visits: 25, max_rounds: 200 },
    },
    access: { filesystem: "none" },
  });
  expect((await agents.run(["actor", "show", "careful", "--format", "plain"])).stdout).toMatch(
    /decide.*done if "PASS" in review/,
  );
  const asked = await agents.json("actor", "run", "careful", "the health endpoint");
  expect(asked.data).toMatchObject({
    actor_run: { actor: "local/careful", type: "graph", answered_by: "scripted/transcript" },
    response: "the second text: PASS",
    usage: { input_tokens: 15, output_tokens: 5, model_calls: 4, cost_usd: 0 },
    graph: { visits: { write: 2, review: 2, decide: 2, done: 1 } },
  });
  expect((await agents.json("actor", "remove", "reviewer", "--yes")).error).toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining("needed by the graph local/careful"),
  });
  const again = await agents.json("actor", "add", "--config", "several.yaml");
  expect(again).toMatchObject({ exit_code: 4, error: { code: "ALREADY_EXISTS" } });
});

test("what is wrong with a file is said by line, and a tool actor is not asked", async () => {
  using agents = await scripted();
  agents.write(
    "bad.yaml",
    THINKER.replace("system_prompt", "sytem_prompt").replace("scripted/transcript", "${NO_MODEL}"),
  );
  const unset = await agents.json("actor", "add", "--config", "bad.yaml");
  expect(unset.error?.detail["issues"]).toMatchObject([{ path: "model", line: 4, column: 1 }]);
  const bad = await agents.run(["--format", "json", "actor", "add", "--config", "bad.yaml"], {
    env: { NO_MODEL: "a/b" },
  });
  expect(JSON.parse(bad.stdout)).toMatchObject({
    exit_code: 2,
    error: { detail: { issues: [{ path: "sytem_prompt", line: 5, suggestion: "system_prompt" }] } },
  });
  agents.write("tool.yaml", "name: tool\ntype: tool\ndescription: x\nsteps: [{ tool: git_status }]\n");
  await agents.json("actor", "add", "--config", "tool.yaml");
  expect(await agents.json("actor", "run", "tool", "hello")).toMatchObject({
    exit_code: 1,
    error: { message: expect.stringContaining("it asks no model"), kept: "Nothing was sent." },
  });
  const key = `sk-proj-${"a1B2".repeat(8)}`;
  agents.write("leaky.yaml", THINKER.replace("Be brief.", `Be brief ${key}`));
  const leaky = await agents.run(["actor", "add", "--config", "leaky.yaml"]);
  expect(leaky.code).toBe(2);
  expect(leaky.stdout + leaky.stderr).not.toContain(key);
  expect((await agents.json("actor", "list", "--namespace", "local")).data).toMatchObject({ summary: { custom: 1 } });
});

test("a default is kept for each role, shown, and used by plans whose action names none", async () => {
  using agents = await scripted();
  agents.write("thinker.yaml", THINKER);
  await agents.json("actor", "add", "--config", "thinker.yaml");
  agents.write("tool.yaml", "name: tool\ntype: tool\ndescription: x\nsteps: [{ tool: git_status }]\n");
  await agents.json("actor", "add", "--config", "tool.yaml");
  agents.write("open.yaml", "name: open\ndescription: x\ndefinition_of_done: x\n");
  agents.write("fixed.yaml", "name: fixed\ndescription: x\ndefinition_of_done: x\nexecution_actor: tool\n");
  await agents.json("action", "create", "--config", "open.yaml");
  await agents.json("action", "create", "--config", "fixed.yaml");
  await agents.json("project", "create", "shop");
  expect(await agents.json("plan", "use", "open", "shop")).toMatchObject({
    exit_code: 2,
    error: { suggestions: expect.arrayContaining(["agents actor set-default execution <actor>"]) },
  });
  expect((await agents.json("actor", "set-default", "Execution", "THINKER")).data).toMatchObject({
    role: "execution",
    actor: "local/thinker",
    previous: null,
  });
  await agents.json("actor", "set-default", "strategy", "scripted/transcript");
  expect((await agents.json("actor", "set-default", "review", "scripted/transcript")).error?.message).toContain(
    'There is no role "review"; there are strategy, execution.',
  );
  const actors = async (action: string, ...more: string[]) =>
    (await agents.json("plan", "use", action, "shop", ...more)).data["actors"];
  expect(await actors("open")).toMatchObject({
    execution: "local/thinker",
    strategy: "scripted/transcript",
  });
  expect(await actors("open", "--strategy-actor", "scripted/other.yaml")).toMatchObject({
    strategy: "scripted/other.yaml",
  });
  // The steps of a tool actor are its strategy.
  expect(await actors("fixed")).toMatchObject({
    execution: "local/tool",
    strategy: null,
  });
  const listed = await agents.json("actor", "list");
  expect(listed.data).toMatchObject({
    actors: [
      { name: "scripted/transcript", default_for: ["strategy"] },
      { name: "local/thinker", default_for: ["execution"] },
      { name: "local/tool", default_for: [] },
    ],
    defaults: { strategy: "scripted/transcript", execution: "local/thinker" },
  });
  expect(await agents.json("actor", "set-default", "strategy", "thniker")).toMatchObject({
    exit_code: 3,
    error: { suggestions: ["agents actor show local/thinker"] },
  });
  expect(await agents.json("actor", "set-default", "stratgy", "thinker")).toMatchObject({
    exit_code: 2,
    error: { suggestions: ["agents actor set-default strategy thinker"] },
  });
  expect(await agents.json("actor", "set-default", "strategy", "scripted//a place.yaml")).toMatchObject({
    exit_code: 2,
    error: { message: expect.stringContaining("cannot be a default") },
  });
  expect((await agents.json("config", "get", "actor.default.strategy")).data["value"]).toBe("scripted/transcript");
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("an actor with its own endpoint is asked only there, even if the environment names another endpoint", async () => {
  using agents = new Agents();
  await using own = await counting();
  await using elsewhere = await counting();
  Object.assign(agents.environment, {
    OPENAI_BASE_URL: elsewhere.url,
    OPENAI_API_KEY: "sk-test-0123456789abcdefghijklmnopqrstuvwxyz",
    ANTHROPIC_BASE_URL: elsewhere.url,
    HTTP_PROXY: elsewhere.url,
    HTTPS_PROXY: elsewhere.url,
  });
  await agents.json("config", "set", "provider.openai.fallbacks", "backup/m");
  await agents.json("config", "set", "provider.backup.base-url", elsewhere.url);
  agents.write(
    "private.yaml",
    `name: private\ntype: llm\ndescription: x\nprovider: openai\nmodel: m\noptions: { openai_api_base: "${own.url}" }\n`,
  );
  await agents.json("actor", "add", "--config", "private.yaml");
  const asked = await agents.json("actor", "run", "private", "our secret plan");
  expect(asked.data).toMatchObject({ response: "here", actor_run: { answered_by: "openai/m" } });
  expect(own.seen).toEqual([undefined]);
  expect((await agents.json("actor", "run", "private", "hello", "--provider", "backup")).error?.message).toContain(
    `is for ${own.url} alone`,
  );
  await own[Symbol.asyncDispose]();
  expect((await agents.json("actor", "run", "private", "our secret plan")).error?.code).toBe("MODEL_NETWORK");
  expect(elsewhere.seen).toEqual([]);
});

interface Counting extends AsyncDisposable {
  readonly url: string;
  /** The key of each request. */
  readonly seen: (string | undefined)[];
}

async function counting(): Promise<Counting> {
  const seen: (string | undefined)[] = [];
  const server: Server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    request.resume();
    const choice = { index: 0, delta: { role: "assistant", content: "here" }, finish_reason: "stop" };
    const chunk = { id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [choice] };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
