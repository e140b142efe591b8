import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { PlanGiven } from "../base/schemas.ts";
import { ChangedFileFacts, changedFiles } from "../queries/diff-facts.ts";
import { FileTexts, fileTexts } from "../queries/file-texts.ts";
import { planMeant } from "../queries/plan-meant.ts";

const TYPES = { added: "write", modified: "edit", mode: "edit", deleted: "delete" } as const;

export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven, texts: z.boolean().default(false) }),
  output: z.strictObject({
    planId: z.string(),
    /** The version of the plan that this is about. */
    version: z.int(),
    artifacts: z.array(ChangedFileFacts.extend({ type: z.enum(["write", "edit", "delete"]) })),
    summary: z.strictObject({
      total: z.int(),
      writes: z.int(),
      edits: z.int(),
      deletes: z.int(),
      totalSize: z.int(),
    }),
    /** Where they were asked for. */
    texts: z.array(FileTexts).optional(),
  }),
  run: async (app, { plan: named, directory, texts }, call) => {
    const plan = await planMeant(
      app,
      { plan: named, directory },
      { operation: "plan.artifacts", standings: ["ready to review", "applied", "undone", "working", "stopped"] },
      call,
    );
    const { files } = await changedFiles(app, plan);
    const artifacts = files.map((file) => ({ ...file, type: TYPES[file.change] }));
    const of = (type: "write" | "edit" | "delete"): number => artifacts.filter((one) => one.type === type).length;
    return {
      planId: plan.id,
      version: plan.version,
      artifacts,
      summary: {
        total: files.length,
        writes: of("write"),
        edits: of("edit"),
        deletes: of("delete"),
        totalSize: files.reduce((sum, { size }) => sum + size, 0),
      },
      ...(texts ? { texts: await fileTexts(app, plan) } : {}),
    };
  },
});
