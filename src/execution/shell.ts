import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { relativePathProblem } from "../domain/change-entry.ts";
import { requireProgram, searchPath } from "../store/programs.ts";
import { canConfine, confined } from "./bubblewrap.ts";
import { requireConfinement } from "./confinement/required.ts";
import { requireDirectory } from "./contained-directories.ts";
import { refused } from "./contained-path.ts";
import { endGroup } from "./process-group.ts";
import type { Sandbox } from "./sandbox.ts";

/**
 * Programs in a sandbox: the commands of steps and validations, and the user's hooks. Each ends with everything it started, when its
 * time is over, when it is aborted, and when this process dies; it is confined where bubblewrap works, and knows nothing secret.
 */
export interface ProgramOptions {
  /** The sandbox's tree, which is writable. */
  readonly root: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Which part of a long output is kept. */
  readonly keep: "start" | "end";
  /** On top of what every program gets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether it may use the network; where it cannot be confined, it can. */
  readonly network: boolean;
  /** Whether it runs confined or not at all. */
  readonly requireConfinement: boolean;
  /** Further directories it may read, also where they would be hidden, and write. */
  readonly readable?: readonly string[];
  readonly writable?: readonly string[];
}

export interface ProgramResult {
  readonly [key: string]: string | number | boolean;
  readonly code: number;
  readonly output: string;
  readonly cut: boolean;
  readonly timedOut: boolean;
  readonly confined: boolean;
}

const OUTPUT_LIMIT = 256 * 1024;

/**
 * Runs the program with a watcher beside it that holds the other end of a pipe of ours: when this process dies, however it dies, the
 * pipe closes and the watcher ends the whole group, so that nothing goes on writing into a sandbox somebody else resumes. Confined
 * ones too: bubblewrap asks to die with its parent a moment after it was started, and outlives one that is killed before.
 */
const DIES_WITH_US = '{ read -r _ <&3; kill -s KILL -- -$$; } & exec 3<&-; exec "$@"';

export function runShell(command: string, options: ProgramOptions): Promise<ProgramResult> {
  return runProgram(["sh", "-c", command], options);
}

export async function runProgram(command: readonly string[], options: ProgramOptions): Promise<ProgramResult> {
  const { root, cwd, timeoutMs, signal, keep, network, readable = [], writable = [] } = options;
  if (options.requireConfinement) await requireConfinement({ what: "The command", kept: "It was not run." });
  const home = join(root, "..", "home");
  await mkdir(home, { recursive: true });
  const confine = await canConfine();
  const line = confine ? confined(command, { readable, writable: [root, home, ...writable], cwd, network }) : command;
  const child = spawn(requireProgram("sh"), ["-c", DIES_WITH_US, "sh", ...line], {
    cwd,
    env: { ...environment(home), ...options.environment },
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  let output = "";
  let cut = false;
  const collect = (chunk: string): void => {
    output += chunk;
    if (output.length <= OUTPUT_LIMIT) return;
    cut = true;
    output = keep === "start" ? output.slice(0, OUTPUT_LIMIT) : output.slice(-OUTPUT_LIMIT);
  };
  child.stdout?.setEncoding("utf8").on("data", collect);
  child.stderr?.setEncoding("utf8").on("data", collect);
  let timedOut = false;
  // The whole process group goes: a command's children must not go on writing after we have looked.
  const kill = (): void => endGroup(child.pid);
  const timer = setTimeout(() => {
    timedOut = true;
    kill();
  }, timeoutMs);
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.on("error", reject);
      child.on("exit", kill);
      child.on("close", (exit) => resolve(exit ?? 137));
    });
    return { code, output, cut, timedOut, confined: confine };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", kill);
  }
}

/** Where the objects are that the sandbox's repository only refers to: a confined git must see them. */
export function borrowedBy({ objects }: Pick<Sandbox, "objects">): readonly string[] {
  return objects === undefined ? [] : [objects];
}

/** The directory of the sandbox in which a command is to run. */
export async function workingDirectory(root: string, cwd: string | undefined): Promise<string> {
  if (cwd === undefined || cwd === ".") return root;
  const problem = relativePathProblem(cwd);
  if (problem !== undefined) throw refused(cwd, problem);
  await requireDirectory(root, cwd);
  return join(root, cwd);
}

/** How a program failed, in the middle of a sentence; undefined when it did not. */
export function failureOf({ code, timedOut }: ProgramResult, timeoutMs: number): string | undefined {
  if (timedOut) return `did not end within ${timeoutMs} ms`;
  return code === 0 ? undefined : `ended with exit code ${code}`;
}

/** What a command needs to run, and nothing that is secret. */
function environment(home: string): NodeJS.ProcessEnv {
  const { LANG, TZ } = process.env;
  return {
    PATH: searchPath(),
    LANG: LANG ?? "C.UTF-8",
    TZ,
    HOME: home,
    TERM: "dumb",
    GIT_TERMINAL_PROMPT: "0",
    CI: "1",
  };
}
