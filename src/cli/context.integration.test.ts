/** Context through the command line: packing, inspecting, simulating, policies, and the messages of errors. */
import { chmodSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TokenCounter } from "../context/tokens/token-counter.ts";
import { CodeWorld } from "./testing/code-world.ts";

const counter = new TokenCounter("o200k_base");

test("pack prints the text alone, within the budget to the token, the same each time", async () => {
  using world = new CodeWorld();
  const { agents, repository } = world;
  const words = ["context", "pack", "--budget", "1k", "where is the session", "validated?"];
  const first = await agents.run(words, { cwd: join(repository, "src") });
  expect([first.code, first.stderr]).toEqual([0, expect.stringContaining("code was indexed: ")]);
  expect(first.stdout).toContain("code:src/session.ts");
  expect(first.stdout).toContain("export function validateSession(token: string): boolean");
  expect(counter.count(first.stdout)).toBeLessThanOrEqual(1_000);
  const again = await agents.run(words, { cwd: repository });
  expect(again.stdout).toBe(first.stdout);
  expect(again.stderr).not.toContain("indexed");
  const { data } = await agents.json(...words, "--path", repository);
  expect(data).toMatchObject({
    question: "where is the session validated?",
    root: repository,
    text: first.stdout,
    budget: { available_budget: 1_000, used: counter.count(first.stdout), source: "override" },
    context: { tokens: counter.count(first.stdout), tokenizer: "o200k_base" },
  });
  const small = await agents.run([...words.slice(0, 3), "150", "validateSession", "--path", repository]);
  expect(counter.count(small.stdout)).toBeLessThanOrEqual(150);
});

test("a small directory is shown whole for any question", async () => {
  using world = new CodeWorld();
  const { agents } = world;
  const root = join(agents.directory, "two");
  mkdirSync(root);
  writeFileSync(join(root, "a.txt"), "one\n");
  writeFileSync(join(root, "b.js"), "exports.ping = async () => 200;\n");
  const files =
    "# two:a.txt (lines 1-1)\n```\none\n```\n# two:b.js (lines 1-1)\n```\nexports.ping = async () => 200;\n```\n";
  const { code, stdout } = await agents.run(["context", "pack", "what is this"], { cwd: root });
  expect(code).toBe(0);
  expect(stdout.endsWith(files)).toBe(true);
  const small = await agents.run(["context", "pack", "what is this", "--budget", "100"], { cwd: root });
  expect(small.stdout).toContain("exports.ping = async () => 200;");
  expect(counter.count(small.stdout)).toBeLessThanOrEqual(100);
});

test("secrets are masked in everything that is shown, and the budget is counted with the masks", async () => {
  using world = new CodeWorld();
  const { agents } = world;
  const root = join(agents.directory, "deploy");
  mkdirSync(root);
  const key = `AKIA${"Q7".repeat(8)}`;
  const line = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8z".repeat(3).slice(0, 64);
  const pem = ["-----BEGIN PRIVATE KEY-----", ...Array.from({ length: 30 }, () => line), "-----END PRIVATE KEY-----"];
  writeFileSync(
    join(root, "deploy.ts"),
    `/** Opens the bucket. */\nexport const bucketKey = "${key}";\nexport function openBucket(): string {\n  return bucketKey;\n}\n`,
  );
  writeFileSync(join(root, "bucket.txt"), ["The bucket is opened with", ...pem, "and closed by the guard."].join("\n"));
  const focus = ["--focus", "deploy.ts", "--focus", "bucket.txt"];
  const words = ["context", "pack", "--path", root, "--budget", "8k", ...focus, "bucketKey"];
  const { code, stdout, stderr } = await agents.run(words);
  expect([code, stderr]).toEqual([0, expect.stringContaining("Secrets in deploy:bucket.txt and 1 more are masked.")]);
  expect(stdout).toContain('export const bucketKey = "[masked: AWS key]";');
  expect(stdout).toContain("[masked: private key]");
  expect(stdout).not.toMatch(/AKIA|aB3dE5gH7jK9/);
  const { data } = await agents.json(...words);
  expect(data).toMatchObject({
    text: stdout,
    masked_files: ["deploy:bucket.txt", "deploy:deploy.ts"],
    context: { tokens: counter.count(stdout) },
  });
  expect(JSON.stringify(data)).not.toMatch(/AKIA|aB3dE5gH7jK9/);
});

