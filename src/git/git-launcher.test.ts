import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { git as realGit, makeRepository } from "../testing/git-repository.ts";
import { gone, running, uniqueSeconds } from "../testing/processes.ts";
import { git, type GitOptions, type GitResult } from "./git.ts";

const LIST = ["ls-files", "-z", "--cached", "--others"];

let home: string;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "cleveragents-git-launcher-"));
  // A process starts its first git itself.
  for (let count = 0; count < 3; count += 1) await ask(["--version"]);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

function ask(args: readonly string[], options: Partial<GitOptions> = {}): Promise<GitResult> {
  return git(args, { cwd: "/", accept: "any", anyVersion: true, ...options });
}

async function textOf(...args: readonly string[]): Promise<string> {
  return (await ask(args)).stdout.toString();
}

/** Makes the git that is found a script of the test's, in whose variable `last` is the last word. */
function fakeGit(script: string): string {
  const directory = mkdtempSync(join(home, "bin-"));
  writeFileSync(join(directory, "git"), `#!/bin/sh\nfor last; do :; done\n${script}\n`);
  chmodSync(join(directory, "git"), 0o755);
  vi.stubEnv("PATH", `${directory}:${PATH}`);
  return directory;
}

const PATH = process.env["PATH"] ?? "";

/** The git of this machine, which writes the process that starts it into `starters` each time. */
function watchedGit(): void {
  const real = execFileSync("sh", ["-c", "command -v git"]).toString().trim();
  fakeGit(`echo "$PPID" >>'${starters()}'; exec ${real} "$@"`);
}

function starters(): string {
  return join(home, "starters");
}

/** The different processes that started git. */
function starterPids(): ReadonlySet<number> {
  return new Set(readFileSync(starters(), "utf8").trim().split("\n").map(Number));
}

describe("git, started again", () => {
  test("is started by a shell, which stays the same", async () => {
    fakeGit('echo "$PPID"; tr "\\0" " " </proc/$PPID/cmdline');
    const first = await textOf();
    expect(first).toContain("sh -c while");
    expect(await textOf()).toBe(first);
    expect(Number(first.split("\n")[0])).not.toBe(process.pid);
  });

  test("gives the same result as when this process starts it: names of every kind, complaints, exit codes", async () => {
    const names = ["0", "00", "127", " a b", "it's", "$(touch gone)", "`x`", "a\nb", 'q"q', "ü", "-n", "\\000", "*"];
    const root = makeRepository(join(home, "it's $HOME\\ a `repo`"));
    for (const name of names) writeFileSync(join(root, name), "");
    const expected = realGit(root, ...LIST);
    watchedGit();
    const listed = await ask(LIST, { cwd: root });
    expect(listed).toMatchObject({ code: 0, stderr: "" });
    expect(listed.stdout.toString()).toBe(expected);
    for (const name of names) expect(listed.stdout.toString().split("\0")).toContain(name);

    const failed = await ask(["rev-parse", "--verify", "nope"], { cwd: root });
    await expect(ask(LIST, { cwd: join(home, "nowhere") })).rejects.toThrow("no longer exists.");
    expect(starterPids().size).toBe(1);
    expect(starterPids()).not.toContain(process.pid);
    expect(failed).toMatchObject({ code: 128, stdout: Buffer.alloc(0) });
    expect(failed.stderr).toMatch(/^fatal: .*\n$/);
    fakeGit("exit 3");
    expect(await ask([])).toEqual({ code: 3, stdout: Buffer.alloc(0), stderr: "" });
    fakeGit(String.raw`printf 'out\0name\0'; echo err >&2`);
    expect(await ask([])).toEqual({ code: 0, stdout: Buffer.from("out\0name\0"), stderr: "err\n" });
  });

  test("may write very much, in pieces that end anywhere, of any bytes", async () => {
    fakeGit('i=0; while [ $i -lt 3000 ]; do printf "0\\0%s\\0" "$i" ; i=$((i+1)); done; echo late >&2');
    const { stdout, stderr } = await ask([]);
    expect(stdout.toString()).toBe(Array.from({ length: 3_000 }, (_, at) => `0\0${at}\0`).join(""));
    expect(stderr).toBe("late\n");
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7919) % 256));
    writeFileSync(join(home, "bytes"), bytes);
    fakeGit(`cat '${join(home, "bytes")}'`);
    expect((await ask([])).stdout.equals(bytes)).toBe(true);
  });

  test("has not ended where its output looks like the end of another command", async () => {
    const mark = "0".repeat(32);
    fakeGit(`printf %s ${mark} >&2; printf '%s0\\n' ${mark}; sleep 0.1; printf b`);
    expect(await ask([])).toEqual({ code: 0, stdout: Buffer.from(`${mark}0\nb`), stderr: mark });
  });

  test("reads none of the commands that follow", async () => {
    fakeGit("cat; echo end");
    expect(await textOf()).toBe("end\n");
    expect(await textOf()).toBe("end\n");
  });

  test("several at once all get their own answers", async () => {
    fakeGit('sleep 0.05; echo "$last"');
    expect(await Promise.all(["a", "b", "c"].map((word) => textOf(word)))).toEqual(["a\n", "b\n", "c\n"]);
  });

  test("sees the environment of its own time", async () => {
    fakeGit('echo "$WHICH"');
    for (const which of ["one", "two", "one"]) {
      vi.stubEnv("WHICH", which);
      expect(await textOf()).toBe(`${which}\n`);
    }
  });

  test("with input, variables of its own or a word of several lines it is started here", async () => {
    fakeGit('echo "$PPID $last $OWN"; cat');
    const before = await textOf("a");
    expect(await textOf("a\nb; echo c")).toBe(`${process.pid} a\nb; echo c \n`);
    const withInput = await ask(["a"], { input: "in", env: { OWN: "x" } });
    expect(withInput.stdout.toString()).toBe(`${process.pid} a x\nin`);
    expect(await textOf("a")).toBe(before);
  });

  test("is answered though the shell dies, before or meanwhile", async () => {
    fakeGit('echo "$PPID"');
    const first = Number(await textOf());
    process.kill(first, "SIGKILL");
    expect((await ask([])).code).toBe(0);
    const second = Number(await textOf());
    expect([process.pid, first]).not.toContain(second);
    // Kills the shell the first time, and answers the second time, when it is a child of this process.
    fakeGit(`[ "$PPID" = ${process.pid} ] || kill -9 "$PPID"; echo here`);
    expect(await textOf()).toBe("here\n");
    fakeGit('echo "$PPID"');
    expect((await ask([])).code).toBe(0);
  });

  test("no process is killed for a shell that has ended: its number may be another's", async () => {
    fakeGit('echo "$PPID"');
    const pid = Number(await textOf());
    process.kill(pid, "SIGKILL");
    using kill = vi.spyOn(process, "kill");
    for (let attempt = 0; attempt < 500 && existsSync(`/proc/${pid}`); attempt += 1) await sleep(10);
    await sleep(50);
    await ask([]);
    expect(kill).not.toHaveBeenCalled();
  });

  test("that is missing is an error like the first time", async () => {
    symlinkSync("/bin/sh", join(home, "sh"));
    vi.stubEnv("PATH", home);
    await expect(ask([])).rejects.toThrow("git cannot be run: it is not in any absolute directory of PATH.");
  });

  test("is not searched in a relative entry of PATH", async () => {
    const directory = fakeGit("echo mine");
    const before = process.cwd();
    process.chdir(join(directory, ".."));
    try {
      vi.stubEnv("PATH", `${basename(directory)}::.:${PATH}`);
      expect(await textOf("--version")).toContain("git version");
    } finally {
      process.chdir(before);
    }
  });

  test("does without a shell", async () => {
    vi.stubEnv("PATH", fakeGit('echo "$PPID"'));
    expect(Number(await textOf())).toBe(process.pid);
  });

  test.each([{}, { input: "here" }])(
    "is stopped with all it started, and the next one is answered (%o)",
    async (more) => {
      const seconds = uniqueSeconds();
      const controller = new AbortController();
      fakeGit(`sleep ${seconds}`);
      const run = ask([], { ...more, signal: controller.signal });
      const [outcome] = await Promise.all([
        Promise.allSettled([run]),
        (async () => {
          while (running(seconds) === 0) await sleep(5);
          controller.abort(new Error("enough"));
        })(),
      ]);
      expect(outcome).toMatchObject([{ status: "rejected", reason: { message: "enough" } }]);
      expect(await gone(seconds)).toBe(true);
      vi.unstubAllEnvs();
      expect((await ask(["--version"])).code).toBe(0);
      await expect(ask([], { signal: controller.signal })).rejects.toThrow("enough");
    },
  );

  test("is ended when its time is over", async () => {
    const seconds = uniqueSeconds();
    fakeGit(`sleep ${seconds}`);
    await expect(ask(["wait"], { timeoutMs: 300 })).rejects.toThrow("git wait gave no answer within 0.3 s in /.");
    expect(await gone(seconds)).toBe(true);
  });
});

