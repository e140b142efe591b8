/** Definitions and settings without ceremony: replaced, given on the command line, removed, told where they are now. */
import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agents } from "./testing/agents.ts";
import { World } from "./testing/world.ts";

const WRITES = (path: string): string =>
  `  - { tool: write_file, params: { resource: api, path: "${path}", content: "hello {who}\\n" } }\n`;

function greeter(steps: string): string {
  return `name: greeter\ntype: tool\ndescription: greets\nsteps:\n${steps}`;
}

test("an actor is replaced while a plan has it; the plan keeps its steps until it decides again", async () => {
  using world = new World();
  const { agents } = world;
  const plan = await world.plan(WRITES("/not-allowed.txt"));
  expect(await agents.json("plan", "execute", plan)).toMatchObject({ status: "error" });
  agents.write("actor.yaml", greeter(WRITES("hello.txt")));
  const taken = await agents.json("actor", "add", "--config", "actor.yaml");
  expect(taken.error?.suggestions).toContain("agents actor add --config <file> --replace");
  const replaced = await agents.json("actor", "add", "--config", "actor.yaml", "--replace");
  expect(replaced).toMatchObject({
    exit_code: 0,
    data: { actor_added: { name: "local/greeter", version: 2 } },
    messages: [{ text: "Actor local/greeter replaced (version 2)." }],
  });
  // The plan's own steps are as they were decided on.
  const explained = await agents.json("plan", "explain", plan, "step-1");
  expect(JSON.stringify(explained.data)).toContain("/not-allowed.txt");
  await agents.json("plan", "revert", plan, "--yes");
  for (let calls = 0; calls < 2; calls += 1) await agents.json("plan", "execute", plan);
  expect((await agents.run(["plan", "diff", plan])).stdout).toContain("hello world");
  const types = (await agents.json("audit", "list")).data["entries"] as { type: string }[];
  expect(types.map(({ type }) => type)).toContain("actor.replaced");
});

test("an actor is not replaced by one that its plans cannot work with", async () => {
  using world = new World();
  const { agents } = world;
  await world.plan(WRITES("hello.txt"));
  agents.write("other.yaml", greeter(WRITES("{file}.txt")));
  const unfit = await agents.json("actor", "add", "--config", "other.yaml", "--replace");
  expect(unfit.error?.message).toContain("{file}, which the action");
  agents.write("model.yaml", "name: greeter\ntype: llm\ndescription: greets\nprovider: ollama\nmodel: qwen3\n");
  const model = await agents.json("actor", "add", "--config", "model.yaml", "--replace");
  expect(model).toMatchObject({ exit_code: 4, error: { kept: "Nothing was changed." } });
  expect(model.error?.suggestions[0]).toMatch(/^agents plan cancel /);
  expect((await agents.json("actor", "show", "greeter")).data).toMatchObject({ actor_details: { version: 1 } });
});

test("a run gives a tool actor its arguments, and needs no other words", async () => {
  using world = new World();
  const { agents, repository } = world;
  agents.write("actor.yaml", greeter(WRITES("{file}.txt").replace("resource: api, ", "")));
  await agents.json("actor", "add", "--config", "actor.yaml");
  const run = (...words: string[]) =>
    agents.run(["run", "--actor", "local/greeter", ...words, "--format", "json"], { cwd: repository });
  const done = JSON.parse((await run("--arg", "who=Ann", "--arg", "file=hello", "--yes")).stdout) as {
    data: { plan_id: string; outcome: string };
  };
  expect(done.data).toMatchObject({ applied: true });
  expect(readFileSync(join(repository, "hello.txt"), "utf8")).toBe("hello Ann\n");
  const listed = (await agents.json("plan", "list")).data["plans"] as { plan_id: string; request: string }[];
  expect(listed).toMatchObject([{ plan_id: done.data.plan_id, request: "greets (who=Ann, file=hello)" }]);
  for (const [words, message] of [
    [["--arg", "who=Ann", "--arg", "flie=x"], 'has no argument "flie" (it takes file, who) — did you mean "file"?'],
    [["--arg", "who=Ann"], "needs file"],
    [["--arg", "who"], '"who" does not name a value'],
  ] as const) {
    const refused = JSON.parse((await run(...words)).stdout) as { error: { message: string; kept: string } };
    expect(refused.error.message).toContain(message);
    expect(refused.error.kept).toBe("Nothing was written.");
  }
  expect(((await agents.json("plan", "list")).data["plans"] as unknown[]).length).toBe(1);
});

