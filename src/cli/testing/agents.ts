/**
 * The command line as a user has it, with its own data directory; only the file system is shared. A command runs in
 * this process, on a real store and real git, which takes a tenth of the time of a new process. Where the process
 * itself is the point (a kill, a signal, a pipe, a terminal, several at once, another owner of leases, the environment
 * of the process), a test says so with `process`, `start` or `inOwnProcess`.
 */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { runCli } from "../run-cli.ts";
import { capturedIo } from "./captured-io.ts";
import { OwnProcess } from "./own-process.ts";
import { onTerminal } from "./pseudo-terminal.ts";

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command on its way, for tests that disturb it. */
export interface Started {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly finished: Promise<Finished>;
}

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  /** Where the user is; the test's own directory unless given. */
  readonly cwd?: string;
}

export interface ProcessOptions extends RunOptions {
  /** In a process group of its own, so that it can be killed together with what it started. */
  readonly group?: boolean;
  /** On a terminal of this size: stdout has all that is seen there, and what is written to stdin is typed. */
  readonly terminal?: { readonly columns: number; readonly rows: number };
}

export interface Envelope {
  readonly command: string;
  readonly status: string;
  readonly exit_code: number;
  readonly data: Record<string, unknown>;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    readonly kept: string | null;
    readonly suggestions: readonly string[];
    readonly detail: Record<string, unknown>;
  };
  readonly timing: { readonly started: string; readonly duration_ms: number };
  readonly messages: readonly { readonly level: string; readonly text: string }[];
}

export const ROOT: string = fileURLToPath(new URL("../../..", import.meta.url));
// Under coverage the sources run, so that what is reached counts; otherwise what a user has.
const PROGRAM = join(ROOT, process.env["NODE_V8_COVERAGE"] === undefined ? "bin/agents" : "src/agents-program.ts");
const { FORCE_COLOR: _force, NO_COLOR: _no, CLEVERAGENTS_FORMAT: _format, ...ENVIRONMENT } = process.env;
/** Variables that Node, git or the code read from the process itself, whichever environment a call was given. */
const OF_THE_PROCESS = /^(?:PATH|HOME|USER|TMPDIR|LANG|TZ|NODE_.*|GIT_.*|XDG_.*)$/;

export class Agents implements Disposable {
  readonly directory: string = mkdtempSync(join(tmpdir(), "cleveragents-cli-"));
  /** More variables for every command. */
  readonly environment: NodeJS.ProcessEnv = {};
  readonly dataDir: string;
  #own: OwnProcess | undefined;
  #isShared = false;

  constructor(dataDir?: string) {
    this.dataDir = dataDir ?? join(this.directory, "data");
  }

  get database(): string {
    return join(this.dataDir, "cleveragents.db");
  }

  /** From now on commands run in one process of their own, which has these variables. */
  inOwnProcess(environment: NodeJS.ProcessEnv = {}): void {
    this.inThisProcess();
    Object.assign(this.environment, environment);
    this.#own = new OwnProcess(this.#environmentOf({}));
  }

  /** From now on commands run in this process, which has exactly these variables and is not ended with the world. */
  inSharedProcess(shared: OwnProcess, environment: NodeJS.ProcessEnv): void {
    this.inThisProcess();
    Object.assign(this.environment, environment);
    this.#own = shared;
    this.#isShared = true;
  }

  /** From now on commands run in the process of the test again, without the variables that were for another one. */
  inThisProcess(): void {
    this.#leaveOwnProcess();
    for (const name of Object.keys(this.environment)) if (OF_THE_PROCESS.test(name)) delete this.environment[name];
  }

  #leaveOwnProcess(): void {
    if (!this.#isShared) this.#own?.[Symbol.dispose]();
    this.#own = undefined;
    this.#isShared = false;
  }

  /** A process of its own, on its way. */
  start(args: readonly string[], options: ProcessOptions = {}): Started {
    const words = [process.execPath, PROGRAM, ...args];
    const [file = "", ...rest] = options.terminal === undefined ? words : onTerminal(words, options.terminal);
    const child = spawn(file, rest, {
      cwd: options.cwd ?? this.directory,
      env: this.#environmentOf(options),
      stdio: ["pipe", "pipe", "pipe"],
      detached: options.group === true,
    });
    if (options.terminal === undefined) child.stdin.end(options.input ?? "");
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const finished = new Promise<Finished>((resolve, reject) => {
      child.on("close", (code) => resolve({ code, stdout, stderr }));
      child.on("error", reject);
    });
    return { child, finished };
  }

  /** A process of its own, to its end. */
  process(args: readonly string[], options: ProcessOptions = {}): Promise<Finished> {
    return this.start(args, options).finished;
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    const { cwd = this.directory, input = "" } = options;
    const call = { env: this.#environmentOf(options), cwd, input };
    const given = this.#own === undefined ? { ...this.environment, ...options.env } : options.env;
    const [wrong] = Object.keys(given ?? {}).filter((name) => OF_THE_PROCESS.test(name));
    if (wrong !== undefined) throw new Error(`${wrong} is read from the process: use process() or inOwnProcess()`);
    if (this.#own !== undefined) return this.#own.run({ args, ...call });
    const io = capturedIo(call);
    const code = await runCli(args, io);
    return { code, ...io.written };
  }

  #environmentOf({ env }: RunOptions): NodeJS.ProcessEnv {
    // On a terminal a pager would wait for a key.
    return { ...ENVIRONMENT, PAGER: "cat", CLEVERAGENTS_DATA_DIR: this.dataDir, ...this.environment, ...env };
  }

  /** Runs with `--format json`; stdout must hold exactly one envelope and stderr nothing. */
  async json(...args: string[]): Promise<Envelope> {
    return envelopeOf(await this.run([...args, "--format", "json"]));
  }

  /** The same as a process of its own. */
  async processJson(...args: string[]): Promise<Envelope> {
    return envelopeOf(await this.process([...args, "--format", "json"]));
  }

  write(name: string, text: string): string {
    const file = join(this.directory, name);
    writeFileSync(file, text);
    return file;
  }

  /** The action, the project and one plan that most tests start from. */
  async withPlan(): Promise<string> {
    this.write("fix.yaml", ACTION_YAML);
    await this.json("action", "create", "--config", "fix.yaml");
    await this.json("project", "create", "shop");
    const { data } = await this.json("plan", "use", "fix-bug", "shop", "--arg", "issue=42");
    return String(data["plan_id"]);
  }

  [Symbol.dispose](): void {
    this.#leaveOwnProcess();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function envelopeOf({ stdout, stderr, code }: Finished): Envelope {
  const envelope = JSON.parse(stdout) as Envelope;
  if (stderr !== "") throw new Error(`unexpected output on stderr: ${stderr}`);
  if (envelope.exit_code !== code) throw new Error(`the envelope says ${envelope.exit_code}, the command ${code}`);
  return envelope;
}

export const ACTION_YAML = `name: fix-bug
description: Fix issue {issue}
long_description: The longer story
definition_of_done: |
  - the test for issue {issue} passes
strategy_actor: openai/gpt-4o
execution_actor: openai/gpt-4o
arguments:
  - name: issue
    type: integer
    required: true
    min: 1
    description: The issue's number
  - name: labels
    type: list
    default: [bug, urgent]
invariants:
  - Keep the public API
  - Keep the tests
`;
