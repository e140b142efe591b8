import * as z from "zod";
import { candidateGroupNamed } from "../../plans/candidates.ts";
import { requireJudge } from "../../runs/candidate-judge.ts";
import { defineOperation } from "../base/operation.ts";
import { PlanReference } from "../base/schemas.ts";
import { comparedAndJudged } from "../procedures/candidate-choice.ts";
import { compareCandidates, Comparison } from "../queries/candidate-facts.ts";
import { isId, planMeant } from "../queries/plan-meant.ts";

/** Shows the candidates side by side; with a judge, asks it for a recommendation that is not recorded yet. */
export const operation = defineOperation({
  input: z.strictObject({ id: PlanReference, judge: z.string().optional() }),
  output: Comparison,
  run: async (app, { id, judge }, call) => {
    const named = isId(id) ? id : (await planMeant(app, { plan: id }, { operation: "plan.compare" }, call)).id;
    const group = await candidateGroupNamed(await app.store(), named);
    if (judge === undefined) return compareCandidates(app, group);
    const asked = requireJudge(await app.actorNamed(judge)).name;
    return comparedAndJudged(app, { ...group, judge: asked }, call);
  },
});
