import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { existsSync } from "node:fs";
import type { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AgentsError, ConfigurationError } from "../domain/errors.ts";
import { shown } from "../domain/text.ts";
import { endGroup } from "./process-group.ts";
import { disarm, ownRepository } from "./sandbox-repository.ts";

export { PLAIN_ATTRIBUTES } from "./sandbox-repository.ts";

/**
 * Our own git plumbing, and the only place that starts git: the user's hooks never run, nothing is asked, nothing is collected in the
 * background, and the repository a command works on is the one it is told, whatever the environment says. A git that is missing, too
 * old or does not answer is an error that says so.
 */
export interface GitOptions {
  readonly cwd: string;
  /** `cwd` is a sandbox: its own repository and tree are meant, whatever a command made of its settings or of its `.git`. */
  readonly sandbox?: boolean;
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

/** `merge-tree --write-tree`, which apply is made with, came with it. */
const OLDEST = [2, 38] as const;
/** Git that works on files may take its time; git that hangs must not hold a plan for ever. */
const PATIENCE_MS = 1_800_000;

export async function git(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { cwd, sandbox = false, accept = [0] } = options;
  await requireGit();
  if (sandbox) await disarm(cwd);
  const result = await run(withSettings(args), { ...options, env: environmentFor(options) });
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

/** Just the process, of a git that was asked for before. Whoever starts one in a sandbox disarms it first. */
export function spawnGit(
  args: readonly string[],
  options: Pick<GitOptions, "cwd" | "sandbox">,
): ChildProcessWithoutNullStreams {
  return spawn("git", withSettings(args), { cwd: options.cwd, env: environmentFor(options), stdio: "pipe" });
}

function withSettings(args: readonly string[]): string[] {
  return [...SETTINGS.flatMap((setting) => ["-c", setting]), ...args];
}

function environmentFor({ cwd, sandbox = false, index, env }: GitOptions): NodeJS.ProcessEnv {
  return {
    ...environment(),
    ...env,
    ...(sandbox ? ownRepository(cwd) : {}),
    ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
  };
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
  const { stdout } = await run(["--version"], { cwd: "/", env: environment(), timeoutMs: 30_000 });
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

async function run(
  args: readonly string[],
  options: Pick<GitOptions, "cwd" | "input" | "timeoutMs"> & { readonly env: NodeJS.ProcessEnv },
): Promise<GitResult> {
  const { cwd, env, input, timeoutMs = PATIENCE_MS } = options;
  // A group of its own: an interrupt on the terminal is ours to answer, and a limit ends what git started too.
  const child = spawn("git", args, { cwd, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
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
  const extras = { cause, kept: "Nothing was changed." };
  if (!existsSync(cwd)) return new AgentsError("git_failed", `${shown(cwd, 200)} is not there any more.`, extras);
  return new ConfigurationError("git cannot be run, and a git-checkout needs it.", {
    ...extras,
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
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    LC_ALL: "C",
  };
}