test("plan use -q prints the id alone, and every answer about a plan calls it plan_id", async () => {
  using agents = new Agents();
  await agents.withPlan();
  const { stdout } = await agents.run(["plan", "use", "fix-bug", "shop", "--arg", "issue=7", "-q"]);
  expect(stdout).toMatch(/^[0-9A-Z]{26}\n$/);
  const id = stdout.trim();
  const answers = await Promise.all(
    ["status", "errors", "tree", "diff", "artifacts", "budget", "guard"].map((word) => agents.json("plan", word, id)),
  );
  for (const { command, data, error } of answers) {
    if (error === undefined) expect([command, data["plan_id"]]).toEqual([command, id]);
  }
  const plans = (await agents.json("plan", "list")).data["plans"] as { plan_id: string }[];
  expect(plans.map((plan) => plan.plan_id)).toContain(id);
});

test("a setting is removed again, also a key and a misspelled one, and the default holds", async () => {
  using agents = new Agents();
  await agents.json("project", "create", "shop");
  const config = join(agents.dataDir, "config.yaml");
  const args = ["--config-path", config];
  const json = (...words: string[]) => agents.json(...words, ...args);
  await json("config", "set", "core.format", "plain");
  await json("config", "set", "core.automation-profile", "manual", "--project", "shop");
  await json("config", "set", "provider.openai.api-key", "sk-test-1234567890abcdef");
  const unset = await json("config", "unset", "core.format");
  expect(unset.data).toMatchObject({ removed: true, previous: "plain", value: "rich", level: "default" });
  expect((await json("config", "get", "core.format")).data).toMatchObject({ value: "rich", level: "default" });
  const key = await json("config", "unset", "provider.openai.api-key");
  expect(key.data).toMatchObject({ removed: true, value: null });
  expect(JSON.stringify(key)).not.toContain("1234567890");
  expect(readFileSync(join(agents.dataDir, "credentials.yaml"), "utf8")).not.toContain("sk-test");
  await json("config", "unset", "core.automation-profile", "--project", "shop");
  const text = readFileSync(config, "utf8");
  expect(text).toContain("# CleverAgents configuration.");
  expect(text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))).toEqual([]);
  const again = await json("config", "unset", "core.format");
  expect(again).toMatchObject({ status: "warn", exit_code: 0, data: { removed: false } });
  expect(await json("config", "unset", "core.fromat")).toMatchObject({
    exit_code: 2,
    error: { detail: { suggestion: "core.format" } },
  });
  agents.write("data/config.yaml", `${text}core.fromat: plain\n`);
  expect((await json("config", "unset", "core.fromat")).data).toMatchObject({ removed: true, previous: "plain" });
  const { stdout } = await agents.run(["config", "list", "--format", "plain", ...args]);
  expect(stdout).toContain("actor.default.strategy");
  const empty = await json("config", "set", "provider.ollama.base-url", "");
  expect(empty.error?.suggestions).toEqual(["agents config unset provider.ollama.base-url"]);
});

test("a repository that was moved is named again, and what a plan did there can be undone", async () => {
  using world = new World();
  const { agents, repository } = world;
  const plan = await world.plan(WRITES("hello.txt"));
  for (let calls = 0; calls < 2; calls += 1) await agents.json("plan", "execute", plan);
  const elsewhere = join(agents.directory, "elsewhere");
  const early = await agents.json("resource", "set", "api", "--path", repository);
  expect(early).toMatchObject({ exit_code: 0, data: { previous_path: repository } });
  expect((await agents.json("plan", "apply", plan, "--yes")).exit_code).toBe(0);
  renameSync(repository, elsewhere);
  const gone = await agents.json("plan", "undo", plan, "--yes");
  expect(gone.error?.suggestions).toContain("if it was moved: agents resource set <resource> --path <path>");
  mkdirSync(repository);
  world.git("init", "--quiet");
  world.commit("of another repository");
  agents.write("other.txt", "x");
  expect((await agents.json("resource", "set", "api", "--path", elsewhere)).data).toMatchObject({
    resource: { path: elsewhere, version: 2 },
  });
  const other = await agents.json("resource", "set", "api", "--path", repository);
  expect(other.error?.message).toContain("is another repository");
  expect((await agents.json("plan", "undo", plan, "--yes")).exit_code).toBe(0);
  expect(() => readFileSync(join(elsewhere, "hello.txt"))).toThrow("ENOENT");
  const next = await world.another();
  const busy = await agents.json("resource", "set", "api", "--path", agents.directory);
  expect(busy.exit_code).not.toBe(0);
  renameSync(elsewhere, `${elsewhere}-again`);
  const refused = await agents.json("resource", "set", "api", "--path", `${elsewhere}-again`);
  expect(refused).toMatchObject({ exit_code: 4, error: { suggestions: [`agents plan cancel ${next}`] } });
});
