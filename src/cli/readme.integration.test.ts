import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { confinementHere } from "../confinement/availability.ts";
import { Agents, ROOT } from "./testing/agents.ts";
import { allowCommands } from "./testing/confinement.ts";
import { codeBlocks } from "./testing/typed-page.ts";

const confined = (await confinementHere()).kind !== "none";
const README = readFileSync(join(ROOT, "README.md"), "utf8");

function blocks(language: string, page = README): string[] {
  return codeBlocks(page, language);
}

test("what the README tells a new user to type works, and so do the primitives of the library on the same data", async () => {
  using agents = new Agents();
  const shell = blocks("sh").find((block) => block.includes("agents init"));
  const program = process.env["NODE_V8_COVERAGE"] === undefined ? "bin/agents" : "src/agents-program.ts";
  await allowCommands(agents);
  const environment = { ...process.env, ...agents.environment, CLEVERAGENTS_DATA_DIR: agents.dataDir };
  const script = `set -e\nagents() { "${process.execPath}" "${join(ROOT, program)}" "$@"; }\n${shell}`;
  const { stdout } = await promisify(execFile)("bash", ["-c", script], { cwd: agents.directory, env: environment });
  expect(stdout).toContain("+# Issue 42");
  expect(stdout).toContain("is applied: 2 files");
  expect(stdout).toMatch(/^\w+ Undo: Fix issue 42\n\w+ Say when\n\w+ Fix issue 42\n\w+ Open the shop$/m);
  expect(readdirSync(join(agents.directory, "demo"))).toEqual([".git", "README.md"]);
  expect(readFileSync(join(agents.directory, "demo/README.md"), "utf8")).toBe("# Shop\nOpen on Sundays.\n");
  expect(stdout).toContain("The entries of the audit log are unchanged");

  const [, primitives = "", definitions = ""] = blocks("ts", readFileSync(join(ROOT, "docs/library.md"), "utf8"));
  const doors = pathToFileURL(join(ROOT, "src/definitions.ts")).href;
  const parsing = agents.write(
    "definitions.ts",
    definitions.replace('"cleveragents/definitions"', JSON.stringify(doors)),
  );
  const parsed = await promisify(execFile)(process.execPath, [parsing]);
  expect(parsed.stdout).toMatch(/^name .*\ndescription .*\ndefinition_of_done /);
  const code = primitives
    .replace('"cleveragents/primitives"', JSON.stringify(pathToFileURL(join(ROOT, "src/primitives.ts")).href))
    .replace("sqlite:./plans.db", `sqlite:${agents.database}`);
  const file = agents.write("example.ts", `${code}\nconsole.log(answer, (await service.getPlan(plan.id)).state);\n`);
  const example = await promisify(execFile)(process.execPath, [file]);
  expect(example.stdout).toBe("42 complete\n");
});

// The session runs a command: where nothing can confine it, it is refused, and the session is another one.
test.runIf(confined)("the session in the README is what really happens", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, "scripts/transcript.ts")]);
  expect(blocks("console")).toEqual([stdout]);
});

test("without --yes, the README's request shows its strategy and names the command that continues", async () => {
  using agents = new Agents();
  const shell = blocks("sh").find((block) => block.includes("examples/health"));
  const program = process.env["NODE_V8_COVERAGE"] === undefined ? "bin/agents" : "src/agents-program.ts";
  const environment = { ...process.env, HOME: agents.directory, CLEVERAGENTS_DATA_DIR: agents.dataDir };
  const asking = shell?.replace(" --yes", "");
  const script = `set -e\nagents() { "${process.execPath}" "${join(ROOT, program)}" "$@"; }\n${asking}`;
  const { stdout } = await promisify(execFile)("bash", ["-c", script], { cwd: ROOT, env: environment });
  expect(stdout).toContain("Strategy: 2 steps");
  expect(stdout).toMatch(/next: agents plan execute \w+$/m);
});

test.runIf(confined)("the library example of the README does the same as its session", async () => {
  using agents = new Agents();
  const shell = blocks("sh").find((block) => block.includes("examples/health"));
  const setUp = shell?.replace(/^agents run .*$/m, "");
  const environment = { ...process.env, HOME: agents.directory, CLEVERAGENTS_DATA_DIR: agents.dataDir };
  const script = `set -e\nagents() { "${process.execPath}" "${join(ROOT, "src/agents-program.ts")}" "$@"; }\n${setUp}`;
  await promisify(execFile)("bash", ["-c", script], { cwd: ROOT, env: environment });

  const [library = ""] = blocks("ts");
  const code = library
    .replace('"cleveragents"', JSON.stringify(pathToFileURL(join(ROOT, "src/index.ts")).href))
    .replace("./agents-data", agents.dataDir);
  const file = agents.write("example.ts", `${code}\nconsole.log(patch);\n`);
  const health = join(agents.directory, "health");
  const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: health, env: environment });
  expect(stdout).toContain('+  return { status: 200, database: up ? "up" : "down" };');
  const log = await promisify(execFile)("git", ["log", "--format=%s"], { cwd: health });
  expect(log.stdout).toMatch(/^Undo: .*\n.*\nStart\n$/);
});

test("the README names the commands the test suite and CI run", () => {
  const ci = readFileSync(join(ROOT, ".ci/run"), "utf8");
  expect(README).toContain("npm ci && npm test");
  const commands = ci.split("\n").filter((line) => line.startsWith("npm "));
  expect(commands).toEqual(["npm ci && npm test", "npm run conformance -- codex pi mcp", "npm run coverage"]);
});
