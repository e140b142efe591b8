/**
 * Our own git, and the only way to start one (a check of the sources holds that): hooks of the user never run, git asks
 * nothing, collects nothing in the background, and works on the repository it is told, not on one that the environment
 * names. A git that is missing, too old or does not answer is an error that says so.
 */
import { nextStep } from "../domain/errors/next-step.ts";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { startLaunched } from "../confinement/start.ts";
import { AgentsError, ConfigurationError } from "../domain/errors/errors.ts";
import { shown } from "../domain/text/text.ts";
import { endGroup } from "../platform/process-group.ts";
import { findProgram, searchPath } from "../platform/programs.ts";
import { confinedGit } from "./confined-git.ts";
import { type GitResult, launch } from "./git-launcher.ts";
import { ownRepository, type SandboxGit } from "./own-repository.ts";

export type { GitResult } from "./git-launcher.ts";

export interface GitOptions {
  /** An absolute path. */
  readonly cwd: string;
  /** `cwd` is its tree: git uses our repository beside it, and never the `.git` in it. */
  readonly sandbox?: SandboxGit | undefined;
  /** Pieces of an iterable are written as git reads them. */
  readonly input?: Uint8Array | string | AsyncIterable<Uint8Array>;
  /** Exit codes that are answers, not failures; `any` accepts each one. */
  readonly accept?: readonly number[] | "any";
  /** Instead of the repository's own index, which then is neither read nor written. */
  readonly index?: string;
  /** Variables to add to git's environment. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Ends git together with everything it started; the call throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * For commands that every git has: a context works with an older git too, and saves the start of a `git --version`.
   */
  readonly anyVersion?: boolean;
}

const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.sparseCheckout=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "advice.detachedHead=false",
];

/**
 * A submodule has its own repository, with settings and filters that a command may have written: git does not enter
 * any.
 */
const SANDBOX_SETTINGS = ["submodule.recurse=false", "diff.ignoreSubmodules=all", "status.submoduleSummary=false"];

/** The first version with `merge-tree --write-tree`, by which apply merges. */
const OLDEST = [2, 38] as const;
/** Git that reads or writes a whole tree may take long; git that hangs must not hold a plan for ever. */
export const WHOLE_TREE_MS = 1_800_000;
/** In a sandbox git may wait for something that a command left there: a listing or an answer gets this long. */
export const LISTING_MS = 60_000;

export async function git(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { cwd, accept = [0] } = options;
  if (options.anyVersion !== true) await requireGit();
  const result = await run(args, options);
  if (accept === "any" || accept.includes(result.code)) return result;
  const lines = result.stderr.trim().split("\n");
  // Git writes its advice after the failure.
  const why = lines.find((line) => line.startsWith("fatal:")) ?? lines.at(-1) ?? "";
  throw new AgentsError("git_failed", `git ${verbOf(args)} failed in ${cwd}: ${why || `exit code ${result.code}`}`, {
    detail: { arguments: args, exit_code: result.code },
    kept: "Nothing of yours was changed.",
  });
}

/** The command among the words: without `-c <setting>` and other options before it. */
function verbOf(args: readonly string[]): string {
  return args.find((word, index) => !word.startsWith("-") && args[index - 1] !== "-c") ?? "";
}

interface GitStart {
  readonly program: string;
  readonly words: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
}

function startOf(
  args: readonly string[],
  { sandbox, index, env }: Pick<GitOptions, "sandbox" | "index" | "env">,
): GitStart {
  const program = findProgram("git");
  if (program === undefined) throw missingError();
  const settings = sandbox === undefined ? SETTINGS : [...SETTINGS, ...SANDBOX_SETTINGS];
  const words = [...settings.flatMap((setting) => ["-c", setting]), ...args];
  const own = sandbox === undefined ? {} : ownRepository(sandbox);
  const other = index === undefined ? {} : { GIT_INDEX_FILE: index };
  return { program, words, environment: { ...baseEnvironment(), ...env, ...own, ...other } };
}

/**
 * Starts git as a child of this process, in its own group: an interrupt on the terminal is for this process to answer,
 * and a limit ends git together with everything it started. In a sandbox it is confined like a command.
 */
export async function spawnGit(
  args: readonly string[],
  options: Pick<GitOptions, "cwd" | "sandbox" | "index" | "env">,
): Promise<ChildProcessWithoutNullStreams> {
  const { cwd, sandbox } = options;
  const { program, words, environment } = startOf(args, options);
  if (sandbox === undefined) return spawn(program, words, { cwd, env: environment, stdio: "pipe", detached: true });
  const { tree, repository, objects } = sandbox;
  const place = { cwd, writable: [tree, repository], objects, environment };
  const child = startLaunched(await confinedGit(program, words, place), { cwd, record: undefined, input: "pipe" });
  if (child.stdin === null || child.stdout === null || child.stderr === null) throw missingError();
  return child as ChildProcessWithoutNullStreams;
}

export async function gitText(args: readonly string[], options: GitOptions): Promise<string> {
  return (await git(args, options)).stdout.toString("utf8").trimEnd();
}

/** The version by PATH, so that each git is asked once; tests change PATH. */
const versions = new Map<string | undefined, Promise<string>>();

