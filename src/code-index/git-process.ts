/**
 * Runs git and takes down what it says.
 *
 * To start a program, a process is copied first; with 100 MB that takes 10 ms, with 600 MB 30, and for a while whatever it writes to is
 * copied, too. A process that has grown large and lists files again and again, as a plan's does, therefore lets a shell start
 * git, from the second time on: that is small and stays so. When this process ends, however it does, the shell's input ends, and with it the shell.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { findProgram } from "../store/programs.ts";

export interface GitAnswer {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** It had no time to say how it ended. */
const KILLED = 137;
/** What a shell says of a program that is not there. */
const NOT_FOUND = 127;

/** Of this thread. */
let shell: Shell | undefined;
let hasRun = false;

/** @throws whatever `spawn` says when git cannot be started; the signal's reason when it was aborted. */
export async function runGit(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
): Promise<GitAnswer> {
  signal?.throwIfAborted();
  const answer = hasRun ? await askShell(args, env, signal) : undefined;
  hasRun = true;
  signal?.throwIfAborted();
  return answer ?? (await runHere(args, env, signal));
}

async function runHere(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
): Promise<GitAnswer> {
  const git = findProgram("git", env["PATH"]);
  if (git === undefined) throw new Error("git is not in any absolute directory of PATH");
  const child = spawn(git, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  const stop = (): void => void child.kill("SIGKILL");
  signal?.addEventListener("abort", stop, { once: true });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  const code = await new Promise<number>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exit) => resolve(exit ?? KILLED));
  }).finally(() => signal?.removeEventListener("abort", stop));
  signal?.throwIfAborted();
  return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString("utf8") };
}

/** Undefined when it is busy, does not work, or finds no git: whoever runs git here hears why. */
async function askShell(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal | undefined,
): Promise<GitAnswer | undefined> {
  // A command is a line.
  if (shell?.isBusy === true || args.some((word) => word.includes("\n"))) return undefined;
  const [git, sh] = ["git", "sh"].map((name) => findProgram(name, env["PATH"]));
  if (git === undefined || sh === undefined) return undefined;
  const environment = JSON.stringify(env);
  if (shell?.environment !== environment) {
    shell?.end();
    shell = undefined;
  }
  if (shell?.isAlive !== true) shell = new Shell(sh, env);
  const own = shell;
  const stop = (): void => own.end();
  signal?.addEventListener("abort", stop, { once: true });
  const answer = await own.run([git, ...args]).finally(() => signal?.removeEventListener("abort", stop));
  return answer?.code === NOT_FOUND ? undefined : answer;
}

/**
 * A shell that runs what it reads, one command at a time. Behind what a command writes to stdout come two zero bytes, its exit code and
 * another one; behind stderr, one. Neither holds two of them in a row: with `-z` git ends each name with one, and no name is empty.
 */
class Shell {
  readonly environment: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];
  /** The last characters of stdout. */
  #tail = "";
  #isAlive = true;
  #answer: ((answer: GitAnswer | undefined) => void) | undefined;

  constructor(program: string, env: NodeJS.ProcessEnv) {
    this.environment = JSON.stringify(env);
    // Ctrl-C is for this process, which stops what it began.
    const options = { cwd: "/", env, detached: true } as const;
    this.#child = spawn(program, ["-c", 'while IFS= read -r line; do eval "$line"; done'], {
      ...options,
      stdio: "pipe",
    });
    this.#child.on("error", () => this.end());
    this.#child.on("close", () => this.end());
    this.#child.stdin.on("error", () => this.end());
    this.#child.stdout.on("data", (chunk: Buffer) => {
      this.#stdout.push(chunk);
      this.#tail = (this.#tail + chunk.toString("latin1", Math.max(0, chunk.length - TRAILER))).slice(-TRAILER);
      this.#look();
    });
    this.#child.stderr.on("data", (chunk: Buffer) => {
      this.#stderr.push(chunk);
      this.#look();
    });
    this.#child.unref();
    this.#holdProcess(false);
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isBusy(): boolean {
    return this.#answer !== undefined;
  }

  /** Undefined when the shell ended meanwhile. */
  run(words: readonly string[]): Promise<GitAnswer | undefined> {
    if (!this.#isAlive) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#answer = resolve;
      this.#holdProcess(true);
      const command = words.map(quoted).join(" ");
      this.#child.stdin.write(
        `${command} </dev/null; code=$?; printf '\\000' >&2; printf '\\000\\000%s\\000' "$code"\n`,
      );
    });
  }

  /** Whatever it runs. */
  end(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    const { pid, exitCode, signalCode } = this.#child;
    // Of one that has ended, the number may be another's by now.
    const isRunning = pid !== undefined && exitCode === null && signalCode === null;
    try {
      if (isRunning) process.kill(-pid, "SIGKILL");
    } catch {
      // It is ending already.
    }
    this.#tell(undefined);
  }

  #look(): void {
    const [, code] = /\0\0(\d{1,3})\0$/.exec(this.#tail) ?? [];
    if (code === undefined || this.#stderr.at(-1)?.at(-1) !== 0) return;
    const stdout = Buffer.concat(this.#stdout).subarray(0, -code.length - 3);
    const stderr = Buffer.concat(this.#stderr).toString("utf8").slice(0, -1);
    this.#tell({ code: Number(code), stdout, stderr });
  }

  #tell(answer: GitAnswer | undefined): void {
    const tell = this.#answer;
    this.#answer = undefined;
    this.#stdout.length = 0;
    this.#stderr.length = 0;
    this.#tail = "";
    this.#holdProcess(false);
    tell?.(answer);
  }

  /** An idle shell keeps nobody from ending. */
  #holdProcess(hold: boolean): void {
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      if (!(stream instanceof Socket)) continue;
      if (hold) stream.ref();
      else stream.unref();
    }
  }
}

/** Two zero bytes, up to three digits, another zero byte. */
const TRAILER = 6;

function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
