import * as z from "zod";
import { defineOperation } from "../base/operation.ts";
import { PlanReference } from "../base/schemas.ts";
import { ChangedFileFacts, changedFiles } from "../queries/diff-facts.ts";

const TYPES = { added: "write", modified: "edit", mode: "edit", deleted: "delete" } as const;

export const operation = defineOperation({
  input: z.strictObject({ plan: PlanReference }),
  output: z.strictObject({
    artifacts: z.array(ChangedFileFacts.extend({ type: z.enum(["write", "edit", "delete"]) })),
    summary: z.strictObject({
      total: z.int(),
      writes: z.int(),
      edits: z.int(),
      deletes: z.int(),
      totalSize: z.int(),
    }),
  }),
  run: async (app, { plan }) => {
    const { files } = await changedFiles(app, await (await app.plans()).getPlan(plan));
    const artifacts = files.map((file) => ({ ...file, type: TYPES[file.change] }));
    const of = (type: "write" | "edit" | "delete"): number => artifacts.filter((one) => one.type === type).length;
    return {
      artifacts,
      summary: {
        total: files.length,
        writes: of("write"),
        edits: of("edit"),
        deletes: of("delete"),
        totalSize: files.reduce((sum, { size }) => sum + size, 0),
      },
    };
  },
});
