/** Runs the command line the way a user does: a new process, an own data directory, nothing shared but the file system. */
import { spawn, type ChildProcessByStdio } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { onTerminal } from "./pseudo-terminal.ts";
import { fileURLToPath } from "node:url";

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
const PROGRAM = join(ROOT, process.env["NODE_V8_COVERAGE"] === undefined ? "bin/agents" : "src/cli/main.ts");
const { FORCE_COLOR: _force, NO_COLOR: _no, CLEVERAGENTS_FORMAT: _format, ...ENVIRONMENT } = process.env;

export class Agents implements Disposable {
  readonly directory: string = mkdtempSync(join(tmpdir(), "cleveragents-cli-"));
  /** What every command sees besides. */
  readonly environment: NodeJS.ProcessEnv = {};
  readonly dataDir: string;

  constructor(dataDir?: string) {
    this.dataDir = dataDir ?? join(this.directory, "data");
  }

  get database(): string {
    return join(this.dataDir, "cleveragents.db");
  }

  start(args: readonly string[], options: RunOptions = {}): Started {
    const words = [process.execPath, PROGRAM, ...args];
    const [file = "", ...rest] = options.terminal === undefined ? words : onTerminal(words, options.terminal);
    const child = spawn(file, rest, {
      cwd: options.cwd ?? this.directory,
      env: { ...ENVIRONMENT, CLEVERAGENTS_DATA_DIR: this.dataDir, ...this.environment, ...options.env },
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

  async run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    return this.start(args, options).finished;
  }

  /** Runs with `--format json`; stdout must hold exactly one envelope and stderr nothing. */
  async json(...args: string[]): Promise<Envelope> {
    const { stdout, stderr, code } = await this.run([...args, "--format", "json"]);
    const envelope = JSON.parse(stdout) as Envelope;
    if (stderr !== "") throw new Error(`unexpected output on stderr: ${stderr}`);
    if (envelope.exit_code !== code) throw new Error(`the envelope says ${envelope.exit_code}, the process ${code}`);
    return envelope;
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
    rmSync(this.directory, { recursive: true, force: true });
  }
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
