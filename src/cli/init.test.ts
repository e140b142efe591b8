/** The set-up: asked on a terminal, said at once by a program, and left out where neither is possible. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { plainServer } from "../actors/testing/model-world.ts";
import { runCli } from "./run-cli.ts";
import type { Envelope } from "./testing/agents.ts";
import { capturedIo } from "./testing/captured-io.ts";
import { typedAnswers } from "./testing/typed-terminal.ts";

/** Nothing answers at port 9. */
const NO_SERVER = { OLLAMA_HOST: "127.0.0.1:9" };
const KEY = "sk-ant-test-0123456789";

class SetUpWorld {
  readonly directory: string = mkdtempSync(join(tmpdir(), "cleveragents-init-"));
  readonly env: Record<string, string>;
  seen = "";

  constructor(env: Readonly<Record<string, string>>) {
    this.env = { ...NO_SERVER, CLEVERAGENTS_DATA_DIR: join(this.directory, "data"), ...env };
    onTestFinished(() => rmSync(this.directory, { recursive: true, force: true }));
  }

  get config(): string {
    return join(this.directory, "config.yaml");
  }

  /** Without answers there is no terminal. */
  async call(words: readonly string[], answers?: readonly string[], input = ""): Promise<Envelope> {
    const io = capturedIo({ env: this.env, cwd: this.directory, input });
    const args = ["--config-path", this.config, ...words, "--format", "json"];
    if (answers === undefined) await runCli(args, io);
    else {
      const terminal = typedAnswers(answers);
      await runCli(args, { ...io, stdin: terminal.input, stderr: terminal.output });
      this.seen = terminal.seen();
    }
    return JSON.parse(io.written.stdout) as Envelope;
  }

  async value(key: string): Promise<unknown> {
    return (await this.call(["config", "get", key])).data["value"];
  }

  credentials(): string {
    return readFileSync(join(this.directory, "data", "credentials.yaml"), "utf8");
  }
}

/** A server that speaks as Ollama does. */
async function ollama(answers: (response: ServerResponse) => void = saysOk): Promise<string> {
  const server = await plainServer((request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.endsWith("/models") === true) response.end(JSON.stringify({ data: [{ id: "qwen3" }] }));
    else if (request.url?.endsWith("/chat/completions") === true) answers(response);
    else response.writeHead(404).end();
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server.url;
}

function saysOk(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "qwen3", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  response.end(`${chunk({ role: "assistant", content: "OK" }, null)}${chunk({}, "stop")}data: [DONE]\n\n`);
}

test("without a terminal and without options, init makes files and asks nothing", async () => {
  const world = new SetUpWorld({});
  const made = await world.call(["init"]);
  expect(made).toMatchObject({ exit_code: 0, data: { set_up: null, created: ["data_dir", "config", "database"] } });
  expect(made.data["next_steps"]).toContain("agents project create <name>");
});

test("a person chooses a model, gives a key that is not shown, and a cap; the next time Enter keeps it all", async () => {
  const world = new SetUpWorld({});
  const done = await world.call(
    ["init"],
    ["999\n", "nowhere/else\n", "3\n", "not a key\n", `${KEY}\n`, "much\n", "2.50\n", "n\n"],
  );
  expect(done).toMatchObject({
    exit_code: 0,
    data: {
      set_up: {
        model: expect.stringMatching(/^anthropic\/claude-/),
        usable: true,
        budget_per_run: "2.50",
        left: false,
        test: { outcome: "skipped" },
        providers: [{ provider: "anthropic", by: "by its stored key" }],
        stored: ["actor.default.strategy", "actor.default.execution", "provider.anthropic.api-key", "budget.per-run"],
      },
    },
  });
  expect(world.seen).toContain("  1. openai/gpt-");
  expect(world.seen).toContain('There is no actor "nowhere/else".');
  expect(world.seen).toContain("(needs a key)");
  expect(world.seen).toContain("There is no number 999.");
  expect(world.seen).toContain("This cannot be the key: it must be a key without spaces");
  expect(world.seen).toContain('"much" cannot be used: it must be an amount of dollars');
  expect(world.seen).toMatch(/it costs at most \$0\.\d{4}\)\? \[Y\/n\]/);
  expect(world.seen + JSON.stringify(done)).not.toContain(KEY);
  expect(world.credentials()).toContain(KEY);
  expect(statSync(join(world.directory, "data", "credentials.yaml")).mode & 0o777).toBe(0o600);
  expect(readFileSync(world.config, "utf8")).not.toContain(KEY);
  expect((done.data["next_steps"] as string[]).some((step) => step.startsWith("agents run"))).toBe(true);
  const again = await world.call(["init"], ["\n", "\n", "n\n"]);
  expect(world.seen).toContain("The model is anthropic/claude-");
  expect(again.data["set_up"]).toMatchObject({ stored: [], budget_per_run: "2.50", left: false });
});

