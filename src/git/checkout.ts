/** Asks git what a directory is. It only reads: nothing here runs a hook, takes a lock or refreshes an index. */
import { nearest } from "../domain/text/suggest.ts";
import { shown } from "../domain/text/text.ts";
import { git } from "./git.ts";

export interface CheckoutProblem {
  readonly path: "path" | "branch";
  readonly message: string;
  readonly suggestion?: string;
}

/** Undefined when `path` (a real path) is the top of a git work tree that has the branch, if one is wanted. */
export async function checkoutProblem(path: string, branch: string | undefined): Promise<CheckoutProblem | undefined> {
  const complain = (message: string): CheckoutProblem => ({ path: "path", message: `${shown(path, 200)} ${message}` });
  const kind = await ask(path, ["rev-parse", "--is-bare-repository", "--is-inside-work-tree"]);
  if (!kind.ok) {
    if (kind.complaint.includes("not a git repository")) return complain("is not in a git repository");
    return complain(`cannot be read by git: ${kind.complaint}`);
  }
  const [bare, inside] = kind.output.split("\n");
  if (bare === "true") return complain("is a bare repository, which has no working tree");
  if (inside !== "true") return complain("is inside a repository's own .git directory");
  const top = await ask(path, ["rev-parse", "--show-toplevel"]);
  if (!top.ok) return complain(`cannot be read by git: ${top.complaint}`);
  // Both are real paths, so that one place has one spelling.
  if (top.output !== path) {
    return {
      ...complain(`is not the top of its work tree, which is ${shown(top.output, 200)}`),
      suggestion: top.output,
    };
  }
  return branch === undefined ? undefined : branchMissing(path, branch);
}

async function branchMissing(path: string, branch: string): Promise<CheckoutProblem | undefined> {
  const listed = await ask(path, ["for-each-ref", "--format=%(refname)", "refs/heads/"]);
  if (!listed.ok) return { path: "branch", message: `the branches cannot be read by git: ${listed.complaint}` };
  const branches = listed.output.split("\n").flatMap((ref) => (ref === "" ? [] : [ref.slice("refs/heads/".length)]));
  if (branches.includes(branch)) return undefined;
  const suggestion = nearest(branch, branches);
  const why = branches.length === 0 ? ": the repository has no commit yet" : "";
  const message = `there is no branch ${shown(branch)} in ${shown(path, 200)}${why}`;
  return { path: "branch", message, ...(suggestion === undefined ? {} : { suggestion }) };
}

type Answer = { readonly ok: true; readonly output: string } | { readonly ok: false; readonly complaint: string };

async function ask(cwd: string, args: readonly string[]): Promise<Answer> {
  const { code, stdout, stderr } = await git(args, { cwd, accept: "any", timeoutMs: 30_000 });
  if (code === 0) return { ok: true, output: stdout.toString("utf8").replace(/\n$/, "") };
  const [first = ""] = stderr.split("\n");
  return { ok: false, complaint: first.replace(/^fatal: /, "") || `exit code ${code}` };
}

/** Undefined when there is no such revision. */
export async function commitAt(path: string, revision: string): Promise<string | undefined> {
  const asked = ["rev-parse", "--verify", "--quiet", `${revision}^{commit}`];
  const { code, stdout } = await git(asked, { cwd: path, accept: "any" });
  return code === 0 ? stdout.toString("utf8").trimEnd() : undefined;
}
