/**
 * Programs in a sandbox: the commands of steps and validations, and the user's hooks. Each ends with everything it
 * started, when its time is over, when it is aborted, and when this process dies; it is confined where the system can
 * do it, and knows nothing secret.
 */
import type { ChildProcess } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { relativePathProblem } from "../../domain/plan/change-entry.ts";
import { AgentsError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import type { Launch } from "../../confinement/backend.ts";
import { borrowedFrom } from "../../git/confined-git.ts";
import { commandEnvironment } from "../../confinement/command-environment.ts";
import { findConfinement } from "../../confinement/confinement.ts";
import type { FileView } from "../../confinement/mounts.ts";
import type { CommandNetwork } from "../../confinement/network/command-network.ts";
import { COMPLAINT, NOT_CONFINED } from "../../confinement/kernel-calls.ts";
import { RunningCommand, takenOverError } from "../../confinement/running-command.ts";
import { NOT_BEGUN, startLaunched } from "../../confinement/start.ts";
import { requireConfinement } from "../../confinement/require-confinement.ts";
import { requireDirectory } from "../../platform/contained-directories.ts";
import { refusedPathError } from "../../platform/contained-path.ts";
import { endGroup } from "../../platform/process-group.ts";
import type { CarriedView } from "../sandbox/carried/carried-view.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { withLeftoversTold } from "./leftover-processes.ts";
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
  /** Its errors are collected apart from its output. */
  readonly errorsApart?: boolean;
  /** Its standard input; nothing unless given. */
  readonly input?: string;
  /** Whether it may use the network, or what it reaches of it; where it cannot be confined, it may use all. */
  readonly network: boolean | CommandNetwork;
  /** Whether it runs confined or not at all. */
  readonly requireConfinement: boolean;
  /** The user's own code, which is never confined. */
  readonly outside?: boolean;
  /** It may read the tree and not change it. */
  readonly readOnlyTree?: boolean;
  /** Says in its output which processes ended with it although it had ended itself. */
  readonly tellsLeftovers?: boolean;
  /** Its home, where it has another one than the sandbox's commands. */
  readonly home?: string;
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
  /** Where they are apart. */
  readonly errors?: string;
}

/** A program that was started, and has ended when nothing of it is left. */
export interface StartedProgram {
  readonly confined: boolean;
  readonly ended: Promise<{ readonly code: number; readonly durationMs: number }>;
  /** The text that it printed so far, or since this was asked last. */
  taken(): { readonly text: string; readonly cut: boolean; readonly errors?: string };
  /** Explains in a sentence why a program that printed this failed in the sandbox. */
  explain(output: string): string | undefined;
  /** The hosts that commands were refused since this was asked last. */
  refusals(): string | undefined;
  /** The whole group is ended: a command's children must not write any more after we have listed the files. */
  kill(): void;
  /** Nothing of it moves until it is let go on, by what this returns. */
  pause(): Promise<() => void>;
}

/** Enough for the checks, of which the end is shown. */
const OUTPUT_LIMIT = 256 * 1024;

export function runShell(command: string, options: ProgramOptions): Promise<ProgramResult> {
  return runProgram(["/bin/sh", "-c", command], options);
}

/** The program is named by its absolute path. */
export async function runProgram(command: readonly string[], options: ProgramOptions): Promise<ProgramResult> {
  const { timeoutMs, signal } = options;
  const program = await startProgram(command, options);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    program.kill();
  }, timeoutMs);
  const kill = (): void => program.kill();
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  try {
    const { code, durationMs } = await program.ended;
    const { text, cut, ...apart } = program.taken();
    const notes = [code === 0 ? undefined : program.explain(text), program.refusals()];
    const note = notes.filter((one) => one !== undefined).join("\n");
    const output = note === "" ? text : `${text.trimEnd()}\n${note}\n`.replace(/^\n/, "");
    return { code, output, cut, timedOut, confined: program.confined, durationMs, ...apart };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", kill);
  }
}

/** The options of a program that does not say itself how long it may run. */
export type ProgramStart = Omit<ProgramOptions, "timeoutMs" | "signal">;

export async function startProgram(command: readonly string[], options: ProgramStart): Promise<StartedProgram> {
  const { input, errorsApart = false, outputLimit = OUTPUT_LIMIT } = options;
  const streams = { oneStream: !errorsApart, input: input === undefined ? ("ignore" as const) : ("pipe" as const) };
  const { child, launch, carried, record } = await started(command, options, streams);
  const begun = performance.now();
  // A program need not read all of it.
  child.stdin?.on("error", () => undefined).end(input);
  let collected = new ProgramOutput(outputLimit);
  const beginning = new ProgramOutput(COMPLAINT_LIMIT);
  const add = (chunk: string): void => [collected, beginning].forEach((one) => one.add(chunk));
  child.stdout?.setEncoding("utf8").on("data", add);
  // Only what the launching shell says before it has joined the streams, where they are joined.
  const apart = errorsApart ? new ProgramOutput(ERRORS_LIMIT) : undefined;
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    if (apart === undefined) add(chunk);
    else [apart, beginning].forEach((one) => one.add(chunk));
  });
  const ended = endOf(child, record, () => beginning.text());
  return {
    confined: launch.confined,
    ended: ended.then(({ code, at }) => ({ code, durationMs: Math.round(at - begun) })),
    taken: () => {
      const errors = apart === undefined ? {} : { errors: apart.text() };
      const taken = { text: collected.text(), cut: collected.isCut, ...errors };
      collected = new ProgramOutput(outputLimit);
      return taken;
    },
    explain: (output) => carried?.explain(output),
    refusals: () => (typeof options.network === "boolean" ? undefined : options.network.refusals()),
    kill: () => endGroup(child.pid),
    pause: async () => (await record?.pause()) ?? (() => undefined),
  };
}

