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
import { git, makeRepository } from "../testing/git-repository.ts";
import { gone, running, uniqueSeconds } from "../testing/processes.ts";
import { runGit } from "./git-process.ts";

const LIST = ["ls-files", "-z", "--cached", "--others"];

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "cleveragents-git-process-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A git that is a script of ours, first in the path. */
function fakeGit(script: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const directory = mkdtempSync(join(home, "bin-"));
  writeFileSync(join(directory, "git"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(directory, "git"), 0o755);
  return { ...process.env, ...more, PATH: `${directory}:${process.env["PATH"] ?? ""}` };
}

/** The one there is, and who starts it each time, in `starters`. */
function watchedGit(): NodeJS.ProcessEnv {
  const real = execFileSync("sh", ["-c", "command -v git"]).toString().trim();
  return fakeGit(`echo "$PPID" >>'${starters()}'; exec ${real} "$@"`);
}

function starters(): string {
  return join(home, "starters");
}

/** How many different processes started git; each time it was asked, one of them did. */
function starterPids(): ReadonlySet<number> {
  return new Set(readFileSync(starters(), "utf8").trim().split("\n").map(Number));
}

/** So that the next one is not the first of this thread. */
async function runOnce(): Promise<void> {
  await runGit(["--version"], process.env, undefined);
}

describe("git, asked again", () => {
  test("is started by a shell, which stays the same", async () => {
    await runOnce();
    const env = fakeGit('echo "$PPID"; tr "\\0" " " </proc/$PPID/cmdline');
    const first = (await runGit([], env, undefined)).stdout.toString();
    expect(first).toContain("sh -c while");
    expect((await runGit([], env, undefined)).stdout.toString()).toBe(first);
    expect(Number(first.split("\n")[0])).not.toBe(process.pid);
  });

  test("says the same as when it is started here: names of every kind, complaints, exit codes", async () => {
    const names = ["0", "00", "127", " a b", "it's", "$(touch gone)", "`x`", "a\nb", 'q"q', "ü", "-n", "\\000", "*"];
    const root = makeRepository(join(home, "it's $HOME\\ a `repo`"));
    for (const name of names) writeFileSync(join(root, name), "");
    await runOnce();
    const env = watchedGit();
    const listed = await runGit(["-C", root, ...LIST], env, undefined);
    expect(listed).toMatchObject({ code: 0, stderr: "" });
    expect(listed.stdout.toString()).toBe(git(root, ...LIST));
    for (const name of names) expect(listed.stdout.toString().split("\0")).toContain(name);

    const failed = await runGit(["-C", join(home, "nowhere"), ...LIST], env, undefined);
    expect(starterPids().size).toBe(1);
    expect(starterPids()).not.toContain(process.pid);
    expect(failed).toMatchObject({ code: 128, stdout: Buffer.alloc(0) });
    expect(failed.stderr).toMatch(/^fatal: cannot change to '.*nowhere'.*\n$/);
    const [none, both] = [await runGit([], fakeGit("exit 3"), undefined), await runGit([], fakeGit(BOTH), undefined)];
    expect(none).toEqual({ code: 3, stdout: Buffer.alloc(0), stderr: "" });
    expect({ ...both, stdout: both.stdout.toString() }).toEqual({ code: 0, stdout: "out\0name\0", stderr: "err\n" });
  });

  test("may say very much, in pieces that end anywhere", async () => {
    await runOnce();
    const env = fakeGit('i=0; while [ $i -lt 3000 ]; do printf "0\\0%s\\0" "$i" ; i=$((i+1)); done; echo late >&2');
    const { stdout, stderr } = await runGit([], env, undefined);
    const expected = Array.from({ length: 3_000 }, (_, at) => `0\0${at}\0`).join("");
    expect(stdout.toString()).toBe(expected);
    expect(stderr).toBe("late\n");
  });

  test("has not ended where a name looks like the end", async () => {
    await runOnce();
    const env = fakeGit(String.raw`printf '\0' >&2; printf 'a\0%s\0' 0; sleep 0.1; printf 'b\0'`);
    expect((await runGit([], env, undefined)).stdout.toString()).toBe(["a", "0", "b", ""].join("\0"));
  });

  test("reads none of the commands that follow", async () => {
    await runOnce();
    const env = fakeGit("cat; echo end");
    expect((await runGit([], env, undefined)).stdout.toString()).toBe("end\n");
    expect((await runGit([], env, undefined)).stdout.toString()).toBe("end\n");
  });

  test("several at once are all answered, each with its own", async () => {
    await runOnce();
    const env = fakeGit('sleep 0.05; echo "$1"');
    const answers = await Promise.all(["a", "b", "c"].map((word) => runGit([word], env, undefined)));
    expect(answers.map(({ stdout }) => stdout.toString())).toEqual(["a\n", "b\n", "c\n"]);
  });

  test("sees the environment of its own time", async () => {
    await runOnce();
    const env = fakeGit('echo "$WHICH"');
    for (const which of ["one", "two", "one"]) {
      const { stdout } = await runGit([], { ...env, WHICH: which }, undefined);
      expect(stdout.toString()).toBe(`${which}\n`);
    }
  });

  test("a word of several lines is no matter", async () => {
    await runOnce();
    const env = fakeGit('echo "$PPID $1"');
    const before = (await runGit(["a"], env, undefined)).stdout.toString();
    expect((await runGit(["a\nb; echo c"], env, undefined)).stdout.toString()).toBe(`${process.pid} a\nb; echo c\n`);
    expect((await runGit(["a"], env, undefined)).stdout.toString()).toBe(before);
  });

  test("is answered though the shell dies, before or meanwhile", async () => {
    await runOnce();
    const tellPid = fakeGit('echo "$PPID"');
    const { stdout } = await runGit([], tellPid, undefined);
    process.kill(Number(stdout.toString()), "SIGKILL");
    expect((await runGit([], tellPid, undefined)).code).toBe(0);
    const anew = Number((await runGit([], tellPid, undefined)).stdout.toString());
    expect([process.pid, Number(stdout.toString())]).not.toContain(anew);
    // Kills the shell the first time, and answers the second, when it is a child of this process.
    const killer = fakeGit(`[ "$PPID" = ${process.pid} ] || kill -9 "$PPID"; echo here`);
    expect((await runGit([], killer, undefined)).stdout.toString()).toBe("here\n");
    expect((await runGit([], tellPid, undefined)).code).toBe(0);
  });

  test("nobody is killed for a shell that has ended: its number may be another's", async () => {
    await runOnce();
    const { stdout } = await runGit([], fakeGit('echo "$PPID"'), undefined);
    const pid = Number(stdout.toString());
    process.kill(pid, "SIGKILL");
    using kill = vi.spyOn(process, "kill");
    for (let attempt = 0; attempt < 500 && existsSync(`/proc/${pid}`); attempt += 1) await sleep(10);
    await sleep(50);
    await runOnce();
    expect(kill).not.toHaveBeenCalled();
  });

  test("that is not there is an error like the first time", async () => {
    await runOnce();
    symlinkSync("/bin/sh", join(home, "sh"));
    const nothing = { ...process.env, PATH: home };
    await expect(runGit([], nothing, undefined)).rejects.toThrow("git is not in any absolute directory of PATH");
  });

  test("is not looked for in a relative entry of PATH", async () => {
    const directory = fakeGit("echo mine")["PATH"]?.split(":")[0] ?? "";
    const before = process.cwd();
    process.chdir(join(directory, ".."));
    try {
      const path = `${basename(directory)}::.:${process.env["PATH"] ?? ""}`;
      const { stdout } = await runGit(["--version"], { ...process.env, PATH: path }, undefined);
      expect(stdout.toString()).toContain("git version");
    } finally {
      process.chdir(before);
    }
  });

  test("does without a shell", async () => {
    await runOnce();
    const env = fakeGit('echo "$PPID"');
    const alone = { ...env, PATH: (env["PATH"] ?? "").split(":")[0] };
    const { stdout } = await runGit([], alone, undefined);
    expect(Number(stdout.toString())).toBe(process.pid);
  });

  test("is stopped with all it started, and the next one is answered", async () => {
    await runOnce();
    const seconds = uniqueSeconds();
    const controller = new AbortController();
    const run = runGit([], fakeGit(`sleep ${seconds}`), controller.signal);
    const [outcome] = await Promise.all([
      Promise.allSettled([run]),
      (async () => {
        while (running(seconds) === 0) await sleep(5);
        controller.abort(new Error("enough"));
      })(),
    ]);
    expect(outcome).toMatchObject([{ status: "rejected", reason: { message: "enough" } }]);
    expect(await gone(seconds)).toBe(true);
    expect((await runGit(["--version"], process.env, undefined)).code).toBe(0);
    await expect(runGit([], process.env, controller.signal)).rejects.toThrow("enough");
  });
});

/** Writes zero bytes itself, to both. */
const BOTH = String.raw`printf 'out\0name\0'; echo err >&2`;

describe("the shell", () => {
  /** Asks git twice in a process of its own, which then waits or not. */
  function asker(then: string): { child: ReturnType<typeof spawn>; mark: string } {
    const mark = join(home, `mark-${Math.random()}`);
    mkdirSync(home, { recursive: true });
    const module = fileURLToPath(new URL("./git-process.ts", import.meta.url));
    const program = `
      import { runGit } from ${JSON.stringify(module)};
      import { writeFileSync } from "node:fs";
      await runGit([], process.env, undefined);
      const { stdout } = await runGit([], process.env, undefined);
      writeFileSync(${JSON.stringify(mark)}, stdout);
      ${then}`;
    const env = fakeGit('echo "$PPID"');
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
