import { spawn } from "node:child_process";
import { copyFile, lstat, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentsError } from "../domain/errors.ts";
import { ifCode } from "./contained-path.ts";

/**
 * Our own git plumbing: the user's hooks never run, nothing is asked, nothing is collected in the background, and the repository a
 * command works on is the one it is told, whatever the environment says.
 */
export interface GitOptions {
  readonly cwd: string;
  /** `cwd` is a sandbox: its own repository and tree are meant, whatever a command made of its settings or of its `.git`. */
  readonly sandbox?: boolean;
  readonly input?: Uint8Array | string;
  /** Exit codes that are answers, not failures. */
  readonly accept?: readonly number[];
  /** What git is to see in its environment besides. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
}

const SETTINGS = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.sparseCheckout=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "advice.detachedHead=false",
];

export async function git(args: readonly string[], options: GitOptions): Promise<GitResult> {
  const { cwd, sandbox = false, input, accept = [0], env = {} } = options;
  if (sandbox) await disarm(cwd);
  const child = spawn("git", [...SETTINGS.flatMap((setting) => ["-c", setting]), ...args], {
    cwd,
    env: { ...environment(), ...env, ...(sandbox ? { GIT_DIR: join(cwd, ".git"), GIT_WORK_TREE: cwd } : {}) },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  // A git that ends without reading its input is judged by its exit code.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input ?? "");
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  }).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new AgentsError("git_failed", `git cannot be started: ${why}.`, {
      kept: "Nothing of yours was changed.",
      next: ["agents diagnostics"],
      cause: error,
    });
  });
  if (code === null || !accept.includes(code)) {
    const lines = Buffer.concat(stderr).toString("utf8").trim().split("\n");
    // What comes after it is advice.
    const why = lines.find((line) => line.startsWith("fatal: ")) ?? lines.at(-1) ?? "";
    const command = args.find((word, index) => word !== "-c" && args[index - 1] !== "-c") ?? "";
    throw new AgentsError("git_failed", `git ${command} failed in ${cwd}: ${why || `exit code ${code}`}`, {
      detail: { arguments: args, exit_code: code },
      kept: "Nothing of yours was changed.",
    });
  }
  return { code, stdout: Buffer.concat(stdout) };
}

const OLDEST_GIT = [2, 38] as const;

/** What is wrong with the git that answers `git version` like this; older ones cannot merge without a work tree. */
export function gitVersionProblem(answer: string): string | undefined {
  const [whole = "?", major, minor] = /(\d+)\.(\d+)[\w.]*/.exec(answer) ?? [];
  const isOld = Number(major) < OLDEST_GIT[0] || (Number(major) === OLDEST_GIT[0] && Number(minor) < OLDEST_GIT[1]);
  return isOld ? `git ${whole} is older than ${OLDEST_GIT.join(".")}, which plans on repositories need` : undefined;
}

export async function requireGit(cwd: string): Promise<void> {
  const problem = gitVersionProblem(await gitText(["version"], { cwd }));
  if (problem === undefined) return;
  throw new AgentsError("git_failed", `${problem}.`, { kept: "Nothing was changed.", next: ["agents diagnostics"] });
}

export async function gitText(args: readonly string[], options: GitOptions): Promise<string> {
  return (await git(args, options)).stdout.toString("utf8").trimEnd();
}

/** A copy of the sandbox's git configuration as it was made, kept beside it. */
export const PRISTINE_CONFIG = "git-config";

/** Wins over the repository's own attributes, which may ask for other line ends, filters or encodings. */
export const PLAIN_ATTRIBUTES = "* -text -ident -filter !working-tree-encoding\n";

/**
 * A command in the sandbox may have written filters, exclusions or settings into its `.git`; our own git, which is not confined, must
 * not run or obey them.
 */
async function disarm(root: string): Promise<void> {
  await requireRepository(root);
  const own = join(root, ".git");
  for (const name of ["config", "info"]) await removeLink(join(own, name));
  await mkdir(join(own, "info"), { recursive: true });
  for (const name of ["attributes", "exclude", "sparse-checkout", "grafts"])
    await rm(join(own, "info", name), { recursive: true, force: true });
  await rm(join(own, "config.worktree"), { recursive: true, force: true });
  await writeFile(join(own, "info", "attributes"), PLAIN_ATTRIBUTES);
  await rm(join(own, "config"), { recursive: true, force: true });
  await copyFile(join(root, "..", PRISTINE_CONFIG), join(own, "config"));
}

async function removeLink(path: string): Promise<void> {
  const found = await lstat(path).catch(ifCode("ENOENT"));
  if (found?.isSymbolicLink() === true) await rm(path);
}

/** Without it, or through a link, git would go and find somebody else's. */
export async function requireRepository(root: string): Promise<void> {
  const found = await lstat(join(root, ".git")).catch(ifCode("ENOENT"));
  if (found?.isDirectory() === true) return;
  throw new AgentsError("git_failed", `The sandbox ${root} has lost its git repository.`, {
    kept: "Nothing of yours was changed.",
    detail: { sandbox: root },
  });
}

/** Where the user's own settings are; everything else that begins with GIT_ may speak of another repository. */
export const OWN_SETTINGS: ReadonlySet<string> = new Set([
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_SYSTEM",
  "GIT_CONFIG_NOSYSTEM",
  "GIT_EXEC_PATH",
]);

/** Everything of the user's environment but what would point git elsewhere. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_") || OWN_SETTINGS.has(name));
  return {
    ...Object.fromEntries(kept),
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    LC_ALL: "C",
  };
}
