import * as z from "zod";
import { groupOfPlan } from "../../ledger/candidate-records.ts";
import { noCandidateError } from "../../plans/candidates.ts";
import { confirmed } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { PlanReference } from "../base/schemas.ts";
import { chooseAndApply } from "../procedures/candidate-choice.ts";
import { Applied, NotApplied } from "../procedures/land-plan.ts";

/** Chooses a candidate and applies it. Of two callers that choose at once, one wins; the other gets a conflict. */
export const operation = defineOperation({
  input: z.strictObject({ plan: PlanReference, verify: z.boolean().default(true) }),
  output: z.union([Applied.extend({ groupId: z.string() }), NotApplied]),
  run: async (app, { plan: named, verify }, call) => {
    const plan = await (await app.plans()).getPlan(named);
    call.meant?.(plan);
    const group = await (await app.store()).read((reader) => groupOfPlan(reader, plan.id));
    if (group === undefined) throw noCandidateError(plan.id);
    const outcome = await chooseAndApply(app, plan.id, { verify, applyAnyway: true }, call);
    if (outcome.applied) return { ...outcome, groupId: group.id };
    // Where no one can be asked this says so, and how to go on.
    if (outcome.why !== undefined) await confirmed(call, `Choose plan ${plan.id} and apply it?`);
    return { applied: false as const };
  },
});