test("what was shown to one who may see a value is not shown to one for whom it is a secret", async () => {
  using world = new CodeWorld();
  const { agents } = world;
  const root = join(agents.directory, "deploy");
  mkdirSync(root);
  writeFileSync(join(root, "greet.ts"), 'export const greeting = "wombats-like-tea-4711";\n');
  const words = ["context", "pack", "--path", root, "--budget", "8k", "greeting"];
  for (const time of ["first", "again"]) {
    const { stdout } = await agents.run(words);
    expect([time, stdout]).toEqual([time, expect.stringContaining("wombats-like-tea-4711")]);
    const masked = await agents.run(words, { env: { TEA_PASSWORD: "wombats-like-tea-4711" } });
    expect([time, masked.code, masked.stdout]).toEqual([time, 0, expect.stringContaining("[masked")]);
    expect(masked.stdout).not.toContain("wombats-like-tea");
  }
});

test("pack works in a plain directory, and takes a path from where the user is", async () => {
  using world = new CodeWorld();
  const { agents } = world;
  const plain = join(agents.directory, "plain directory");
  mkdirSync(join(plain, "deep"), { recursive: true });
  writeFileSync(join(plain, "deep/parser.py"), "def parse_wombat(text):\n    return text.split()\n");
  writeFileSync(join(plain, "deep/other.py"), "def nothing():\n    pass\n");
  const packed = await agents.run(["context", "pack", "parse_wombat"], { cwd: plain });
  expect([packed.code, packed.stdout]).toEqual([0, expect.stringContaining("def parse_wombat(text):")]);
  const focused = await agents.run(["context", "pack", "--focus", "token.ts#decodeToken"], {
    cwd: join(world.repository, "src"),
  });
  expect([focused.code, focused.stdout]).toEqual([0, expect.stringContaining("export function decodeToken")]);
});

test("pack says what is wrong instead of printing nothing", async () => {
  using world = new CodeWorld();
  const { agents, repository } = world;
  const pack = (...words: string[]): ReturnType<typeof agents.json> =>
    agents.json("context", "pack", "--path", repository, ...words);
  expect(await pack()).toMatchObject({ exit_code: 2, error: { code: "USAGE" } });
  const unmatched = await pack("zzyzx quux");
  expect(unmatched.messages).toContainEqual({
    level: "warning",
    text: expect.stringContaining('No word of "zzyzx quux" occurs in any file'),
  });
  const empty = join(agents.directory, "empty");
  mkdirSync(empty);
  const none = await agents.json("context", "pack", "--path", empty, "session");
  expect(none).toMatchObject({ exit_code: 3, error: { kept: "Nothing was printed." } });
  expect(none.error?.message).toContain('Nothing was found for "session" in 0 files');
  expect(await pack("--budget", "0", "session")).toMatchObject({
    exit_code: 3,
    error: { message: expect.stringContaining("no token") },
  });
  expect(await pack("--budget", "12", "session")).toMatchObject({
    exit_code: 3,
    error: { message: expect.stringContaining("larger --budget") },
  });
  expect(await pack("--focus", "src/sesion.ts")).toMatchObject({
    exit_code: 3,
    error: { message: expect.stringContaining("No visible file matches") },
  });
  expect(await pack("--budget", "lots", "session")).toMatchObject({ exit_code: 2 });
  expect(await pack("--strategy", "symbol-rnak", "session")).toMatchObject({
    exit_code: 3,
    error: { detail: { suggestion: "symbol-rank" } },
  });
  const away = await agents.json("context", "pack", "--path", join(agents.directory, "nowhere"), "session");
  expect(away).toMatchObject({ exit_code: 3, error: { message: expect.stringContaining("does not exist") } });
  const home = await agents.process(["context", "pack", "session", "--format", "json"], {
    cwd: agents.directory,
    env: { HOME: agents.directory },
  });
  expect(JSON.parse(home.stdout)).toMatchObject({ exit_code: 2, error: { code: "USAGE" } });
});

