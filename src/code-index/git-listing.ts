/**
 * Which files of a directory count, by git's own rules: what is tracked, and what is not ignored. A plain directory is asked about in the
 * same way, through an empty repository of ours, so that `.gitignore` files mean the same everywhere.
 *
 * Plans start git in `src/execution`, with sandboxes and limits in mind that this room knows nothing of; here it only lists names. It runs
 * no hook and no file system monitor, takes no lock, and asks nothing.
 */
import { isUtf8 } from "node:buffer";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { AgentsError, ConfigurationError } from "../domain/errors.ts";
import { shown } from "../domain/text.ts";
import { searchPath } from "../store/programs.ts";
import { type GitAnswer, runGit } from "./git-process.ts";

export interface Listing {
  /** Relative, with `/`, without duplicates, in the order of their code units. */
  readonly paths: readonly string[];
  readonly gaps: readonly { readonly path: string; readonly reason: string }[];
}

const LIST = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
const HARMLESS = new Set(["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH"]);

export interface ListedTree {
  readonly root: string;
  /**
   * Whose rules count. The repository that git finds is only for a user's own directories, and the default: in a sandbox it may be a
   * command's work, and there it is one of ours that lies elsewhere, or none.
   */
  readonly repository?: "found" | "none" | { readonly gitDir: string };
}

/** @param spare a directory for the empty repository of ours; it is made when it is needed. */
export async function listFiles(
  { root, repository = "found" }: ListedTree,
  spare: string,
  signal: AbortSignal | undefined,
): Promise<Listing> {
  if (repository !== "found") return listSandbox(root, repository, spare, signal);
  if (existsSync(join(root, ".git")) || (isBelowRepository(root) && (await isPartOfCheckout(root, signal)))) {
    return listing(await git(["-C", root, ...LIST], root, signal));
  }
  return listPlain(root, spare, signal);
}

/** Of what a command left there may be something to wait for: longer than this nothing waits. */
const SANDBOX_MS = 60_000;

async function listSandbox(
  root: string,
  repository: "none" | { readonly gitDir: string },
  spare: string,
  signal: AbortSignal | undefined,
): Promise<Listing> {
  const limit = AbortSignal.timeout(SANDBOX_MS);
  const either = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  try {
    if (repository === "none") return await listPlain(root, spare, either);
    return listing(await git([...apart(repository.gitDir, root), ...LIST], root, either));
  } catch (error) {
    if (!limit.aborted || signal?.aborted === true) throw error;
    throw new AgentsError("git_failed", `git did not list the files of ${shown(root, 200)} within 60 s.`, {
      kept: "Nothing of yours was changed.",
    });
  }
}

async function listPlain(root: string, spare: string, signal: AbortSignal | undefined): Promise<Listing> {
  makeEmptyRepository(spare);
  return listing(await git([...apart(spare, root), ...LIST, "--exclude=node_modules/"], root, signal));
}

/** With a git directory that is not in the tree. */
function apart(gitDir: string, root: string): string[] {
  return [`--git-dir=${gitDir}`, `--work-tree=${root}`, "-C", root];
}

/** A directory that the checkout around it ignores is none of its parts: it counts by itself. */
async function isPartOfCheckout(root: string, signal: AbortSignal | undefined): Promise<boolean> {
  const inside = await git(["-C", root, "rev-parse", "--is-inside-work-tree"], root, signal, [0, 128]);
  if (inside.stdout.toString().trim() !== "true") return false;
  return (await git(["-C", root, "check-ignore", "--quiet", "."], root, signal, [0, 1, 128])).code === 1;
}

/** What has no `.git` above it need not be asked about: to start git takes a tenth of the time of a question asked again. */
function isBelowRepository(root: string): boolean {
  for (let directory = root; ; directory = dirname(directory)) {
    if (existsSync(join(directory, ".git"))) return true;
    if (dirname(directory) === directory) return false;
  }
}

function listing({ stdout, stderr }: GitAnswer): Listing {
  const paths = new Set<string>();
  const gaps = new Map<string, string>();
  for (const name of namesIn(stdout, (bytes) => gaps.set(bytes.toString("utf8"), "its name is not valid UTF-8"))) {
    if (name.endsWith("/")) gaps.set(name.slice(0, -1), "a repository of its own");
    else paths.add(name);
  }
  for (const [, path = "", reason = ""] of stderr.matchAll(/^warning: could not open directory '(.*)\/': (.*)$/gm)) {
    gaps.set(path, `a directory that cannot be read: ${reason}`);
  }
  return {
    paths: [...paths].sort(byCodeUnits),
    gaps: [...gaps].map(([path, reason]) => ({ path, reason })),
  };
}

/** Those that are UTF-8; mostly all of them are. */
function namesIn(output: Buffer, onOther: (name: Buffer) => void): readonly string[] {
  if (isUtf8(output)) return output.toString("utf8").split("\0").slice(0, -1);
  return Array.from(pieces(output)).flatMap((name) => {
    if (isUtf8(name)) return [name.toString("utf8")];
    onOther(name);
    return [];
  });
}

export function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function* pieces(output: Buffer): Generator<Buffer> {
  let from = 0;
  for (let to = output.indexOf(0); to !== -1; to = output.indexOf(0, from)) {
    yield output.subarray(from, to);
    from = to + 1;
  }
}

/** As little as git takes for a repository. Several processes may make it at once. */
function makeEmptyRepository(directory: string): void {
  for (const part of ["objects", "refs"]) mkdirSync(join(directory, part), { recursive: true, mode: 0o700 });
  if (!existsSync(join(directory, "HEAD"))) writeFileSync(join(directory, "HEAD"), "ref: refs/heads/none\n");
}

async function git(
  args: readonly string[],
  root: string,
  signal: AbortSignal | undefined,
  accept: readonly number[] = [0],
): Promise<GitAnswer> {
  const quiet = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];
  let answer: GitAnswer;
  try {
    answer = await runGit([...quiet, ...args], environment(), signal);
  } catch (error) {
    signal?.throwIfAborted();
    throw missing(error);
  }
  const { code, stderr } = answer;
  if (accept.includes(code)) return answer;
  const why = stderr.split("\n").find((line) => line.startsWith("fatal:")) ?? `exit code ${code}`;
  throw new AgentsError("git_failed", `git cannot list the files of ${shown(root, 200)}: ${why}`, {
    kept: "Nothing of yours was changed.",
    detail: { exit_code: code },
  });
}

function missing(cause: unknown): AgentsError {
  return new ConfigurationError("git cannot be run, and the files of a project are listed with it.", {
    cause,
    kept: "Nothing was changed.",
    next: ["agents diagnostics"],
  });
}

/** Settings that say which repository is meant would speak of another one than we ask about. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_") || HARMLESS.has(name));
  const fixed = { PATH: searchPath(), GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" };
  return { ...Object.fromEntries(kept), ...fixed };
}
