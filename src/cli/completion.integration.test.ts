/**
 * Completion in the shells themselves, on a terminal: a person types the beginning of a word and Tab, then Enter; the
 * program that the shell starts says which words it got.
 */
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Agents, ROOT, type Started } from "./testing/agents.ts";
import { noTerminal, onTerminal, Person } from "./testing/pseudo-terminal.ts";

const SHELLS = {
  bash: ["bash", "--norc", "--noprofile", "-i"],
  zsh: ["zsh", "-f", "-i"],
  fish: ["fish", "--no-config", "-i"],
} as const;
/** A question to a shell that just started; the answer shows that it has the completion. */
const ASKED = {
  bash: ["-i", "-c", "complete -p agents"],
  zsh: ["-i", "-c", "print -r $_comps[agents]"],
  fish: ["-c", "complete -C 'agents plan ap'"],
} as const;
const GREETER = "name: greeter\ntype: tool\ndescription: greets\nsteps: [{ tool: git_status }]\n";

const CASES: readonly (readonly [typed: string, ran: string])[] = [
  ["plan ap\t", "plan apply"],
  ["plan diff \t", "plan diff 1"],
  ["plan diff --sta\t", "plan diff --stat"],
  ["config get core.f\t", "config get core.format"],
  ["actor show local/gr\t", "actor show local/greeter"],
  ["plan list --project loc\t", "plan list --project local/shop"],
  ["actor add --config gree\t", "actor add --config greeter.yaml"],
  ["--format js\tplan list", "--format json plan list"],
  ["resource add git\t", "resource add git-checkout"],
];

function without(shell: string): string | undefined {
  const { error } = spawnSync(shell, ["-c", "exit 0"]);
  return error === undefined ? noTerminal() : `there is no ${shell} here`;
}

/** The directory of a program that completes as ours does and otherwise writes down what it was given. */
function programsOf(agents: Agents): string {
  const programs = join(agents.directory, "programs");
  mkdirSync(programs, { recursive: true });
  const program = join(programs, "agents");
  const real = `'${process.execPath}' '${join(ROOT, "src/agents-program.ts")}'`;
  writeFileSync(
    program,
    `#!/bin/sh\nif [ "$1" = completion ]; then exec ${real} "$@"; fi\necho "ran: $*" >> '${join(agents.directory, "ran")}'\n`,
  );
  chmodSync(program, 0o755);
  return `${programs}:${process.env["PATH"] ?? ""}`;
}

/** A person at the shell. */
function atShell(agents: Agents, shell: keyof typeof SHELLS, home: string): Person {
  const env = {
    PATH: programsOf(agents),
    HOME: home,
    TERM: "xterm",
    CLEVERAGENTS_DATA_DIR: agents.dataDir,
    NODE_NO_WARNINGS: "1",
  };
  const [file = "", ...words] = onTerminal(SHELLS[shell], { columns: 200, rows: 50 });
  const child = spawn(file, words, { cwd: agents.directory, env, stdio: ["pipe", "pipe", "pipe"] });
  child.stdout.setEncoding("utf8");
  const finished = new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    child.on("close", (code) => resolve({ code, stdout: "", stderr: "" }));
    child.on("error", reject);
  });
  const started: Started = { child, finished };
  return new Person(started);
}

function ran(agents: Agents): string[] {
  const file = join(agents.directory, "ran");
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [line.replace("ran: ", "").trim()]));
}

async function world(): Promise<Agents> {
  const agents = new Agents();
  agents.write("greeter.yaml", GREETER);
  await agents.json("actor", "add", "--config", "greeter.yaml");
  await agents.withPlan();
  return agents;
}

describe.each(["bash", "zsh", "fish"] as const)("%s", (shell) => {
  const reason = without(shell);

  test.skipIf(reason !== undefined)(
    `completes commands, options, values, files and names${reason === undefined ? "" : ` (skipped: ${reason})`}`,
    async () => {
      using agents = await world();
      const { stdout } = await agents.run(["completion", shell]);
      const script = agents.write("script", stdout);
      const person = atShell(agents, shell, agents.directory);
      person.type(`source ${script}; echo "rea""dy"\n`);
      await person.sees("ready");
      for (const [at, [typed]] of CASES.entries()) {
        person.type(`agents ${typed}\n`);
        await until(() => ran(agents).length > at, person);
      }
      person.type("exit\n");
      await person.end();
      expect(ran(agents)).toEqual(CASES.map(([, words]) => words));
    },
  );

  test.skipIf(reason !== undefined)(
    `installs itself where the shell finds it${reason === undefined ? "" : ` (skipped: ${reason})`}`,
    async () => {
      using agents = await world();
      const home = join(agents.directory, "home");
      mkdirSync(home);
      const own = { bash: ".bashrc", zsh: ".zshrc", fish: undefined }[shell];
      if (own !== undefined) writeFileSync(join(home, own), "# mine, without a line end at the end");
      const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: "", XDG_DATA_HOME: "", ZDOTDIR: "" };
      const install = (...words: string[]) => agents.process(["completion", shell, "--install", ...words], { env });
      const asked = await install();
      expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining("repeat the command with --yes")]);
      for (let times = 0; times < 2; times += 1) expect((await install("--yes")).code).toBe(0);
      if (own !== undefined) {
        const lines = readFileSync(join(home, own), "utf8").split("\n");
        expect([lines[0], lines.length]).toEqual(["# mine, without a line end at the end", 3]);
      }
      const seen = spawnSync(shell, ASKED[shell], {
        cwd: agents.directory,
        encoding: "utf8",
        env: { ...env, PATH: programsOf(agents), TERM: "dumb", ZDOTDIR: home },
      });
      expect(seen.stdout).toMatch(/_agents|apply/);
    },
  );
});

test("a press of a key makes no database, and unknown kinds are refused", async () => {
  using agents = new Agents();
  const none = await agents.run(["completion", "zsh", "--values", "plan"]);
  expect([none.stdout, none.code, existsSync(agents.database)]).toEqual(["", 0, false]);
  const keys = await agents.run(["completion", "bash", "--values", "key"]);
  expect(keys.stdout.split("\n")).toContain("core.format");
  expect((await agents.json("completion", "bash", "--values", "plans")).exit_code).toBe(2);
  expect(existsSync(agents.database)).toBe(false);
});

/** The shell answers when it likes; the test's own limit ends the wait. */
async function until(done: () => boolean, person: Person): Promise<void> {
  while (!done()) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (person.seen.includes("modifier")) throw new Error(person.seen);
  }
}