test("inspect and simulate tell what went in, by whom, and what was left out", async () => {
  using world = new CodeWorld();
  const { agents } = world;
  await world.project();
  const words = ["shop", "--query", "who validates sessions?", "--focus", "src/session.ts"];
  const { data, messages } = await agents.json("project", "context", "inspect", ...words);
  expect(messages).toContainEqual({ level: "info", text: expect.stringContaining("api was indexed: ") });
  expect(data).toMatchObject({
    inspection: {
      project: "local/shop",
      view: "default",
      focus: ["src/session.ts"],
      breadth: 2,
      depth: 3,
      depth_name: "full",
    },
    uko_graph: { root: "api:src/session.ts", root_depth_name: "full" },
    budget: {
      model_window: 128_000,
      response_reserve: 4_096,
      tool_definitions: 2_400,
      system_prompt: 1_200,
      available_budget: 120_304,
      source: "model window",
    },
    breakers: [],
  });
  expect(data["uko_graph"]).toMatchObject({
    edges: expect.arrayContaining([
      expect.objectContaining({ relation: "imports", target: "api:src/token.ts" }),
      expect.objectContaining({ relation: "imported_by", target: "api:src/server.ts" }),
      expect.objectContaining({ relation: "contains", target: "api:src/session.ts#validateSession" }),
    ]),
  });
  expect(data["gaps"]).toContainEqual(expect.objectContaining({ name: "semantic-embedding", kind: "backend" }));
  expect((data["trace"] as { stage: string }[]).map(({ stage }) => stage)).toHaveLength(9);
  const human = await agents.run(["project", "context", "inspect", ...words]);
  for (const text of ["Around src/session.ts", "Strategies", "symbol-rank", "Included", "Missing"])
    expect(human.stdout).toContain(text);

  const simulated = await agents.json("project", "context", "simulate", ...words, "--budget", "200");
  expect(simulated.messages[0]?.text).toBe("A simulation: nothing was changed but the index.");
  expect(simulated.data).toMatchObject({
    simulation: { project: "local/shop", budget: 200, budget_source: "override" },
    fusion_result: { budget_utilization: expect.any(Number) },
  });
  const fusion = simulated.data["fusion_result"] as Record<string, number>;
  expect(fusion["included_tokens"]).toBeLessThanOrEqual(200);
  expect(fusion["excluded_fragments"]).toBeGreaterThan(0);
  expect(simulated.data["strategy_results"]).toContainEqual(
    expect.objectContaining({ name: "symbol-rank", top: expect.arrayContaining([expect.any(Object)]) }),
  );
});

test("a policy decides what is seen; later views inherit it, and mistakes are told", async () => {
  using world = new CodeWorld();
  const { agents } = world;
  await world.project();
  const context = (...words: string[]): ReturnType<typeof agents.json> => agents.json("project", "context", ...words);
  const seen = async (...words: string[]): Promise<string[]> => {
    const { data } = await context("inspect", "shop", "--query", "validateSession", ...words);
    const { fragments } = data["context"] as { fragments: { provenance: { path: string } | null }[] };
    return [...new Set(fragments.map(({ provenance }) => provenance?.path ?? ""))].toSorted();
  };
  expect(await seen()).toEqual(expect.arrayContaining(["src/session.test.ts", "vendor/blob.min.js"]));
  await context("set", "shop", "--exclude", "*.min.js", "--exclude", "docs/", "--max-file-size", "512k");
  await context("set", "shop", "--view", "execute", "--exclude", "*.test.ts", "--budget", "9k", "--max-files", "none");
  const byDefault = await seen();
  expect(byDefault).toContain("src/session.test.ts");
  expect(byDefault).not.toContain("vendor/blob.min.js");
  expect(await seen("--view", "execute")).not.toContain("src/session.test.ts");
  expect((await context("show", "shop", "--view", "execute")).data).toEqual({
    project: "local/shop",
    customized: true,
    next_steps: ["agents project context inspect local/shop"],
    views: {
      execute: {
        include: { value: [], from: "built in" },
        exclude: { value: ["*.test.ts"], from: "execute" },
        max_file_size: { value: 524_288, from: "default" },
        max_total_size: { value: 52_428_800, from: "built in" },
        max_files: { value: null, from: "execute" },
        strategies: { value: null, from: "built in" },
        budget: { value: 9_000, from: "execute" },
      },
    },
  });
  expect((await context("inspect", "shop", "--view", "execute")).data["budget"]).toMatchObject({
    available_budget: 9_000,
    source: "policy",
  });
  expect((await context("set", "shop", "--view", "execute", "--clear")).exit_code).toBe(0);
  expect(await seen("--view", "execute")).toContain("src/session.test.ts");

  for (const [words, message] of [
    [["set", "shop"], "Nothing to set"],
    [["set", "shop", "--view", "excute", "--clear"], 'did you mean "execute"'],
    [["set", "shop", "--max-files", "0"], "at least 1"],
    [["set", "shop", "--max-file-size", "-5"], "at least 1"],
    [["set", "shop", "--budget", "none"], "number of tokens"],
    [["set", "shop", "--include", "../x"], '".."'],
    [["set", "shop", "--strategy", "nope"], "there is no strategy"],
    [["inspect", "shop", "--depth", "everything"], "There is no depth"],
    [["inspect", "shop", "--breadth", "11"], "from 0 to 10"],
  ] as const) {
    const { exit_code: code, error } = await context(...words);
    expect([code, error?.message]).toEqual([2, expect.stringContaining(message)]);
  }
  expect((await agents.json("audit", "verify")).exit_code).toBe(0);
});

