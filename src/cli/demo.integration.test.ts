import { spawn, type ChildProcessByStdio } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Readable } from "node:stream";
import { expect, test } from "vitest";
import { confinementHere } from "../confinement/availability.ts";
import { ROOT, type Finished } from "./testing/agents.ts";
import { unconfinedPath } from "./testing/confinement.ts";

interface Disturbance {
  readonly at: string;
  readonly deed: (child: ChildProcessByStdio<null, Readable, Readable>) => unknown;
}

const NOTHING: Disturbance = { at: "", deed: () => undefined };

/** Where a demo puts its temporary directory, so that what it leaves behind shows. */
class Place implements Disposable {
  readonly directory: string = mkdtempSync(join(tmpdir(), "cleveragents-demo-test-"));
  readonly environment: NodeJS.ProcessEnv = {};

  /** Runs the demo; as soon as it says `at`, the deed is done to it. */
  async demo(root: string, { at, deed }: Disturbance = NOTHING): Promise<Finished> {
    const { FORCE_COLOR: _, ...environment } = process.env;
    const child = spawn(process.execPath, [join(root, "scripts/demo.ts")], {
      env: { ...environment, ...this.environment, TMPDIR: this.directory },
      stdio: ["ignore", "pipe", "pipe"],
      // A demo that does not end is not left behind; a healthy one takes seconds.
      timeout: 150_000,
      killSignal: "SIGKILL",
    });
    let [stdout, stderr, done] = ["", "", false];
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (done || !stdout.includes(at)) return;
      done = true;
      deed(child);
    });
    return new Promise((resolve, reject) => {
      child.on("close", (code) => resolve({ code, stdout, stderr }));
      child.on("error", reject);
    });
  }

  /** The demo with an `agents` that does `mischief` before it does what it is told. */
  async sabotaged(mischief: string): Promise<Finished> {
    const root = join(this.directory, "checkout");
    mkdirSync(join(root, "bin"), { recursive: true });
    cpSync(join(ROOT, "scripts"), join(root, "scripts"), { recursive: true });
    writeFileSync(join(root, "package.json"), '{ "type": "module" }');
    writeFileSync(
      join(root, "bin/agents"),
      `import { execFileSync, spawnSync } from "node:child_process";
       import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
       const words = process.argv.slice(2);
       const command = words.slice(0, 2).join(" ");
       const real = () => spawnSync(process.execPath, [${JSON.stringify(join(ROOT, "bin/agents"))}, ...words], { stdio: "inherit" }).status;
       ${mischief}
       // In this process: another one for each command would be half of the time.
       await import(${JSON.stringify(pathToFileURL(join(ROOT, "bin/agents")).href)});`,
    );
    return this.demo(root);
  }

  leftovers(): string[] {
    return readdirSync(this.directory).filter((name) => name.startsWith("cleveragents-"));
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

const confined = (await confinementHere()).kind !== "none";

test("the demo keeps all its promises, fits 80 columns and leaves nothing behind", async () => {
  using place = new Place();
  const { code, stdout, stderr } = await place.demo(ROOT);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).not.toContain("BROKEN");
  const [, conflict = ""] = /^```text\n(.*?)^```$/ms.exec(readFileSync(join(ROOT, "README.md"), "utf8")) ?? [];
  expect(conflict).toContain("error: ");
  for (const line of conflict.trimEnd().split("\n")) expect(stdout).toContain(`  ${line}\n`);
  expect(stdout).toContain(`All ${confined ? 19 : 17} promises were kept.`);
  expect(stdout.includes("Left out: 10. A command that reaches out")).toBe(!confined);
  expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(place.leftovers()).toEqual([]);
});

