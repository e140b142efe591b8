import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { Agents, ROOT } from "./testing/agents.ts";

const README = readFileSync(join(ROOT, "README.md"), "utf8");

/** The code blocks of the README in one language, in order. */
function blocks(language: string): string[] {
  return [...README.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, code = ""]) => code);
}

test("what the README tells a new user to type works, and so does the library example after it", async () => {
  using agents = new Agents();
  const shell = blocks("sh").find((block) => block.includes("agents init"));
  const program = process.env["NODE_V8_COVERAGE"] === undefined ? "bin/agents" : "src/cli/main.ts";
  const environment = { ...process.env, CLEVERAGENTS_DATA_DIR: agents.dataDir };
  const script = `set -e\nagents() { "${process.execPath}" "${join(ROOT, program)}" "$@"; }\n${shell}`;
  const { stdout } = await promisify(execFile)("bash", ["-c", script], { cwd: agents.directory, env: environment });
  expect(stdout).toContain("+# Issue 42");
  expect(stdout).toContain("The audit log is complete and unchanged.");

  const [library = ""] = blocks("ts");
  const code = library
    .replace('"cleveragents"', JSON.stringify(pathToFileURL(join(ROOT, "src/index.ts")).href))
    .replace("sqlite:./plans.db", `sqlite:${agents.database}`);
  const file = agents.write("example.ts", `${code}\nconsole.log(answer, (await service.getPlan(plan.id)).state);\n`);
  const example = await promisify(execFile)(process.execPath, [file]);
  expect(example.stdout).toBe("42 complete\n");
});

test("the README names the commands the test suite and CI run", () => {
  const ci = readFileSync(join(ROOT, ".ci/run"), "utf8");
  expect(README).toContain("npm ci && npm test");
  expect(ci.trimEnd().split("\n").at(-1)).toBe("npm ci && npm test");
});
