/** The package as a program uses it: built, found by its name, without the command line. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { ROOT, type Started } from "../cli/testing/agents.ts";
import { beforeLanding, kill, reached, stageOf, until, type Mark } from "../cli/testing/disturbed-landing.ts";
import { LandingWorld } from "../cli/testing/landing-world.ts";
import { TestDirectory } from "../store/testing/fixtures.ts";
import { git, makeRepository } from "../testing/git-repository.ts";

const TRANSCRIPT = `turns:
  - match: { user: Decide how this is done }
    tool_calls:
      - tool: record_strategy
        parameters: { steps: [{ id: greet, description: Write a greeting, complexity: low, risk: 0.1, confidence: 0.9 }] }
  - match: { user: 'step "greet"' }
    tool_calls: [{ tool: write_file, parameters: { path: hello.txt, content: "hello\\n" } }]
  - match: { user: 'step "greet"', tool: write_file }
    text: There is a greeting now.
`;

/** A directory from which `import "cleveragents"` finds the built package. */
function withPackage(directory: string): string {
  mkdirSync(join(directory, "node_modules"), { recursive: true });
  symlinkSync(ROOT, join(directory, "node_modules/cleveragents"));
  writeFileSync(join(directory, "package.json"), '{ "type": "module" }');
  return directory;
}

test("a program of at most 20 lines takes a request to a plan, a diff, an apply and an undo", async () => {
  await using directory = await TestDirectory.make();
  const program = join(withPackage(directory.path), "request-to-undo.js");
  const example = join(ROOT, "examples/library/request-to-undo.js");
  expect(readFileSync(example, "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(20);
  copyFileSync(example, program);
  const repository = makeRepository(directory.file("repository"));
  for (const [key, value] of Object.entries({ name: "Ann", email: "ann@example.org" }))
    git(repository, "config", `user.${key}`, value);
  writeFileSync(directory.file("transcript.yaml"), TRANSCRIPT);
  const words = [program, directory.file("data"), repository, directory.file("transcript.yaml")];
  const { stdout } = await promisify(execFile)(process.execPath, words, {
    env: { PATH: process.env["PATH"], HOME: directory.path },
  });
  expect(stdout).toContain("+++ b/hello.txt\n@@ -0,0 +1 @@\n+hello\n");
  expect(stdout).toContain("{ applied: true, undone: true }");
  expect(git(repository, "log", "--format=%s")).toMatch(/^Undo: .*\n.*\nFirst\n$/);
  expect(git(repository, "status", "--porcelain")).toBe("");
  expect(git(repository, "ls-files")).toBe("README\n");
});

test("an error of one door is an instance of the class that another door exports", async () => {
  const [root, primitives, definitions] = await Promise.all(
    ["index", "primitives", "definitions"].map(
      async (door) => (await import(join(ROOT, `dist/${door}.js`))) as Readonly<Record<string, unknown>>,
    ),
  );
  expect(root?.["AgentsError"]).toBeTypeOf("function");
  expect(primitives?.["AgentsError"]).toBe(root?.["AgentsError"]);
  expect(definitions?.["ValidationError"]).toBe(root?.["ValidationError"]);
});

const APPLY = `import { openCleverAgents } from "cleveragents";
const agents = await openCleverAgents({ dataDir: process.argv[2] });
await agents.run("plan.apply", { plan: process.argv[3] });`;
const ONLY_OPEN = `import { openCleverAgents } from "cleveragents";
await using agents = await openCleverAgents({ dataDir: process.argv[2] });`;

/** The points of an apply at which it is killed: from the journal on, the next one who opens has to decide. */
const KILLED_AT: readonly Mark[] = ["journaled", "branch moved", "checkout files", "directory files"];

let world: LandingWorld;
let programs: TestDirectory;

beforeAll(async () => {
  world = await LandingWorld.build();
  programs = await TestDirectory.make();
  withPackage(programs.path);
  writeFileSync(programs.file("apply.js"), APPLY);
  writeFileSync(programs.file("only-open.js"), ONLY_OPEN);
  return async () => {
    world[Symbol.dispose]();
    await programs[Symbol.asyncDispose]();
  };
}, 60_000);

function start(program: string): Started {
  const { dataDir, environment } = world.agents;
  const child = spawn(process.execPath, [programs.file(program), dataDir, world.planId], {
    env: { ...process.env, ...environment },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const finished = once(child.stdout.resume(), "close").then(() => ({ code: child.exitCode, stdout: "", stderr }));
  return { child, finished };
}

test.each(KILLED_AT)(
  "killed in an apply at '%s', the next program that only opens finds before or after",
  async (mark) => {
    world.restore("executed");
    const looks = { before: world.look(), branch: beforeLanding(world) };
    {
      using watch = world.watch();
      const started = start("apply.js");
      await until(() => reached(mark, world, looks.branch, watch.journal), started);
      const { stderr } = await kill(started, false);
      expect(stderr).toBe("");
    }
    expect(stageOf(world, looks.branch)).not.toBe("started");
    expect((await start("only-open.js").finished).stderr).toBe("");
    expect(world.leftovers()).toEqual([]);
    const after = world.look();
    const { state } = (await world.agents.json("plan", "status", world.planId)).data;
    if (state === "applied") expect(after).not.toEqual(looks.before);
    else expect(after).toEqual(looks.before);
    expect((await world.agents.json("audit", "verify")).exit_code).toBe(0);
  },
);
