/**
 * A plan's changes as a commit on top of where the plan began, for git to carry away: a branch, a patch for `git am`, a
 * bundle. Nothing that the user has is changed: a branch is only made where there is none of that name.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PlanError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { ChangesetId } from "../domain/names/ids.ts";
import { monotonicIds } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { recordedCommitMessage } from "../changes/commit-message.ts";
import { targetTaken } from "../changes/net-changes.ts";
import type { PlanChange } from "../changes/plan-changes.ts";
import { git, gitText } from "../git/git.ts";
import { treeWith } from "../git/git-import.ts";
import { commitTree, noObject } from "../git/git-objects.ts";
import { ChangesetStore } from "../ledger/changesets.ts";
import type { Store } from "../store/port.ts";
import { landingMessage } from "./landing-message.ts";
import { branchExistsError, BRANCHES, requireCommitted, requireNewBranch, type CommittedRecord } from "./new-branch.ts";
import { partialLanding, type TakenPart } from "./partial-landing.ts";
import { entriesOf, recordsOf } from "./plan-landing.ts";
import { notStoredError } from "./prepare-landings.ts";
import { effect, stepsIn } from "./shared-worlds.ts";

/** The plan's result in one repository. */
export interface ExportedCommit {
  readonly resource: string;
  readonly root: string;
  readonly base: string;
  readonly commit: string;
}

/** The commits, one for each git repository that the plan changed. Nothing refers to them yet. */
export async function exportedCommits(
  store: Store,
  plan: Plan,
  part: TakenPart | undefined,
): Promise<ExportedCommit[]> {
  const all = await entriesOf(store, plan);
  const taken =
    part === undefined ? undefined : await partialLanding(store, all, part, monotonicIds()() as ChangesetId);
  const entries = [...all, ...(taken?.entries ?? [])];
  const commits: ExportedCommit[] = [];
  for (const record of await recordsOf(store, plan)) {
    const own = entries.filter(({ resource }) => resource === record.alias);
    if (own.length === 0) continue;
    if (targetTaken(own).size > 0) throw resolvedError(plan, record.alias);
    commits.push(await exportedCommit(store, plan, requireCommitted(record, plan, "exported"), own));
  }
  if (commits.length > 0) return commits;
  throw new PlanError(`The plan ${plan.id} changed nothing that could be exported.`, {
    kept: "Nothing was written.",
    next: [nextStep("plan.status", { plan: plan.id })],
  });
}

/** On the commit that the plan began from, the lines that it was merged with would be its own. */
function resolvedError(plan: Plan, alias: string): PlanError {
  return new PlanError(`${alias} cannot be exported: its conflicts were resolved with a later commit.`, {
    kept: "Nothing was written.",
    next: [nextStep("plan.apply", { plan: plan.id, onto: "<branch>" })],
  });
}

async function exportedCommit(
  store: Store,
  plan: Plan,
  { alias, path, baseCommit }: CommittedRecord,
  own: readonly PlanChange[],
): Promise<ExportedCommit> {
  const changesets = new ChangesetStore(store);
  const changes = [...effect(own, stepsIn(own))].map(([file, { after }]) => ({ path: file, after }));
  const wish = { contents: (hashes: readonly string[]) => changesets.contents(hashes), missingError: notStoredError };
  const { tree } = await treeWith(path, baseCommit, changes, wish);
  const decisions = [...new Set(own.flatMap(({ decision }) => decision ?? []))];
  const recorded = await recordedCommitMessage(store, plan, alias);
  const message = landingMessage("apply", plan, { changesets: [], decisions, message: recorded });
  const commit = await commitTree(path, { tree, parents: [baseCommit], message });
  return { resource: alias, root: path, base: baseCommit, commit };
}

/** Makes the branch in each repository, or in none where one of them has it already. */
export async function makeBranches(commits: readonly ExportedCommit[], name: string): Promise<void> {
  const ref = `${BRANCHES}${name}`;
  for (const { root } of commits) await requireNewBranch(root, name);
  for (const { root, commit } of commits) {
    const made = await git(["update-ref", "-m", "cleveragents: export", ref, commit, noObject(commit)], {
      cwd: root,
      accept: [0, 1, 128],
    });
    if (made.code !== 0) throw branchExistsError(name, root);
  }
}

/** For `git am`. */
export async function patchOf({ root, base, commit }: ExportedCommit): Promise<string> {
  const args = ["format-patch", "--stdout", "--binary", "--no-signature", "--find-renames", `${base}..${commit}`];
  const { stdout } = await git(["-c", "core.quotePath=true", ...args], { cwd: root });
  return stdout.toString("utf8");
}

/** The bytes of a bundle with one branch of this name. A repository of our own names it, which borrows the objects. */
export async function bundleOf({ root, base, commit }: ExportedCommit, branch: string): Promise<Buffer> {
  const scratch = mkdtempSync(join(tmpdir(), "cleveragents-bundle-"));
  try {
    const objects = await gitText(["rev-parse", "--path-format=absolute", "--git-path", "objects"], { cwd: root });
    const format = commit.length === 64 ? "sha256" : "sha1";
    await git(["init", "--quiet", "--bare", `--object-format=${format}`, scratch], { cwd: scratch });
    mkdirSync(join(scratch, "objects", "info"), { recursive: true });
    writeFileSync(join(scratch, "objects", "info", "alternates"), `${objects}\n`);
    await git(["update-ref", `refs/heads/${branch}`, commit], { cwd: scratch });
    const file = join(scratch, "plan.bundle");
    await git(["bundle", "create", "--quiet", file, `^${base}`, `refs/heads/${branch}`], { cwd: scratch });
    return readFileSync(file);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
