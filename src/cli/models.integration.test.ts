import { readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { strictServer } from "../actors/testing/strict-server.ts";
import { makeRepository } from "../testing/git-repository.ts";
import { Agents } from "./testing/agents.ts";

/** `agents models`, `agents login`, and what `agents run` says of its model. */
interface JsonServer extends AsyncDisposable {
  readonly url: string;
  readonly asked: string[];
}

/** Answers each path with JSON; a path without an answer is not there. */
async function jsonServer(
  answers: (request: IncomingMessage, body: string) => { status?: number; json: unknown } | undefined,
): Promise<JsonServer> {
  const asked: string[] = [];
  const server = createServer((request, response: ServerResponse) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      asked.push(request.url ?? "");
      const { status = 200, json } = answers(request, body) ?? { status: 404, json: {} };
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("the list has the models of providers with a key; all of them when asked for", async () => {
  using agents = new Agents();
  agents.environment["ANTHROPIC_API_KEY"] = "sk-ant-for-tests";
  const { data } = await agents.json("models", "list");
  const models = data["models"] as { model: string; provider: string }[];
  expect(new Set(models.map(({ provider }) => provider))).toEqual(new Set(["anthropic"]));
  expect(models).toContainEqual({
    model: "anthropic/claude-sonnet-4-5",
    provider: "anthropic",
    context_window: 200_000,
    max_output_tokens: 64_000,
    price: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 },
    tools: true,
    images: true,
    reasoning: true,
    usable: true,
  });
  const all = (await agents.json("models", "list", "--all")).data["models"] as { model: string; usable: boolean }[];
  expect(all.find(({ model }) => model === "openai/gpt-5")).toMatchObject({ usable: false });
});

test("a refreshed list is kept and used, and a broken one changes nothing", async () => {
  let list: unknown = {
    anthropic: {
      id: "anthropic",
      models: {
        "claude-next": { tool_call: true, cost: { input: 4, output: 20 }, limit: { context: 500_000, output: 64_000 } },
      },
    },
  };
  await using server = await jsonServer(() => ({ json: list }));
  using agents = new Agents();
  agents.environment["ANTHROPIC_API_KEY"] = "sk-ant-for-tests";
  await agents.json("config", "set", "models.source", `${server.url}/api.json`);
  await agents.json("models", "list");
  expect(server.asked).toEqual([]);
  expect((await agents.json("models", "refresh")).data).toMatchObject({ providers: 1, models: 1 });
  const models = async (): Promise<unknown> => (await agents.json("models", "list")).data["models"];
  const next = expect.objectContaining({ model: "anthropic/claude-next", context_window: 500_000 });
  expect(await models()).toContainEqual(next);
  expect(await models()).toContainEqual(expect.objectContaining({ model: "anthropic/claude-sonnet-4-5" }));
  list = { error: "not today" };
  const { error } = await agents.json("models", "refresh");
  expect(error?.message).toContain("not a list of models");
  expect(await models()).toContainEqual(next);
});

test("an endpoint is asked for its own models, and Ollama for the window it serves them with", async () => {
  await using server = await jsonServer((request, body) => {
    if (request.url === "/v1/models") return { json: { object: "list", data: [{ id: "qwen3", object: "model" }] } };
    if (request.url !== "/api/show" || !body.includes("qwen3")) return undefined;
    return { json: { parameters: "temperature 0.6", model_info: { "qwen3.context_length": 40_960 } } };
  });
  using agents = new Agents();
  await agents.json("config", "set", "provider.ollama.base-url", `${server.url}/v1`);
  expect((await agents.json("models", "list")).data["models"]).toEqual([]);
  expect(server.asked).toEqual([]);
  const { data } = await agents.json("models", "list", "--ask");
  expect(data["models"]).toEqual([expect.objectContaining({ model: "ollama/qwen3", context_window: 4_096 })]);
});

test("a run says which model it asks and up to which cost, and warns of a small window", async () => {
  await using server = await strictServer({
    script: ({ tools }) =>
      tools.includes("record_strategy")
        ? { calls: [{ name: "record_strategy", input: { steps: [{ id: "a", description: "Look" }] } }] }
        : { text: "NOTHING TO DO: it is done." },
    other: (request, response) => {
      if (request.url !== "/api/show") return false;
      response
        .writeHead(200)
        .end(JSON.stringify({ parameters: "num_ctx 8192", model_info: { "q.context_length": 40_960 } }));
      return true;
    },
  });
  using agents = new Agents();
  const repository = makeRepository(join(agents.directory, "shop"));
  await agents.json("config", "set", "provider.ollama.base-url", `${server.url}/v1`);
  const words = ["run", "look", "--actor", "ollama/qwen3", "--budget", "2", "--automation-profile", "trusted"];
  const { stderr } = await agents.run(words, { cwd: repository });
  expect(stderr).toContain("model ollama/qwen3: at most $2.00\n");
  expect(stderr).toContain("ollama serves qwen3 with 8192 tokens of the 40960 it can read");
});

test("without any key a run names the next step, and with a provider but no model too", async () => {
  using agents = new Agents();
  const repository = makeRepository(join(agents.directory, "shop"));
  for (const name of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"]) agents.environment[name] = "";
  const none = await agents.run(["run", "look"], { cwd: repository });
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("export ANTHROPIC_API_KEY")]);
  agents.environment["OPENROUTER_API_KEY"] = "or-key-for-tests";
  const unnamed = await agents.run(["run", "look"], { cwd: repository });
  expect(unnamed.stderr).toContain("openrouter is configured, but not which of its models to ask");
  expect(unnamed.stderr).toContain("agents models list --provider openrouter --ask");
});

test("a login with Copilot by a code is kept in the private file, exchanged for tokens, and removed", async () => {
  let typed = 0;
  const exchanged: (string | undefined)[] = [];
  await using github = await jsonServer((request, body) => {
    if (request.url === "/login/device/code") {
      expect(JSON.parse(body)).toEqual({ client_id: "our-app", scope: "read:user" });
      const page = { verification_uri: "https://github.com/login/device", expires_in: 900, interval: 0 };
      return { json: { device_code: "device-1", user_code: "ABCD-1234", ...page } };
    }
    if (request.url === "/login/oauth/access_token") {
      typed += 1;
      return {
        json:
          typed < 3 ? { error: "authorization_pending" } : { access_token: "gho_theLoginOfTheUser0123456789abcdef" },
      };
    }
    if (request.url !== "/copilot_internal/v2/token") return undefined;
    exchanged.push(request.headers.authorization);
    return { json: { token: "short-token", expires_at: Date.now() / 1_000 + 1_500 } };
  });
  await using server = await strictServer({ script: () => ({ text: "Yes." }) });
  using agents = new Agents();
  const refused = await agents.json("login", "copilot");
  expect(refused.error?.suggestions.join("\n")).toContain("agents config set login.github-client-id");
  await agents.json("config", "set", "login.github-client-id", "our-app");
  await agents.json("config", "set", "login.github-url", github.url);
  await agents.json("config", "set", "login.github-api-url", github.url);
  await agents.json("config", "set", "provider.copilot.base-url", server.url);
  const { code, stderr } = await agents.run(["login", "copilot"]);
  expect([code, stderr]).toEqual([0, expect.stringContaining("type the code ABCD-1234")]);
  expect(typed).toBe(3);
  const file = join(agents.dataDir, "credentials.yaml");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).toContain("gho_theLoginOfTheUser");
  expect((await agents.json("login", "list")).data["logins"]).toEqual([{ provider: "copilot", logged_in: true }]);
  const asked = await agents.json("actor", "run", "copilot/gpt-5", "Is it so?");
  expect(asked.data["response"]).toBe("Yes.");
  expect(exchanged).toEqual(["token gho_theLoginOfTheUser0123456789abcdef"]);
  expect(server.log[0]?.headers["authorization"]).toBe("Bearer short-token");
  expect((await agents.json("logout", "copilot")).data).toMatchObject({ was_logged_in: true });
  expect(readFileSync(file, "utf8")).not.toContain("gho_");
  expect((await agents.json("login", "list")).data["logins"]).toEqual([{ provider: "copilot", logged_in: false }]);
});