describe("the shell", () => {
  /** Asks git three times in another process, which then waits or not. */
  function asker(then: string): { child: ReturnType<typeof spawn>; mark: string } {
    const mark = join(home, `mark-${Math.random()}`);
    mkdirSync(home, { recursive: true });
    const module = fileURLToPath(new URL("./git.ts", import.meta.url));
    const program = `
      import { git } from ${JSON.stringify(module)};
      import { writeFileSync } from "node:fs";
      const ask = () => git([], { cwd: "/", anyVersion: true });
      await ask();
      await ask();
      const { stdout } = await ask();
      writeFileSync(${JSON.stringify(mark)}, stdout);
      ${then}`;
    fakeGit('echo "$PPID"');
    const env = { ...process.env };
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", program], { env, stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    return { child, mark };
  }

  function isThere(pid: number): boolean {
    try {
      process.kill(pid, 0);
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false;
    }
  }

  async function ended(pid: number): Promise<boolean> {
    for (let attempt = 0; attempt < 500 && isThere(pid); attempt += 1) await sleep(10);
    return !isThere(pid);
  }

  test("keeps no process from ending, and ends with it", async () => {
    const { child, mark } = asker("");
    const [code]: (number | null)[] = await once(child, "exit");
    expect(code).toBe(0);
    const pid = Number(readFileSync(mark, "utf8"));
    expect(pid).not.toBe(child.pid);
    expect(await ended(pid)).toBe(true);
  });

  test("ends with a process that is killed", async () => {
    const { child, mark } = asker("setInterval(() => undefined, 1_000);");
    const pidOf = (): number => {
      try {
        return Number(readFileSync(mark, "utf8"));
      } catch {
        return 0;
      }
    };
    while (pidOf() === 0 && child.exitCode === null) await sleep(10);
    const pid = pidOf();
    expect(isThere(pid)).toBe(true);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await ended(pid)).toBe(true);
  });
});
