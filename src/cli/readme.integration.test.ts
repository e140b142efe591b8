import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { confinementHere } from "../execution/confinement/here.ts";
import { COMMANDS } from "./commands.ts";
import { Agents, ROOT } from "./testing/agents.ts";
import { allowCommands } from "./testing/confinement.ts";

const confined = (await confinementHere()).kind !== "none";
const README = readFileSync(join(ROOT, "README.md"), "utf8");

/** The code blocks of the README in one language, in order. */
function blocks(language: string): string[] {
  return [...README.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, code = ""]) => code);
}

test("what the README tells a new user to type works, and so does the library example after it", async () => {
  using agents = new Agents();
  const shell = blocks("sh").find((block) => block.includes("agents init"));
  const program = process.env["NODE_V8_COVERAGE"] === undefined ? "bin/agents" : "src/cli/main.ts";
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

  const [library = ""] = blocks("ts");
  const code = library
    .replace('"cleveragents"', JSON.stringify(pathToFileURL(join(ROOT, "src/index.ts")).href))
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

test("what the README says about a request works offline", async () => {
  using agents = new Agents();
  const shell = blocks("sh").find((block) => block.includes("examples/health"));
  const program = process.env["NODE_V8_COVERAGE"] === undefined ? "bin/agents" : "src/cli/main.ts";
  const environment = { ...process.env, HOME: agents.directory, CLEVERAGENTS_DATA_DIR: agents.dataDir };
  const script = `set -e\nagents() { "${process.execPath}" "${join(ROOT, program)}" "$@"; }\n${shell}`;
  const { stdout } = await promisify(execFile)("bash", ["-c", script], { cwd: ROOT, env: environment });
  expect(stdout).toContain("Strategy: 2 steps");
  expect(stdout).toMatch(/next: agents plan execute \w+$/m);
});

test("the README names the commands the test suite and CI run", () => {
  const ci = readFileSync(join(ROOT, ".ci/run"), "utf8");
  expect(README).toContain("npm ci && npm test");
  expect(ci.trimEnd().split("\n").at(-1)).toBe("npm ci && npm test");
});

test("the README's table has every command, and no other", () => {
  const paths = COMMANDS.map(({ path }) => path);
  const groups = new Set(paths.flatMap((path) => path.split(" ").slice(0, -1)));
  const listed = new Set<string>();
  const [, table = ""] = README.split("## What you can do with it today");
  for (const row of table.split("\n").filter((line) => line.startsWith("| "))) {
    let group: string[] = [];
    for (const [, code = ""] of row.matchAll(/`([^`]+)`/g)) {
      const words = code.replace(/^agents /, "").split(" ");
      const verb = words.findIndex((word) => !groups.has(word));
      // "`action list`, `show`": what names no group is of the last one named.
      if (verb > 0) group = words.slice(0, verb);
      listed.add([...(code.startsWith("agents ") && verb === 0 ? [] : group), words[verb]].join(" "));
    }
  }
  expect([...listed].toSorted()).toEqual(paths.toSorted());
});
