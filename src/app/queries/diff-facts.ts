/** The changes of a plan, as `git diff` shows them, with the steps and decisions that made each change. */
import * as z from "zod";
import type { Plan } from "../../domain/plan/plan.ts";
import { diffOf } from "../../changes/diff-cache.ts";
import { leftOut } from "../../execution/sandbox/unapplied-files.ts";
import { planChanges } from "../../changes/plan-changes.ts";
import type { App } from "../base/app.ts";

export const ChangedFileFacts = z.strictObject({
  resource: z.string(),
  path: z.string(),
  change: z.enum(["added", "modified", "mode", "deleted"]),
  steps: z.array(z.string()).readonly(),
  decisions: z.array(z.string()).readonly(),
  size: z.int(),
});

export const PlanDiffFacts = z.strictObject({
  diffSummary: z.strictObject({
    plan: z.string(),
    project: z.string().nullable(),
    filesChanged: z.int(),
    insertions: z.int(),
    deletions: z.int(),
    netChange: z.int(),
  }),
  files: z.array(ChangedFileFacts),
  /** Paths that the plan's commands made and that are not part of the plan; null when that cannot be said now. */
  leftOut: z
    .array(z.strictObject({ resource: z.string(), path: z.string() }))
    .readonly()
    .nullable(),
  patch: z.string(),
});

export async function changedFiles(app: App, plan: Plan) {
  const store = await app.store();
  const entries = await planChanges(store, plan.id, plan.attempt);
  const { files, insertions, deletions, patch } = await diffOf(store, entries);
  const facts = files.map(({ resource, path, change, steps, decisions, size }) => ({
    resource,
    path,
    change,
    steps,
    decisions,
    size,
  }));
  return { entries, files: facts, insertions, deletions, patch };
}

export async function diffOfPlan(app: App, plan: Plan): Promise<z.output<typeof PlanDiffFacts>> {
  const { entries, files, insertions, deletions, patch } = await changedFiles(app, plan);
  return {
    diffSummary: {
      plan: plan.id,
      project: plan.projects[0]?.project ?? null,
      filesChanged: files.length,
      insertions,
      deletions,
      netChange: insertions - deletions,
    },
    files,
    leftOut: (await leftOut(app.paths.sandboxes, plan, entries)) ?? null,
    patch,
  };
}
