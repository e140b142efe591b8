/**
 * When a target moved since the plan began, the merged result is not the one that was validated. Then the validations
 * run again, on the files as they will be: in sandboxes made of the merged commits, and of copies of the directories
 * with the changes in them. Nothing of the user's is touched for it.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { openNetwork } from "../execution/workspace/open-workspace.ts";
import type { AttachedValidation } from "../domain/validation/attachment.ts";
import { commitAt } from "../git/checkout.ts";
import { writeState, removeState } from "../platform/file-state.ts";
import { discardSandbox, MERGED_ATTEMPT } from "../execution/sandbox/sandbox-inventory.ts";
import { validatePlan, type PlanValidation } from "../execution/checks/plan-validation.ts";
import type { SandboxRecord } from "../ledger/sandbox-records.ts";
import { openSandbox, resetSandbox, type Sandbox, type SandboxPlace } from "../execution/sandbox/sandbox.ts";
import type { ValidationRoot } from "../execution/checks/validation-runner.ts";
import type { Landing } from "../ledger/landing.ts";

export interface MergedWork extends Pick<PlanValidation, "lease" | "signal" | "tell"> {
  /** The directory of the sandboxes. */
  readonly directory: string;
  readonly records: readonly SandboxRecord[];
  readonly landings: readonly Landing[];
  readonly contents: ReadonlyMap<string, Uint8Array>;
  readonly validations: readonly AttachedValidation[];
}

/** Whether a landing changes other files than those the plan began with. */
export function hasMoved(records: readonly SandboxRecord[], landings: readonly Landing[], began: Began): boolean {
  return landings.some((landing) => {
    const record = records.find(({ alias }) => alias === landing.alias);
    if (landing.git !== undefined) return record?.dirty === true || landing.git.oldCommit !== record?.baseCommit;
    return landing.files.some(({ path, before }) => before?.hash !== began(landing.alias, path));
  });
}

/** The hash of the content that a path of a directory had when the plan began. */
export type Began = (alias: string, path: string) => string | undefined;

export async function validateMerged(work: MergedWork): Promise<void> {
  const { lease, records, landings, validations } = work;
  const place = { directory: work.directory, planId: lease.planId, attempt: MERGED_ATTEMPT };
  const wanted = new Set(validations.map(({ resource }) => resource));
  const { network: access, requireConfinement } = lease.plan.profile;
  await using opened = new AsyncDisposableStack();
  const roots = new Map<string, ValidationRoot>();
  const made: string[] = [];
  try {
    for (const record of records.filter(({ alias }) => wanted.has(alias))) {
      await discardSandbox(place, record.alias);
      made.push(record.alias);
      const sandbox = await mergedSandbox(work, place, record);
      const network = opened.use(openNetwork(access, record.path));
      roots.set(record.alias, { sandbox, network, requireConfinement, restore: () => resetSandbox(sandbox) });
    }
    const tree = createHash("sha256").update(JSON.stringify(landings)).digest("hex");
    await validatePlan({ ...work, where: "merged", tree, roots });
  } finally {
    for (const alias of made) await discardSandbox(place, alias);
  }
}

async function mergedSandbox(work: MergedWork, place: SandboxPlace, record: SandboxRecord): Promise<Sandbox> {
  const { alias, strategy, path, ref } = record;
  const landing = work.landings.find((one) => one.alias === alias);
  const target = { alias, strategy, path, branch: undefined, readOnly: false };
  if (strategy === "git_worktree") {
    const commit = landing?.git?.newCommit ?? (await commitAt(path, ref ?? "HEAD"));
    if (commit === undefined) throw new Error(`${path} has lost ${ref ?? "HEAD"}`);
    return openSandbox(place, { ...target, base: { commit, ref, dirty: false } });
  }
  const sandbox = await openSandbox(place, target);
  const base = join(sandbox.root, "..", "base");
  for (const { path: file, before, after } of landing?.files ?? []) {
    if (before !== undefined && after === undefined) await removeState(base, file);
  }
  for (const { path: file, after } of landing?.files ?? []) {
    const content = after === undefined ? undefined : work.contents.get(after.hash);
    if (after !== undefined && content !== undefined) await writeState(base, file, { content, mode: after.mode });
  }
  await resetSandbox(sandbox);
  return sandbox;
}
