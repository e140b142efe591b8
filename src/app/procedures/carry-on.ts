/**
 * Carries a plan on from where it is: executes it, asks what the profile wants asked, shows the diff and applies it
 * after a yes. When anything stops it, the plan stays, and every operation on plans continues from there.
 */
import * as z from "zod";
import type { Plan } from "../../domain/plan/plan.ts";
import type { App } from "../base/app.ts";
import type { Call, Shown } from "../base/call.ts";
import { diffOfPlan } from "../queries/diff-facts.ts";
import { carryOut, mayApply } from "./carry-out.ts";
import { Executed, StrategyReady, type ExecutePlanOptions } from "./execute-plan.ts";
import { Applied, applyPlan } from "./land-plan.ts";

export interface CarryOnOptions extends ExecutePlanOptions {
  /** Apply the result also when the project's own check failed on it. */
  readonly applyAnyway: boolean;
}

export const CarriedOn = [
  StrategyReady.extend({ executed: z.literal(false).optional() }),
  Executed.extend({ applied: z.literal(false).optional() }),
  Executed.extend({ ...Applied.shape, changes: Executed.shape.changes }),
] as const;

export type CarriedOn = z.output<(typeof CarriedOn)[number]>;

export async function carryOn(app: App, plan: Plan, options: CarryOnOptions, call: Call): Promise<CarriedOn> {
  const executed = await carryOut(app, plan, options, call);
  if (executed.outcome === "strategy") return executed;
  // A request that needed no change is answered, and that is all.
  if (executed.obstacle !== null || (executed.changes.files === 0 && executed.answer !== null)) return executed;
  // A person sees the failed check and decides; a yes given beforehand does not cover it.
  if (executed.checked.outcome === "failed" && call.answers !== "person" && !options.applyAnyway) return executed;
  const agreed = await mayApply(app, plan);
  if (!agreed && call.answers === "none") return executed;
  const seen = await (await app.plans()).getPlan(plan.id);
  const shown: Shown[] =
    call.answers === "person"
      ? [
          { kind: "diff", output: await diffOfPlan(app, seen) },
          { kind: "checked", output: executed.checked },
        ]
      : [];
  const applied = await applyPlan(app, seen, { allowEmpty: false, verify: options.verify, agreed, shown }, call);
  if (!applied.applied) return { ...executed, applied: false as const };
  return { ...executed, ...applied, changes: executed.changes };
}
