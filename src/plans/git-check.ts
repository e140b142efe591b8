import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ConfigurationError } from "../domain/errors.ts";
import { nearest } from "../domain/suggest.ts";
import { shown } from "../domain/text.ts";
import { OWN_SETTINGS } from "../execution/git.ts";

/** Asks git what a directory is. It only reads: nothing here runs a hook, takes a lock or refreshes an index. */
const run = promisify(execFile);
const PATIENCE_MS = 30_000;

export interface Problem {
  readonly path: "path" | "branch";
  readonly message: string;
  readonly suggestion?: string;
}

/** Undefined when `path` (a real path) is the top of a git work tree that has the branch, if one is wanted. */
export async function checkoutProblem(path: string, branch: string | undefined): Promise<Problem | undefined> {
  const complain = (message: string): Problem => ({ path: "path", message: `${shown(path, 200)} ${message}` });
  const kind = await git(path, ["rev-parse", "--is-bare-repository", "--is-inside-work-tree"]);
  if (!kind.ok) {
    if (kind.complaint.includes("not a git repository")) return complain("is not in a git repository");
    return complain(`cannot be read by git: ${kind.complaint}`);
  }
  const [bare, inside] = kind.output.split("\n");
  if (bare === "true") return complain("is a bare repository, which has no working tree");
  if (inside !== "true") return complain("is inside a repository's own .git directory");
  const top = await git(path, ["rev-parse", "--show-toplevel"]);
  if (!top.ok) return complain(`cannot be read by git: ${top.complaint}`);
  // Both are real paths, so one place has one spelling.
  if (top.output !== path) {
    return {
      ...complain(`is not the top of its work tree, which is ${shown(top.output, 200)}`),
      suggestion: top.output,
    };
  }
  return branch === undefined ? undefined : branchMissing(path, branch);
}

async function branchMissing(path: string, branch: string): Promise<Problem | undefined> {
  const listed = await git(path, ["for-each-ref", "--format=%(refname)", "refs/heads/"]);
  if (!listed.ok) return { path: "branch", message: `the branches cannot be read by git: ${listed.complaint}` };
  const branches = listed.output.split("\n").flatMap((ref) => (ref === "" ? [] : [ref.slice("refs/heads/".length)]));
  if (branches.includes(branch)) return undefined;
  const suggestion = nearest(branch, branches);
  const why = branches.length === 0 ? ": the repository has no commit yet" : "";
  const message = `there is no branch ${shown(branch)} in ${shown(path, 200)}${why}`;
  return { path: "branch", message, ...(suggestion === undefined ? {} : { suggestion }) };
}

type Answer = { readonly ok: true; readonly output: string } | { readonly ok: false; readonly complaint: string };

async function git(directory: string, args: readonly string[]): Promise<Answer> {
  try {
    const { stdout } = await run("git", ["-C", directory, ...args], {
      env: environment(),
      timeout: PATIENCE_MS,
      maxBuffer: 256 * 1024 * 1024,
    });
    return { ok: true, output: stdout.replace(/\n$/, "") };
  } catch (error) {
    const { code, killed, stderr } = error as { code?: unknown; killed?: boolean; stderr?: string };
    if (code === "ENOENT" || code === "EACCES") {
      throw new ConfigurationError("git cannot be run, and a git-checkout needs it.", {
        kept: "Nothing was written.",
        next: ["agents diagnostics"],
        cause: error,
      });
    }
    if (killed === true) return { ok: false, complaint: `no answer within ${PATIENCE_MS / 1000} s` };
    const [first = ""] = (stderr ?? "").split("\n");
    return { ok: false, complaint: first.replace(/^fatal: /, "") || String(error) };
  }
}

/** What a caller inside a git hook has set (GIT_DIR, GIT_WORK_TREE, …) speaks of another repository than the one we ask about. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_") || OWN_SETTINGS.has(name));
  return { ...Object.fromEntries(kept), LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0" };
}
