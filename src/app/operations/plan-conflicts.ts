import * as z from "zod";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import { defineOperation } from "../base/operation.ts";
import { NextSteps, PlanGiven } from "../base/schemas.ts";
import { planMeant } from "../queries/plan-meant.ts";

const Side = z.strictObject({
  kind: z.enum(["text", "binary", "link", "missing"]),
  mode: z.string().nullable(),
  bytes: z.int(),
});
const Lines = z.array(z.string()).readonly();

/** Everything that is in the way of an apply now, with the three sides of each file. */
export const operation = defineOperation({
  input: z.strictObject({ ...PlanGiven }),
  output: z.strictObject({
    planId: z.string(),
    conflicts: z.array(
      z.strictObject({
        resource: z.string(),
        path: z.string().nullable(),
        why: z.string(),
        kind: z.enum(["lines", "binary", "deleted", "added", "mode", "uncommitted", "resource"]),
        base: Side.nullable(),
        yours: Side.nullable(),
        plans: Side.nullable(),
        lines: z.array(z.strictObject({ line: z.int(), yours: Lines, base: Lines, plans: Lines })).readonly(),
      }),
    ),
    nextSteps: NextSteps,
  }),
  run: async (app, { plan: named, directory }, call) => {
    const standings = ["ready to review", "stopped"] as const;
    const plan = await planMeant(app, { plan: named, directory }, { operation: "plan.conflicts", standings }, call);
    const store = await app.store();
    const { conflicts } = await (await app.applier()).preview("apply", plan.id);
    const { isResolvable } = await import("../../apply/landing-errors.ts");
    const { conflictSides } = await import("../../apply/conflict-sides.ts");
    const sides = await conflictSides(store, plan, conflicts);
    const whole = conflicts
      .filter(({ path }) => path === undefined)
      .map(({ resource, why }) => ({
        resource,
        path: null,
        why,
        kind: "resource" as const,
        base: null,
        yours: null,
        plans: null,
        lines: [],
      }));
    const about = sides.map(({ resource, path, why, kind, base, yours, plans, lines }) => ({
      resource,
      path,
      why,
      kind,
      base: sideFacts(base),
      yours: sideFacts(yours),
      plans: sideFacts(plans),
      lines,
    }));
    const all = [...whole, ...about];
    return {
      planId: plan.id,
      conflicts: all,
      nextSteps: nextSteps(
        plan.id,
        all.map(({ kind }) => kind),
        conflicts.every(isResolvable),
      ),
    };
  },
});

function sideFacts({
  kind,
  mode,
  bytes,
}: {
  kind: z.output<typeof Side>["kind"];
  mode: string | undefined;
  bytes: number;
}) {
  return { kind, mode: mode ?? null, bytes };
}

function nextSteps(plan: string, kinds: readonly string[], resolvable: boolean): NextStep[] {
  const apply = nextStep("plan.apply", { plan });
  if (kinds.length === 0) return [apply];
  if (kinds.every((kind) => kind === "uncommitted"))
    return [{ text: "commit or stash the files" }, nextStep("plan.apply", { plan }, "then")];
  return [
    ...(resolvable ? [nextStep("plan.resolve", { plan })] : []),
    nextStep("plan.apply", { plan, onto: "<branch>" }, "merge it with git"),
    nextStep("plan.revert", { plan }, "or let it begin again from your files"),
  ];
}
