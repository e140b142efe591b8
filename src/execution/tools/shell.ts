/**
 * Programs in a sandbox: the commands of steps and validations, and the user's hooks. Each ends with everything it
 * started, when its time is over, when it is aborted, and when this process dies; it is confined where the system can
 * do it, and knows nothing secret.
 */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { relativePathProblem } from "../../domain/plan/change-entry.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Launch } from "../../confinement/backend.ts";
import { borrowedFrom } from "../../git/confined-git.ts";
import { commandEnvironment } from "../../confinement/command-environment.ts";
import { findConfinement } from "../../confinement/confinement.ts";
import { COMPLAINT, NOT_CONFINED } from "../../confinement/kernel-calls.ts";
import { RunningCommand, takenOverError } from "../../confinement/running-command.ts";
import { NOT_BEGUN, startLaunched } from "../../confinement/start.ts";
import { requireConfinement } from "../../confinement/require-confinement.ts";
import { requireDirectory } from "../../platform/contained-directories.ts";
import { refusedPathError } from "../../platform/contained-path.ts";
import { endGroup } from "../../platform/process-group.ts";
import type { CarriedView } from "../sandbox/carried/carried-view.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { ProgramOutput } from "./program-output.ts";

export interface ProgramOptions {
  /** The sandbox's tree, which is writable. */
  readonly root: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Characters of output that are kept; of more, the beginning and the end. */
  readonly outputLimit?: number;
  /** On top of what every program gets. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether it may use the network; where it cannot be confined, it can. */
  readonly network: boolean;
  /** Whether it runs confined or not at all. */
  readonly requireConfinement: boolean;
  /** Further directories it may read, also where they would be hidden, and write. */
  readonly readable?: readonly string[];
  readonly writable?: readonly string[];
  /** The user's dependencies and caches as it sees them. */
  readonly carried?: Sandbox["carried"];
  /**
   * The directory in which the commands of the sandbox's owner record themselves, so that the next owner can end
   * them.
   */
  readonly commands?: string | undefined;
}

export interface ProgramResult {
  readonly [key: string]: string | number | boolean;
  readonly code: number;
  readonly output: string;
  readonly cut: boolean;
  readonly timedOut: boolean;
  readonly confined: boolean;
  readonly durationMs: number;
}

/** Enough for the checks, of which the end is shown. */
const OUTPUT_LIMIT = 256 * 1024;

export function runShell(command: string, options: ProgramOptions): Promise<ProgramResult> {
  return runProgram(["/bin/sh", "-c", command], options);
}

/** The program is named by its absolute path. */
export async function runProgram(command: readonly string[], options: ProgramOptions): Promise<ProgramResult> {
  const { cwd, timeoutMs, signal, commands } = options;
  if (options.requireConfinement) await requireConfinement({ what: "The command", kept: "It was not run." });
  const home = join(options.root, "..", "home");
  await mkdir(home, { recursive: true });
  const carried = await options.carried?.();
  const launch = await launchOf(command, home, options, carried);
  using record = commands === undefined ? undefined : new RunningCommand(commands);
  const started = performance.now();
  const child = startLaunched(launch, { cwd, record, oneStream: true });
  const collected = new ProgramOutput(options.outputLimit ?? OUTPUT_LIMIT);
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => collected.add(chunk));
  // Only what the launching shell says before it has joined the streams.
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => collected.add(chunk));
  let timedOut = false;
  // The whole process group is ended: a command's children must not write any more after we have listed the files.
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
      child.on("close", (exit) => resolve(exit ?? 137));
    });
    const durationMs = Math.round(performance.now() - started);
    await record?.gone();
    const output = collected.text();
    if (code === NOT_BEGUN && record?.taken() === true) throw takenOverError();
    if (code === NOT_CONFINED && output.startsWith(COMPLAINT)) throw notConfinedError(output);
    const note = code === 0 ? undefined : carried?.explain(output);
    const told = note === undefined ? output : `${output.trimEnd()}\n${note}\n`;
    return { code, output: told, cut: collected.isCut, timedOut, confined: launch.confined, durationMs };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", kill);
  }
}

async function launchOf(
  command: readonly string[],
  home: string,
  options: ProgramOptions,
  carried: CarriedView | undefined,
): Promise<Launch & { readonly confined: boolean }> {
  const { root, cwd, network, readable = [], writable = [], commands } = options;
  const [program = "", ...args] = command;
  const variables = { ...commandEnvironment(home), ...options.environment };
  const found = await findConfinement();
  if (found.kind === "none") return { program, args, environment: variables, confined: false };
  const { backend = found.backend, layers = [], links = [] } = carried ?? {};
  // Beside the tree lies what is ours.
  const hidden = [dirname(root)];
  const view = {
    readable,
    writable: [root, home, ...writable],
    hidden,
    cwd,
    network,
    layers,
    links,
  };
  const recorded = commands !== undefined;
  return { ...backend.start({ command, environment: variables, recorded }, view), confined: true };
}

function notConfinedError(output: string): AgentsError {
  const [why = ""] = output.slice(COMPLAINT.length).split("\n");
  return new AgentsError("tool_failed", `The command could not be confined: ${why}.`, {
    kept: "It was not run.",
    next: [nextStep("diagnostics")],
  });
}

/** Where the objects are that the sandbox's repository only refers to: a confined git must see them. */
export function borrowedBy({ objects }: Pick<Sandbox, "objects">): readonly string[] {
  return objects === undefined ? [] : borrowedFrom(objects);
}

/** The directory of the sandbox in which a command is to run. */
export async function workingDirectory(root: string, cwd: string | undefined): Promise<string> {
  if (cwd === undefined || cwd === ".") return root;
  const problem = relativePathProblem(cwd);
  if (problem !== undefined) throw refusedPathError(cwd, problem);
  await requireDirectory(root, cwd);
  return join(root, cwd);
}

/** How a program failed, in the middle of a sentence; undefined when it did not. */
export function failureOf(
  { code, timedOut }: Pick<ProgramResult, "code" | "timedOut">,
  timeoutMs: number,
): string | undefined {
  if (timedOut) return `did not end within ${timeoutMs} ms`;
  return code === 0 ? undefined : `ended with exit code ${code}`;
}
