import { writeFileSync } from "node:fs";
import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps, PlanGiven } from "../base/schemas.ts";
import { acceptedPart } from "../queries/accepted-part.ts";
import { planMeant } from "../queries/plan-meant.ts";

const Input = z.strictObject({
  ...PlanGiven,
  branch: z.string().min(1).optional(),
  patch: z.string().min(1).optional(),
  bundle: z.string().min(1).optional(),
  accepted: z.boolean().default(false),
});

export const operation = defineOperation({
  input: Input,
  output: z.strictObject({
    planId: z.string(),
    exported: z.array(
      z.strictObject({
        resource: z.string(),
        place: z.string(),
        /** The commit that the plan began from, which the receiver of the export needs. */
        base: z.string(),
        commit: z.string(),
        branch: z.string().nullable(),
        files: z.array(z.string()),
      }),
    ),
    nextSteps: NextSteps,
  }),
  run: async (app, { plan: named, directory, branch, patch, bundle, accepted }, call) => {
    if (branch === undefined && patch === undefined && bundle === undefined) {
      throw new UsageError("Say what to make of the plan: --branch NAME, --patch FILE or --bundle FILE.", {
        kept: "Nothing was written.",
      });
    }
    const standings = ["ready to review", "stopped", "applied", "undone"] as const;
    const plan = await planMeant(app, { plan: named, directory }, { operation: "plan.export", standings }, call);
    const store = await app.store();
    const { bundleOf, exportedCommits, makeBranches, patchOf } = await import("../../apply/export-plan.ts");
    const part = accepted ? (await acceptedPart(store, plan)).taken : undefined;
    const commits = await exportedCommits(store, plan, part);
    if (branch !== undefined) await makeBranches(commits, branch);
    const exported = [];
    for (const one of commits) {
      const { resource, root: place, base, commit } = one;
      const files: string[] = [];
      const put = (file: string, content: string | Uint8Array): void => {
        const path = commits.length === 1 ? file : `${file}.${resource}`;
        writeNew(path, content);
        files.push(path);
      };
      if (patch !== undefined) put(patch, await patchOf(one));
      if (bundle !== undefined) put(bundle, await bundleOf(one, branch ?? `plan-${plan.id.toLowerCase()}`));
      exported.push({ resource, place, base, commit, branch: branch ?? null, files });
    }
    return { planId: plan.id, exported, nextSteps: [nextStep("plan.status", { plan: plan.id })] };
  },
});

/** A file that is there already stays as it is. */
function writeNew(path: string, content: string | Uint8Array): void {
  try {
    writeFileSync(path, content, { flag: "wx" });
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error,
      kept: "A file that was there is as it was.",
      next: [{ text: "name another file" }],
    });
  }
}