test.each([
  ["SIGINT", 130, "agents run"],
  ["SIGTERM", 143, "agents config"],
  ["SIGHUP", 129, "agents config"],
] as const)("stopped by %s the demo exits with %i and leaves nothing behind", async (signal, exitCode, at) => {
  using place = new Place();
  const { code, stdout, stderr } = await place.demo(ROOT, { at, deed: (child) => child.kill(signal) });
  expect({ code, stderr }).toEqual({ code: exitCode, stderr: "" });
  expect(stdout).not.toContain("BROKEN");
  expect(place.leftovers()).toEqual([]);
});

test("the demo ends and leaves nothing behind when its reader goes away", async () => {
  using place = new Place();
  const { code, stderr } = await place.demo(ROOT, {
    at: "agents config",
    deed: (child) => [child.stdout.destroy(), child.stderr.destroy()],
  });
  expect({ code, stderr }).toEqual({ code: 141, stderr: "" });
  expect(place.leftovers()).toEqual([]);
});

/** Wider than a terminal: an error message may have such a path. */
const LONG_WORD = "long/".repeat(30);

/** Marks the mischief that is done where nothing can confine commands. */
const UNCONFINED = "without confinement";

// Several at once where they do not hide each other, because a demo takes seconds.
test.each([
  [
    "work that spills over, and an audit log that does not verify",
    `if (words[0] === "run") {
       appendFileSync("manual/manual.md", "\\n");
       process.stderr.write("${LONG_WORD} and more\\n");
     }
     if (command === "plan apply") {
       const status = real();
       if (status === 4) writeFileSync("manual/discount.md", "");
       process.exit(status);
     }
     if (command === "plan undo") execFileSync("git", ["-C", "shop", "clean", "-fdq"]);
     if (command === "plan status") {
       const answer = spawnSync(process.execPath, [${JSON.stringify(join(ROOT, "bin/agents"))}, ...words]).stdout.toString();
       process.stdout.write(answer.replace(/"calls": \\d+/g, '"calls": 7'));
       process.exit(0);
     }
     if (command === "audit verify") process.exit(1);`,
    [
      "five calls of the model are paid for, to the cent",
      "it was stopped before anything was spent",
      "repository and directory are as they were",
      "nothing was touched, in neither place",
      "so is Ann's work, committed or not",
      "the entries of the audit log are unchanged",
    ],
  ],
  [
    "a conflict called a success, an undo that does nothing and commits too many",
    `if (command === "plan apply") {
       real();
       execFileSync("git", ["-C", "shop", "commit", "-q", "--allow-empty", "-m", "Extra"]);
       process.exit(0);
     }
     if (command === "plan undo") process.exit(0);`,
    [
      "the conflict is reported, with exit code 4",
      "the lines of the first plan are gone",
      "the log has one commit for each, and no other",
      "the commit names its plan",
    ],
  ],
  [
    "an undo that takes other people's work along",
    `// ${UNCONFINED}
     if (command === "plan undo") {
       writeFileSync("shop/shop.js", execFileSync("git", ["-C", "shop", "show", "HEAD~3:shop.js"]));
       execFileSync("git", ["-C", "shop", "commit", "-qam", "Undo: Round prices"]);
       process.exit(0);
     }`,
    ["the lines of the second are still there", "so is Ann's work, committed or not"],
  ],
])("the demo fails at %s", async (_, mischief, promises) => {
  using place = new Place();
  // Where nothing can confine commands, the demo names the scene that it leaves out, also when it fails.
  const unconfined = mischief.includes(UNCONFINED);
  if (unconfined) place.environment["PATH"] = unconfinedPath(place.directory);
  const { code, stdout } = await place.sabotaged(mischief);
  if (unconfined) expect(stdout).toMatch(/\n4 of 17 BROKEN\.\nLeft out: 10\. A command that reaches out\n/);
  if (mischief.includes(LONG_WORD)) expect(stdout).toContain(`round    ${LONG_WORD}\n`);
  for (const promise of promises) expect(stdout).toContain(`BROKEN  ${promise}`);
  expect(code).toBe(1);
  expect(place.leftovers()).toEqual([]);
});