/** A program whose standard streams its caller uses. */
export interface PipedProgram {
  readonly child: ChildProcess;
  /** Resolves when nothing of it is left. */
  readonly ended: Promise<number>;
  kill(): void;
  /** Nothing of it moves until it is let go on, by what this returns. */
  pause(): Promise<() => void>;
  /** All that it started and that has not ended, each by a name that no later process has. */
  running(): ReadonlySet<string>;
}

/** Starts a program that its caller talks to, confined like every other. */
export async function startPiped(command: readonly string[], options: ProgramStart): Promise<PipedProgram> {
  const { child, launch, record } = await started(command, options, { input: "pipe" });
  return {
    child,
    ended: endOf(child, record, () => "").then(({ code }) => code),
    kill: () => endGroup(child.pid),
    pause: async () => (launch.confined ? await record?.pause() : undefined) ?? (() => undefined),
    running: () => (launch.confined ? record?.running() : undefined) ?? new Set(),
  };
}

async function started(
  command: readonly string[],
  options: ProgramStart,
  streams: { readonly input?: "pipe" | "ignore"; readonly oneStream?: boolean },
): Promise<{
  readonly child: ChildProcess;
  readonly launch: Launch & { readonly confined: boolean };
  readonly carried: CarriedView | undefined;
  readonly record: RunningCommand | undefined;
}> {
  const { cwd, commands } = options;
  if (options.requireConfinement && options.outside !== true)
    await requireConfinement({ what: "The command", kept: "It was not run." });
  await Promise.all(homesOf(options).map((home) => mkdir(home, { recursive: true })));
  const carried = await options.carried?.();
  const launch = await launchOf(command, options, carried);
  const record = commands === undefined ? undefined : new RunningCommand(commands);
  return { child: startLaunched(launch, { cwd, record, ...streams }), launch, carried, record };
}

/** When nothing of it is left. */
async function endOf(
  child: ChildProcess,
  record: RunningCommand | undefined,
  beginning: () => string,
): Promise<{ readonly code: number; readonly at: number }> {
  using _record = record;
  const code = await new Promise<number>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (exit) => resolve(exit ?? 137));
  });
  const at = performance.now();
  await record?.gone();
  if (code === NOT_BEGUN && record?.taken() === true) throw takenOverError();
  const said = beginning();
  if (code === NOT_CONFINED && said.startsWith(COMPLAINT)) throw notConfinedError(said);
  return { code, at };
}

/** Its own home, and the one of the sandbox's commands, in which caches come along. */
function homesOf({ root, home }: ProgramStart): readonly [own: string, ...others: string[]] {
  const usual = join(root, "..", "home");
  return home === undefined ? [usual] : [home, usual];
}

const COMPLAINT_LIMIT = 4096;
const ERRORS_LIMIT = 16 * 1024;

async function launchOf(
  command: readonly string[],
  options: ProgramStart,
  carried: CarriedView | undefined,
): Promise<Launch & { readonly confined: boolean }> {
  const { root, cwd, network, readOnlyTree = false, readable = [], writable = [], commands } = options;
  const [program = "", ...args] = command;
  const homes = homesOf(options);
  const [home] = homes;
  const found = await findConfinement();
  const shared = typeof network === "boolean" ? undefined : network;
  const place = (await shared?.place()) ?? (network === true ? "open" : "none");
  const variables = { ...commandEnvironment(home), ...shared?.variables, ...options.environment };
  if (found.kind === "none" || options.outside === true)
    return { program, args, environment: variables, confined: false };
  const { backend = found.backend, layers: all = [], links = [] } = carried ?? {};
  // A package manager that can download writes into its cache, and fails with one that it cannot write.
  const downloads = place === "open" || Object.keys(shared?.variables ?? {}).length > 0;
  const layers = all.filter(
    ({ kind, path }) => !(downloads && kind === "read" && homes.some((one) => path.startsWith(`${one}/`))),
  );
  // Beside the tree lies what is ours.
  const hidden = [dirname(root)];
  const view: FileView = {
    readable: [...readable, ...(readOnlyTree ? [root] : [])],
    writable: [...(readOnlyTree ? [] : [root]), ...homes, ...writable],
    hidden,
    cwd,
    network: typeof place === "string" ? place : "room",
    layers,
    links,
  };
  const recorded = commands !== undefined;
  const watched = options.tellsLeftovers === true ? withLeftoversTold(command) : command;
  const launch = backend.start({ command: watched, environment: variables, recorded }, view);
  return { ...(typeof place === "string" ? launch : place.entered(launch)), confined: true };
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