test("an index that is behind, damaged, gone or never made is brought up to date, and it is said", async () => {
  using world = new CodeWorld();
  const { agents, repository } = world;
  await world.project();
  const texts = async (...words: string[]): Promise<string> => {
    const { messages, error } = await agents.json("project", "context", ...words);
    return [...messages.map(({ text }) => text), error?.message].join("\n");
  };
  const indexed = await agents.json("project", "context", "index", "shop");
  expect(indexed.data).toMatchObject({ project: "local/shop", files: 7, gaps: [] });
  expect(indexed.data["languages"]).toContainEqual(expect.objectContaining({ language: "typescript", files: 4 }));
  world.write("src/late.ts", "export const lateArrival = 1;\n");
  world.write("src/token.ts", "export function decodeToken(): void {}\n");
  world.remove("docs");
  expect(await texts("inspect", "shop", "--query", "lateArrival")).toContain(
    "The index of api was behind and is up to date again: 1 file changed, 1 added, 1 gone.",
  );
  const indexes = join(agents.dataDir, "index");
  const [name = ""] = readdirSync(indexes).filter((file) => /^[0-9a-f]{32}\.db$/.test(file));
  writeFileSync(join(indexes, name), "no database at all");
  expect(await texts("simulate", "shop", "--query", "lateArrival")).toContain("was rebuilt: it was damaged");
  expect(await texts("index", "shop", "--rebuild")).toContain("7 files of local/shop are indexed");

  renameSync(repository, `${repository}-elsewhere`);
  expect(await texts("inspect", "shop", "--query", "x")).toContain("does not exist");
  expect((await agents.json("project", "context", "inspect", "shop")).exit_code).toBe(3);
  await agents.json("project", "create", "empty");
  expect(await texts("inspect", "empty")).toContain('The project "local/empty" has no resource');
  expect(await texts("inspect", "shpo")).toContain('There is no project "local/shpo"');
});

test("what cannot be read is named", async () => {
  using world = new CodeWorld();
  const { agents } = world;
  await world.project();
  world.write("huge.ts", `// ${"x".repeat(1_200_000)}\n`);
  world.write("secret.ts", "export const secret = 1;\n");
  chmodSync(join(world.repository, "secret.ts"), 0);
  const { data } = await agents.json("project", "context", "index", "shop");
  const gaps = data["gaps"] as { path: string; reason: string }[];
  expect(gaps).toContainEqual({ resource: "api", path: "huge.ts", reason: expect.stringContaining("1 MiB") });
  // The root user can read everything.
  if (process.getuid?.() !== 0) expect(gaps.map(({ path }) => path)).toContain("secret.ts");
  expect((await agents.run(["context", "analyze", "shop"])).stdout).toContain("api:huge.ts");
});

test("analyze shows what there is, with and without a project", async () => {
  using world = new CodeWorld();
  const { agents, repository } = world;
  await world.project();
  const { data } = await agents.json("context", "analyze", "shop");
  expect(data).toMatchObject({ project: "local/shop", files: 7, tokenizer: "o200k_base", gaps: [] });
  expect(data["definitions"]).toMatchObject({ function: 3, interface: 1 });
  expect((data["largest"] as { path: string; tokens: number }[])[0]).toMatchObject({
    path: "vendor/blob.min.js",
    tokens: expect.any(Number),
  });
  expect(data["index_bytes"]).toBeGreaterThan(0);
  expect((await agents.json("context", "analyze", "--path", repository)).data).toMatchObject({
    project: null,
    files: 7,
  });
  expect((await agents.json("context", "analyze", "shop", "--path", repository)).exit_code).toBe(2);
});
