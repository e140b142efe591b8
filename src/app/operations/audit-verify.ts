import * as z from "zod";
import { AuditBrokenError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { verifyAudit } from "../../store/tables/audit-verification.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps } from "../base/schemas.ts";

/** Facts that the entries do not hold, and a change of which therefore goes unnoticed. */
const NOT_CHECKED = [
  "what plans decided",
  "the tools they called",
  "the changes they recorded",
  "the models they asked and what that cost",
];

export const operation = defineOperation({
  input: z.strictObject({ expect: z.string().optional() }),
  output: z.strictObject({
    verified: z.literal(true),
    entries: z.int(),
    chains: z.int(),
    seals: z.int(),
    head: z.string().nullable(),
    entriesSinceExpected: z.int().nullable(),
    notChecked: z.array(z.string()),
    nextSteps: NextSteps.optional(),
  }),
  run: async (app, { expect }, call) => {
    call.tell({ type: "progress", doing: "checking the audit log" });
    const verified = await verifyAudit(await app.store(), { expect, at: Date.now() });
    const { problem, sinceExpected, entries, chains, seals, head } = verified;
    if (problem !== undefined) {
      const { message, ...where } = problem;
      throw new AuditBrokenError(message, {
        kept: "The log was left as it is; nothing was sealed over it.",
        detail: { ...where, checked_entries: entries },
        next: [nextStep("audit.list"), { text: "compare with a backup of the database" }],
      });
    }
    return {
      verified: true as const,
      entries,
      chains,
      seals,
      head: head ?? null,
      entriesSinceExpected: sinceExpected ?? null,
      notChecked: NOT_CHECKED,
      ...(head === undefined ? {} : { nextSteps: [nextStep("audit.verify", { expect: head }, "later")] }),
    };
  },
});
