/** Living with an installed program: is it well, is there a newer one, and how does it go away again? */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { runCli } from "./run-cli.ts";
import { Agents } from "./testing/agents.ts";
import { capturedIo } from "./testing/captured-io.ts";
import { typedTerminal } from "./testing/typed-terminal.ts";
import { World } from "./testing/world.ts";

interface Check {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly fixes: readonly string[];
}

async function findings(agents: Agents, ...words: string[]): Promise<ReadonlyMap<string, Check>> {
  const { data } = await agents.json("doctor", ...words);
  return new Map((data["checks"] as Check[]).map((check) => [check.name, check]));
}

test("doctor tries things, and each finding has what mends it", async () => {
  using agents = new Agents();
  for (const name of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"])
    agents.environment[name] = "";
  const first = await findings(agents);
  expect(first.get("data directory")).toMatchObject({ status: "warning", fixes: ["agents init"] });
  expect(first.get("model")).toMatchObject({ status: "warning", message: "No model is configured." });
  expect(first.get("model")?.fixes.join("\n")).toContain("agents config set provider.ollama.base-url");
  const { stdout: said } = await agents.run(["doctor"]);
  expect(said.split("\n").filter((line) => line === "next: agents init")).toHaveLength(1);
  await agents.json("init");
  const transcript = agents.write("transcript.yaml", "turns:\n  - text: OK\n");
  await agents.json("config", "set", "provider.scripted.transcript", transcript);
  const second = await findings(agents);
  expect(second.get("data directory")).toMatchObject({ status: "ok", fixes: [] });
  expect(second.get("model")?.message).toContain("asked by agents doctor --model");
  expect(readdirSync(agents.dataDir).filter((name) => name.includes("probe"))).toEqual([]);
  const asked = await findings(agents, "--model");
  expect(asked.get("model")).toMatchObject({ status: "ok", message: expect.stringMatching(/answered in \d/) });
  chmodSync(agents.dataDir, 0o755);
  expect((await findings(agents)).get("data directory")?.fixes).toEqual([`chmod 700 ${agents.dataDir}`]);
  const { stdout } = await agents.run(["diagnostics"]);
  expect(stdout).toContain(`next: chmod 700 ${agents.dataDir}`);
});

test("doctor sees a clock that went back behind what is recorded", async () => {
  using agents = new Agents();
  await agents.withPlan();
  expect((await findings(agents)).get("clock")?.status).toBe("ok");
  const database = new DatabaseSync(agents.database);
  database.exec(`UPDATE audit_entries SET at = at + 86400000`);
  database.close();
  expect((await findings(agents)).get("clock")).toMatchObject({ status: "warning", fixes: ["timedatectl status"] });
});

test("upgrade --check asks the registry that npm is configured with, and says when it cannot know", async () => {
  using agents = new Agents();
  const answers = { version: "99.1.0" as string | undefined };
  const registry = createServer((request, response) => {
    const { version } = answers;
    response.statusCode = version === undefined || !(request.url ?? "").includes("cleveragents") ? 404 : 200;
    const about = {
      name: "cleveragents",
      "dist-tags": { latest: version },
      versions: { [version ?? ""]: { name: "cleveragents", version } },
    };
    response.setHeader("content-type", "application/json").end(JSON.stringify(version === undefined ? {} : about));
  });
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  const address = registry.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  Object.assign(agents.environment, {
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_cache: join(agents.directory, "npm"),
    npm_config_update_notifier: "false",
  });
  const check = () => agents.json("upgrade", "--check");
  expect(await check()).toMatchObject({
    status: "ok",
    data: { newest: "99.1.0", is_newer: true, next_steps: ["npm install -g cleveragents@latest"] },
  });
  answers.version = "0.0.1";
  agents.environment["npm_config_cache"] = join(agents.directory, "npm-2");
  expect((await check()).data).toMatchObject({ newest: "0.0.1", is_newer: false, next_steps: [] });
  answers.version = undefined;
  agents.environment["npm_config_cache"] = join(agents.directory, "npm-3");
  const unknown = await check();
  expect(unknown).toMatchObject({ status: "warn", exit_code: 0, data: { newest: null, is_newer: null } });
  expect(unknown.messages[0]?.text).toContain("cannot be known");
  await new Promise((resolve) => registry.close(resolve));
  expect(await agents.json("upgrade")).toMatchObject({ exit_code: 2, error: { kept: "Nothing was changed." } });
});

test("uninstall removes what is ours after a yes, and nothing else", async () => {
  using agents = new Agents();
  await agents.json("init");
  await agents.withPlan();
  agents.write("data/mine.txt", "mine");
  const before = readdirSync(agents.dataDir).toSorted();
  const asked = await agents.json("uninstall");
  expect(asked).toMatchObject({ exit_code: 2, error: { suggestions: ["repeat the command with --yes"] } });
  const terminal = typedTerminal("n\n");
  const env = { CLEVERAGENTS_DATA_DIR: agents.dataDir };
  const io = { ...capturedIo({ env, cwd: agents.directory }), stdin: terminal.input, stderr: terminal.output };
  expect(await runCli(["uninstall"], io)).toBe(0);
  expect(terminal.seen()).toContain(`Remove all plans, settings and keys in ${agents.dataDir}`);
  expect(readdirSync(agents.dataDir).toSorted()).toEqual(before);
  const done = await agents.json("uninstall", "--yes");
  expect(done.data).toMatchObject({ declined: false, left: [join(agents.dataDir, "mine.txt")] });
  expect(readFileSync(join(agents.dataDir, "mine.txt"), "utf8")).toBe("mine");
  expect(readdirSync(agents.dataDir)).toEqual(["mine.txt"]);
});

test("uninstall never drops a plan's unapplied changes silently, nor touches the repository", async () => {
  using world = new World();
  const { agents, repository } = world;
  const plan = await world.plan("  - { tool: write_file, params: { resource: api, path: hello.txt, content: hi } }\n");
  for (let calls = 0; calls < 2; calls += 1) await agents.json("plan", "execute", plan);
  const files = readdirSync(repository);
  const refused = await agents.json("uninstall", "--yes");
  expect(refused).toMatchObject({ exit_code: 2, error: { kept: "Nothing was removed.", detail: { plans: [plan] } } });
  expect(refused.error?.message).toContain("plan 1 (");
  expect(existsSync(agents.database)).toBe(true);
  const done = await agents.json("uninstall", "--yes", "--discard");
  expect(done.data).toMatchObject({ declined: false, unapplied: [{ plan_id: plan }] });
  expect(existsSync(agents.dataDir)).toBe(false);
  expect(readdirSync(repository)).toEqual(files);
});

test("uninstall refuses a data directory that is a repository", async () => {
  using agents = new Agents();
  await agents.json("init");
  mkdirSync(join(agents.dataDir, ".git"));
  writeFileSync(join(agents.dataDir, "code.js"), "1");
  expect(await agents.json("uninstall", "--yes")).toMatchObject({
    exit_code: 2,
    error: { kept: "Nothing was removed." },
  });
  expect(existsSync(agents.database)).toBe(true);
});
