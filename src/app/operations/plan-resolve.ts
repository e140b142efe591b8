import * as z from "zod";
import { UsageError } from "../../domain/errors/errors.ts";
import { nextStep } from "../../domain/errors/next-step.ts";
import { recordSourceOf } from "../../plans/transition.ts";
import { confirmed } from "../base/call.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps, PlanGiven } from "../base/schemas.ts";
import { diffOfPlan } from "../queries/diff-facts.ts";
import { planMeant } from "../queries/plan-meant.ts";

const Names = z.array(z.string().min(1)).default([]);

const Input = z.strictObject({
  ...PlanGiven,
  takeYours: Names,
  takePlan: Names,
  files: z.record(z.string(), z.string()).default({}),
  edit: z.boolean().default(false),
  tool: z.boolean().default(false),
  agent: z.boolean().default(false),
});

/** Resolves all conflicts of a plan, or none: afterwards it can be applied. */
export const operation = defineOperation({
  input: Input,
  output: z.discriminatedUnion("resolved", [
    z.strictObject({
      resolved: z.literal(true),
      planId: z.string(),
      files: z.array(
        z.strictObject({
          resource: z.string(),
          path: z.string(),
          how: z.enum(["yours", "plan", "merged", "agent"]),
        }),
      ),
      /** The plan's whole diff, as it would be applied now; null when its actor is still to resolve it. */
      patch: z.string().nullable(),
      nextSteps: NextSteps,
    }),
    z.strictObject({ resolved: z.literal(false) }),
  ]),
  run: async (app, { plan: named, directory, agent, ...wish }, call) => {
    requireOneWay({ ...wish, agent });
    const standings = ["ready to review", "stopped"] as const;
    const wanted = { operation: "plan.resolve", standings, matters: true } as const;
    const plan = await planMeant(app, { plan: named, directory }, wanted, call);
    const { conflictsToResolve, recordResolution, requireMerged, resolvingChange } =
      await import("../../apply/resolution.ts");
    const { resolutionText, resolveByAgent, resolved } = await import("../procedures/resolve-conflicts.ts");
    const [store, applier] = [await app.store(), await app.applier()];
    const conflicts = await conflictsToResolve(store, applier, plan);
    const fileOf = ({ resource, path }: { resource: string; path: string }) => ({ resource, path });
    if (agent) {
      await resolveByAgent(app, plan, conflicts);
      const files = conflicts.map((one) => ({ ...fileOf(one), how: "agent" as const }));
      const nextSteps = [nextStep("plan.execute", { plan: plan.id })];
      return { resolved: true as const, planId: plan.id, files, patch: null, nextSteps };
    }
    const all = await resolved(app, conflicts, { ...wish, directory }, call);
    const source = recordSourceOf({ store, user: await app.user() });
    const change = await resolvingChange(store, source, plan, all);
    await requireMerged(applier, plan, change);
    const diff = await diffOfPlan(app, plan, { more: change.entries });
    const seen = call.answers === "person" ? [{ kind: "diff" as const, output: diff }] : [];
    if (!(await confirmed(call, "Resolve the conflicts so?", seen))) return { resolved: false as const };
    await store.transaction((tx) => recordResolution(tx, source, plan, { ...change, guidance: resolutionText(all) }));
    const files = all.map(({ conflict, how }) => ({ ...fileOf(conflict), how }));
    const nextSteps = [nextStep("plan.apply", { plan: plan.id })];
    return { resolved: true as const, planId: plan.id, files, patch: diff.patch, nextSteps };
  },
});

function requireOneWay({ takeYours, takePlan, files, edit, tool, agent }: z.output<typeof Input>): void {
  const isSaid = takeYours.length + takePlan.length + Object.keys(files).length > 0;
  if ((edit && tool) || (agent && (isSaid || edit || tool))) {
    throw new UsageError(agent ? "--agent resolves all conflicts by itself." : "Say --edit or --tool, not both.", {
      kept: "Nothing was changed.",
    });
  }
}
