import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync } from "node:fs";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AgentsError, ConfigurationError } from "../domain/errors.ts";
import { shown } from "../domain/text.ts";
import { findProgram, searchPath } from "../store/programs.ts";
import { confinedGit } from "./confinement/confined-git.ts";
import { startLaunched } from "./confinement/start.ts";
import { ownRepository, type SandboxGit } from "./own-repository.ts";
import { endGroup } from "./process-group.ts";

/**
 * Our own git plumbing, and the only place that starts git: the user's hooks never run, nothing is asked, nothing is collected in the
 * background, and the repository a command works on is the one it is told, whatever the environment says. A git that is missing, too
 * old or does not answer is an error that says so.
 */
export interface GitOptions {
  readonly cwd: string;
  /** `cwd` is its tree: our repository beside it is meant, and never the `.git` in it. */
  readonly sandbox?: SandboxGit | undefined;
  /** What comes piece by piece is given as git takes it. */
  readonly input?: Uint8Array | string | AsyncIterable<Uint8Array>;
  /** Exit codes that are answers, not failures; `any` takes each one. */
  readonly accept?: readonly number[] | "any";
  /** Instead of the repository's own index, which then is neither read nor written. */
  readonly index?: string;
  /** What git is to see in its environment besides. */
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.sparseCheckout=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "advice.detachedHead=false",
];

/** A submodule has a repository of its own, with settings and filters that a command may have written: git does not go into any. */
const SANDBOX_SETTINGS = ["submodule.recurse=false", "diff.ignoreSubmodules=all", "status.submoduleSummary=false"];

/** `merge-tree --write-tree`, which apply is made with, came with it. */
const OLDEST = [2, 38] as const;
/** Git that reads or writes a whole tree may take its time; git that hangs must not hold a plan for ever. */
export const WHOLE_TREE_MS = 1_800_000;
/** In a sandbox, where git may wait for what a command left there, it gets no more than this for a listing or an answer. */
export const LISTING_MS = 60_000;

export async function git(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { cwd, accept = [0] } = options;
  await requireGit();
  const result = await run(args, options);
  if (accept === "any" || accept.includes(result.code)) return result;
  const lines = result.stderr.trim().split("\n");
  // What git advises comes after what went wrong.
  const why = lines.find((line) => line.startsWith("fatal:")) ?? lines.at(-1) ?? "";
  const verb = args.find((word, index) => word !== "-c" && args[index - 1] !== "-c") ?? "";
  throw new AgentsError("git_failed", `git ${verb} failed in ${cwd}: ${why || `exit code ${result.code}`}`, {
    detail: { arguments: args, exit_code: result.code },
    kept: "Nothing of yours was changed.",
  });
}

/**
 * Just the process. Every git of ours is started here, in a group of its own: an interrupt on the terminal is ours to answer, and a
 * limit ends what git started as well. In a sandbox it is confined like a command.
 */
export async function spawnGit(
  args: readonly string[],
  { cwd, sandbox, index, env }: Pick<GitOptions, "cwd" | "sandbox" | "index" | "env">,
): Promise<ChildProcessWithoutNullStreams> {
  const program = findProgram("git");
  if (program === undefined) throw missing();
  const settings = sandbox === undefined ? SETTINGS : [...SETTINGS, ...SANDBOX_SETTINGS];
  const environmentOfGit = {
    ...environment(),
    ...env,
    ...(sandbox === undefined ? {} : ownRepository(sandbox)),
    ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
  };
  const line = [...settings.flatMap((setting) => ["-c", setting]), ...args];
  if (sandbox === undefined) return spawn(program, line, { cwd, env: environmentOfGit, stdio: "pipe", detached: true });
  const { tree, repository, objects } = sandbox;
  const place = { cwd, writable: [tree, repository], objects, environment: environmentOfGit };
  const child = startLaunched(await confinedGit(program, line, place), { cwd, record: undefined, input: "pipe" });
  if (child.stdin === null || child.stdout === null || child.stderr === null) throw missing();
  return child as ChildProcessWithoutNullStreams;
}

export async function gitText(args: readonly string[], options: GitOptions): Promise<string> {
  return (await git(args, options)).stdout.toString("utf8").trimEnd();
}

/** Which git was found where, so that it is asked once; tests change where. */
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
      next: ["agents diagnostics"],
      detail: { found, needed: OLDEST.join(".") },
    },
  );
}

async function run(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { cwd, sandbox, input, timeoutMs = sandbox === undefined ? WHOLE_TREE_MS : LISTING_MS } = options;
  const child = await spawnGit(args, options);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  // A git that ends without reading its input is judged by its exit code.
  child.stdin.on("error", () => undefined);
  const fed = feed(child.stdin, input);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    endGroup(child.pid);
  }, timeoutMs);
  try {
    const code = await new Promise<number>((resolve, reject) => {
      child.on("error", (error) => reject(notStarted(error, cwd)));
      child.on("close", (exit) => resolve(exit ?? 137));
    });
    if (late) throw tooSlow(args, cwd, timeoutMs);
    const failure = await fed;
    if (failure !== undefined) throw failure.error;
    return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString("utf8") };
  } finally {
    clearTimeout(timer);
  }
}

/** What kept the input from being told, if anything did: git then finds it cut short. */
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

/** The same failure of the system stands for a missing program and for a missing directory to start it in. */
function notStarted(cause: Error, cwd: string): AgentsError {
  if (existsSync(cwd)) return missing(cause);
  const extras = { cause, kept: "Nothing was changed." };
  return new AgentsError("git_failed", `${shown(cwd, 200)} is not there any more.`, extras);
}

function missing(cause?: Error): ConfigurationError {
  return new ConfigurationError("git cannot be run, and a git-checkout needs it.", {
    cause,
    kept: "Nothing was changed.",
    next: ["agents diagnostics"],
  });
}

function tooSlow(args: readonly string[], cwd: string, timeoutMs: number): AgentsError {
  const command = args.find((word) => !word.includes("=") && word !== "-c") ?? "";
  return new AgentsError("git_failed", `git ${command} gave no answer within ${timeoutMs / 1000} s in ${cwd}.`, {
    kept: "Nothing of yours was changed.",
  });
}

/** Settings of git's own that say which repository is meant would speak of another one than we ask about; these do not. */
const HARMLESS = new Set(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"]);

function environment(): NodeJS.ProcessEnv {
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
