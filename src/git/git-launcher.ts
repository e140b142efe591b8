/**
 * A small shell that starts git for a process that has grown large.
 *
 * To start a program, Node copies its process, and the event loop stands still meanwhile: `git --version` took 2.1 ms
 * in a process of 107 MB, 6 ms with 212 MB, 35 ms with 522 MB and 59 ms with 726 MB. Started by a shell that stays, it
 * took 1.1 to 1.3 ms in all of them. So from the third git on (two do not repay the shell), a process has its git
 * started by one. The shell interprets no text: it reads a number and that many words, each on a line, and runs them as
 * they are. When this process ends, in whichever way, the shell's input ends, and so does the shell.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { endGroup } from "../platform/process-group.ts";
import { findProgram } from "../platform/programs.ts";

export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** So many are started by the process itself. */
const DIRECT_STARTS = 2;

/** Of this thread. */
let shell: LauncherShell | undefined;
let asked = 0;

/**
 * Runs a command that reads no input, in the directory `/`. Undefined when the shell cannot run it (it is busy with
 * another command, could not be started, or ended meanwhile), or when it is not worth starting one yet: then the caller
 * starts git itself.
 */
export async function launch(
  words: readonly string[],
  environment: NodeJS.ProcessEnv,
  stop: AbortSignal,
): Promise<GitResult | undefined> {
  asked += 1;
  if (asked <= DIRECT_STARTS || shell?.isBusy === true || words.some((word) => word.includes("\n"))) return undefined;
  const own = shellWith(environment);
  if (own === undefined) return undefined;
  const end = (): void => own.end();
  stop.addEventListener("abort", end, { once: true });
  try {
    const result = await own.run(words);
    return result?.code === NOT_FOUND ? undefined : result;
  } finally {
    stop.removeEventListener("abort", end);
  }
}

/** The exit code of a shell for a program that cannot be started; the caller finds out why. */
const NOT_FOUND = 127;

/** A shell has one environment for its life; another environment gets another shell. */
function shellWith(environment: NodeJS.ProcessEnv): LauncherShell | undefined {
  const key = JSON.stringify(environment);
  if (shell?.isAlive === true && shell.key === key) return shell;
  shell?.end();
  const program = findProgram("sh", environment["PATH"]);
  shell = program === undefined ? undefined : new LauncherShell(program, environment, key);
  return shell;
}

/**
 * Runs one command after another: a mark, a number and that many words, each on a line. After a command's output come
 * the mark and the exit code on stdout, and the mark on stderr. The mark is random for each command, so that no output
 * can be taken for it.
 */
const SCRIPT = `while IFS= read -r mark && IFS= read -r count; do
set --
while [ "$count" -gt 0 ]; do IFS= read -r word; set -- "$@" "$word"; count=$((count - 1)); done
"$@" </dev/null
code=$?
printf '%s' "$mark" >&2
printf '%s%s\\n' "$mark" "$code"
done`;

interface Running {
  readonly mark: string;
  readonly resolve: (result: GitResult | undefined) => void;
}

class LauncherShell {
  readonly key: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #stdout: Buffer[] = [];
  readonly #stderr: Buffer[] = [];
  #isAlive = true;
  #running: Running | undefined;

  constructor(program: string, environment: NodeJS.ProcessEnv, key: string) {
    this.key = key;
    // In its own group: Ctrl-C is for this process, which stops its commands itself.
    const options = { cwd: "/", env: environment, detached: true, stdio: "pipe" } as const;
    this.#child = spawn(program, ["-c", SCRIPT], options);
    this.#child.on("error", () => this.end());
    this.#child.on("close", () => this.end());
    this.#child.stdin.on("error", () => this.end());
    this.#child.stdout.on("data", (chunk: Buffer) => this.#hear(this.#stdout, chunk));
    this.#child.stderr.on("data", (chunk: Buffer) => this.#hear(this.#stderr, chunk));
    this.#child.unref();
    this.#holdProcess(false);
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** Undefined when the shell ended meanwhile. */
  run(words: readonly string[]): Promise<GitResult | undefined> {
    if (!this.#isAlive) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const mark = randomBytes(16).toString("hex");
      this.#running = { mark, resolve };
      this.#holdProcess(true);
      this.#child.stdin.write(`${[mark, words.length, ...words].join("\n")}\n`);
    });
  }

  /** Ends it together with the command that it runs. */
  end(): void {
    if (!this.#isAlive) return;
    this.#isAlive = false;
    const { pid, exitCode, signalCode } = this.#child;
    // The number of a process that has ended may belong to another one by now.
    if (exitCode === null && signalCode === null) endGroup(pid);
    this.#finish(undefined);
  }

  #hear(chunks: Buffer[], chunk: Buffer): void {
    chunks.push(chunk);
    if (this.#running === undefined) return;
    const { mark } = this.#running;
    const code = new RegExp(`${mark}(\\d{1,3})\\n$`).exec(lastBytes(this.#stdout, mark.length + 4))?.[1];
    if (code === undefined || !lastBytes(this.#stderr, mark.length).endsWith(mark)) return;
    const stdout = Buffer.concat(this.#stdout);
    const stderr = Buffer.concat(this.#stderr);
    this.#finish({
      code: Number(code),
      stdout: stdout.subarray(0, stdout.byteLength - mark.length - code.length - 1),
      stderr: stderr.toString("utf8", 0, stderr.byteLength - mark.length),
    });
  }

  #finish(result: GitResult | undefined): void {
    const running = this.#running;
    this.#running = undefined;
    this.#stdout.length = 0;
    this.#stderr.length = 0;
    this.#holdProcess(false);
    running?.resolve(result);
  }

  /** An idle shell does not keep this process from ending. */
  #holdProcess(hold: boolean): void {
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      if (!(stream instanceof Socket)) continue;
      if (hold) stream.ref();
      else stream.unref();
    }
  }
}

/** The last bytes of all chunks together, as characters of one byte each. */
function lastBytes(chunks: readonly Buffer[], count: number): string {
  let tail = "";
  for (let at = chunks.length - 1; at >= 0 && tail.length < count; at -= 1) {
    const chunk = chunks[at] ?? Buffer.alloc(0);
    tail = chunk.toString("latin1", Math.max(0, chunk.byteLength - count)) + tail;
  }
  return tail;
}