/** The version of git; an error when there is none, or one that is too old for plans. */
export function requireGit(): Promise<string> {
  const { PATH } = process.env;
  const known = versions.get(PATH) ?? version();
  versions.set(PATH, known);
  return known;
}

async function version(): Promise<string> {
  const { stdout } = await run(["--version"], { cwd: "/", timeoutMs: 30_000 });
  const [found = "of unknown version", major = "0", minor = "0"] = /(\d+)\.(\d+)[\w.]*/.exec(stdout.toString()) ?? [];
  const [oldestMajor, oldestMinor] = OLDEST;
  if (Number(major) > oldestMajor || (Number(major) === oldestMajor && Number(minor) >= oldestMinor)) return found;
  throw new ConfigurationError(
    `git ${found} is too old: plans on repositories need git ${OLDEST.join(".")} or newer.`,
    {
      kept: "Nothing was changed.",
      next: [nextStep("diagnostics")],
      detail: { found, needed: OLDEST.join(".") },
    },
  );
}

async function run(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { cwd, sandbox, signal, timeoutMs = sandbox === undefined ? WHOLE_TREE_MS : LISTING_MS } = options;
  signal?.throwIfAborted();
  const stop = new AbortController();
  const abort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  const timer = setTimeout(() => stop.abort(tooSlowError(args, cwd, timeoutMs)), timeoutMs);
  try {
    const launched = await runByLauncher(args, options, stop.signal);
    stop.signal.throwIfAborted();
    return launched ?? (await runHere(args, options, stop.signal));
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** Undefined for a git that is to be started here: one in a sandbox, with input, or with variables of its own. */
async function runByLauncher(
  args: readonly string[],
  options: GitOptions,
  stop: AbortSignal,
): Promise<GitResult | undefined> {
  const { cwd, sandbox, input, index, env } = options;
  const isPlain = sandbox === undefined && input === undefined && index === undefined && env === undefined;
  if (!isPlain || !isAbsolute(cwd)) return undefined;
  const { program, words, environment } = startOf(args, options);
  const result = await launch([program, "-C", cwd, ...words], environment, stop);
  // The error of a directory that cannot be entered is the same for both ways.
  if (result?.code === 128 && !canEnter(cwd)) throw notStartedError(undefined, cwd);
  return result;
}

async function runHere(args: readonly string[], options: GitOptions, stop: AbortSignal): Promise<GitResult> {
  const child = await spawnGit(args, options);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  // A git that ends without reading its input is judged by its exit code.
  child.stdin.on("error", () => undefined);
  const fed = feed(child.stdin, options.input);
  const end = (): void => endGroup(child.pid);
  stop.addEventListener("abort", end, { once: true });
  // It may have been aborted while the confinement was being prepared.
  if (stop.aborted) end();
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.on("error", (error) => reject(notStartedError(error, options.cwd)));
      child.on("close", (exit) => resolve(exit ?? KILLED));
    });
    stop.throwIfAborted();
    const failure = await fed;
    if (failure !== undefined) throw failure.error;
    return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString("utf8") };
  } finally {
    stop.removeEventListener("abort", end);
  }
}

/** The exit code of a git that a signal ended, as a shell gives it. */
const KILLED = 137;

/** The failure of the input, if it had one: git then finds it cut short. */
async function feed(stdin: Writable, input: GitOptions["input"]): Promise<{ readonly error: unknown } | undefined> {
  if (input === undefined || typeof input === "string" || input instanceof Uint8Array) {
    stdin.end(input ?? "");
    return undefined;
  }
  let failure: { readonly error: unknown } | undefined;
  const pieces = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* input;
    } catch (error) {
      failure = { error };
      throw error;
    }
  };
  await pipeline(pieces, stdin).catch(() => undefined);
  return failure;
}

/** The system reports a missing program and a missing directory to start it in alike. */
function notStartedError(cause: Error | undefined, cwd: string): AgentsError {
  if (canEnter(cwd)) return missingError(cause);
  const why = existsSync(cwd) ? "cannot be entered: permission denied" : "no longer exists";
  return new AgentsError("git_failed", `${shown(cwd, 200)} ${why}.`, { cause, kept: "Nothing was changed." });
}

function canEnter(directory: string): boolean {
  try {
    accessSync(directory, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function missingError(cause?: Error): ConfigurationError {
  const why = cause === undefined ? "it is not in any absolute directory of PATH" : cause.message;
  return new ConfigurationError(`git cannot be run: ${why}.`, {
    cause,
    kept: "Nothing was changed.",
    next: [nextStep("diagnostics")],
  });
}

function tooSlowError(args: readonly string[], cwd: string, timeoutMs: number): AgentsError {
  const message = `git ${verbOf(args)} gave no answer within ${timeoutMs / 1000} s in ${cwd}.`;
  return new AgentsError("git_failed", message, { kept: "Nothing of yours was changed." });
}

/** Most variables of git's own would name another repository than the one we ask about; these do not. */
const HARMLESS = new Set(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"]);

function baseEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_") || HARMLESS.has(name));
  return {
    ...Object.fromEntries(kept),
    PATH: searchPath(),
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    LC_ALL: "C",
  };
}