test("leaving at a question keeps what was answered before it, and says so", async () => {
  const world = new SetUpWorld({});
  const left = await world.call(["init"], ["openai/gpt-5\n", "\u0003"]);
  expect(left.data["set_up"]).toMatchObject({ left: true, model: "openai/gpt-5", usable: false });
  expect(left.messages.map(({ text }) => text)).toContain(
    "You left the set-up; kept: actor.default.strategy, actor.default.execution. agents init goes on from there.",
  );
  expect(await world.value("actor.default.execution")).toBe("openai/gpt-5");
  const early = new SetUpWorld({});
  const none = await early.call(["init"], []);
  expect(none.messages.map(({ text }) => text).join()).toContain("You left the set-up; nothing was stored.");
  const noModel = await early.call(["init"], ["\n", "\n"]);
  expect(noModel.data["set_up"]).toMatchObject({ model: null, usable: false, left: false, stored: [] });
});

test("a local server is found, chosen by Enter, stored and tested", async () => {
  const world = new SetUpWorld({ OLLAMA_HOST: await ollama() });
  const done = await world.call(["init"], ["\n", "\n", "\n"]);
  expect(world.seen).toMatch(/1\. ollama\/qwen3 \(at http:\/\/127\.0\.0\.1:\d+\/v1\)/);
  expect(world.seen).toContain("Ask ollama/qwen3 one short question to see that it works (on your machine)?");
  expect(done.data["set_up"]).toMatchObject({ model: "ollama/qwen3", usable: true, test: { outcome: "answered" } });
  expect(await world.value("provider.ollama.base-url")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  const plain = capturedIo({ env: world.env, cwd: world.directory });
  await runCli(["--config-path", world.config, "init", "--yes", "--no-test", "--format", "plain"], plain);
  expect(plain.written.stdout).toContain("ollama/qwen3");
  expect(plain.written.stdout).toContain("cap of a run");
});

test("a test that fails is told, and everything is kept", async () => {
  const host = await ollama((response) => void response.writeHead(400).end('{"error":{"message":"no such model"}}'));
  const world = new SetUpWorld({});
  await world.call(["config", "set", "provider.ollama.base-url", `${host}/v1`]);
  const done = await world.call(["init", "--model", "ollama/other", "--budget-per-run", "none"]);
  expect(done).toMatchObject({
    exit_code: 0,
    data: { set_up: { test: { outcome: "failed" }, budget_per_run: "none" } },
  });
  expect(done.messages.some(({ text }) => text.startsWith("ollama/other did not answer:"))).toBe(true);
  expect(await world.value("actor.default.execution")).toBe("ollama/other");
});

test("a program says it all at once: the variable of the key, or the key on standard input", async () => {
  const world = new SetUpWorld({ MY_KEY: KEY });
  await world.call(["config", "set", "actor.default.strategy", "openai/gpt-5"]);
  const done = await world.call(["init", "--model", "anthropic/claude-haiku-4-5", "--key-from", "MY_KEY", "--no-test"]);
  expect(done.data["set_up"]).toMatchObject({ usable: true, test: { outcome: "skipped" } });
  expect(done.data["set_up"]).toMatchObject({ providers: [{ provider: "anthropic", by: "by MY_KEY" }] });
  expect(await world.value("actor.default.strategy")).toBe("openai/gpt-5");
  expect(existsSync(join(world.directory, "data", "credentials.yaml"))).toBe(false);
  const other = new SetUpWorld({});
  const words = ["init", "--model", "openai/gpt-5", "--key", "-", "--no-test", "--budget-per-run", "5"];
  const piped = await other.call(words, undefined, `${KEY}\n`);
  expect(piped.data["set_up"]).toMatchObject({ usable: true, budget_per_run: "5" });
  expect(other.credentials()).toContain(KEY);
  expect(JSON.stringify(piped)).not.toContain(KEY);
});

test("values that cannot be used are errors, and a key needs a model", async () => {
  const world = new SetUpWorld({});
  expect(await world.call(["init", "--model", "x"])).toMatchObject({ exit_code: 3 });
  expect(await world.call(["init", "--model", "a b"])).toMatchObject({ exit_code: 2 });
  expect(await world.call(["init", "--budget-per-run", "much"])).toMatchObject({ exit_code: 2 });
  expect(await world.call(["init", "--key-from", "MISSING"])).toMatchObject({
    exit_code: 2,
    error: { message: expect.stringContaining("no model is chosen") },
  });
  writeFileSync(join(world.directory, "key"), "two words");
  const wrong = await world.call(["init", "--model", "openai/gpt-5", "--key", "key"]);
  expect(wrong.error?.message).toMatch(/^The key cannot be used/);
  expect(JSON.stringify(wrong)).not.toContain("two words");
  expect(await world.call(["init", "--key-from", "MISSING"])).toMatchObject({
    error: { message: 'The environment variable "MISSING" is not set.' },
  });
});

test("--yes takes the defaults: the first model of a provider that can be asked, and no question", async () => {
  const world = new SetUpWorld({ ANTHROPIC_API_KEY: KEY, OLLAMA_HOST: "not an address" });
  const done = await world.call(["init", "--yes", "--no-test"], []);
  expect(world.seen).toBe("");
  expect(done.data["set_up"]).toMatchObject({
    providers: [{ provider: "anthropic", by: "by ANTHROPIC_API_KEY" }],
    model: expect.stringMatching(/^anthropic\//),
    budget_per_run: "5",
  });
  const nothing = new SetUpWorld({ OLLAMA_HOST: "http://192.0.2.1:11434" });
  expect((await nothing.call(["init", "--yes"])).data["set_up"]).toMatchObject({ model: null, providers: [] });
});

test("an actor can be chosen; a price that is not known is said; a server that is silent is not waited for", async () => {
  const silent = await plainServer(() => undefined);
  onTestFinished(() => silent[Symbol.asyncDispose]());
  const world = new SetUpWorld({ OLLAMA_HOST: silent.url });
  writeFileSync(join(world.directory, "helper.yaml"), "name: helper\ntype: llm\ndescription: Helps\n");
  await world.call(["actor", "add", "--config", "helper.yaml"]);
  const chosen = await world.call(["init", "--model", "helper", "--no-test"]);
  expect(chosen.data["set_up"]).toMatchObject({ model: "local/helper", usable: true, providers: [] });
  await world.call(["config", "set", "provider.acme.base-url", "https://acme.example/v1"]);
  await world.call(["config", "set", "provider.acme.models", "large"]);
  const asked = await world.call(["init"], ["1\n", "\n", "no\n"]);
  expect(world.seen).toContain("1. acme/large (at https://acme.example/v1)");
  expect(world.seen).toContain("(its price is not known)? [Y/n]");
  expect(asked.data["set_up"]).toMatchObject({ model: "acme/large", test: { outcome: "skipped" } });
});
