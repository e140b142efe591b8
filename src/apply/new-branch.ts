/** A branch that does not exist yet, made of a plan's changes. One that exists is never moved. */
import { worksInPlace } from "../domain/resource/resource.ts";
import { ConflictError, PlanError, UsageError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { shown } from "../domain/text/text.ts";
import { git } from "../git/git.ts";
import type { SandboxRecord } from "../ledger/sandbox-records.ts";

export const BRANCHES = "refs/heads/";

/** @throws UsageError for a name that git does not take, ConflictError where the repository has a branch in its way. */
export async function requireNewBranch(root: string, name: string): Promise<void> {
  const ref = `${BRANCHES}${name}`;
  const { code } = await git(["check-ref-format", ref], { cwd: root, accept: [0, 1] });
  if (code !== 0 || name.startsWith("-"))
    throw new UsageError(`${shown(name)} cannot be the name of a branch.`, { kept: "Nothing was written." });
  const taken = await branchInTheWay(root, ref);
  if (taken !== undefined) throw branchExistsError(taken.slice(BRANCHES.length), root);
}

/** Git keeps no branch "a/b" beside a branch "a". The branch of a HEAD without a commit would get one. */
async function branchInTheWay(root: string, ref: string): Promise<string | undefined> {
  const parts = ref.slice(BRANCHES.length).split("/");
  const above = parts.map((_, index) => `${BRANCHES}${parts.slice(0, index + 1).join("/")}`);
  const listed = await git(["for-each-ref", "--format=%(refname)", ...above], { cwd: root });
  const head = await git(["symbolic-ref", "--quiet", "HEAD"], { cwd: root, accept: [0, 1] });
  const refs = `${listed.stdout.toString("utf8")}${head.stdout.toString("utf8")}`.split("\n").filter(Boolean);
  return refs.find((one) => one === ref || one.startsWith(`${ref}/`) || ref.startsWith(`${one}/`));
}

export function branchExistsError(name: string, root: string): ConflictError {
  return new ConflictError(
    `There is a branch ${shown(name)} in ${shown(root, 300)} already.`,
    { expected: "no branch of that name", actual: "a branch", code: "already_exists" },
    { kept: "The branch is as it was.", next: [{ text: "repeat the command with another name" }] },
  );
}

/** A resource whose changes stand on a commit: a repository that the plan began from as it was committed. */
export type CommittedRecord = SandboxRecord & { readonly baseCommit: string };

/** A commit on top of uncommitted work would have that work in it. */
export function requireCommitted(record: SandboxRecord, plan: Plan, cannot: string): CommittedRecord {
  const { alias, baseCommit, dirty } = record;
  const why =
    baseCommit === undefined || worksInPlace(record)
      ? "has no commit that the changes could stand on"
      : dirty
        ? "the plan began from files that are not committed there"
        : undefined;
  if (why === undefined && baseCommit !== undefined) return { ...record, baseCommit };
  throw new PlanError(`${alias} cannot be ${cannot}: ${why}.`, {
    kept: "Nothing was written.",
    next: [nextStep("plan.diff", { plan: plan.id, output: "changes.patch" }, "for git apply")],
  });
}
