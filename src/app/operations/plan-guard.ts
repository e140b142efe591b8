import * as z from "zod";
import { nextStep, type NextStep } from "../../domain/errors/next-step.ts";
import { callsOf } from "../../domain/profile/guards.ts";
import type { GuardReport } from "../../plans/guard-service.ts";
import { defineOperation } from "../base/operation.ts";
import { Instant, instant, NextSteps, PlanGiven } from "../base/schemas.ts";
import { GuardFacts, guardFacts } from "../queries/guard-facts.ts";
import { planMeant } from "../queries/plan-meant.ts";

const Limit = z.int().min(0).max(1_000_000);

const Output = z.strictObject({
  planId: z.string(),
  profile: z.string(),
  profileSource: z.string(),
  guards: GuardFacts,
  profileGuards: GuardFacts,
  used: z.strictObject({
    toolCalls: z.int(),
    byTool: z.record(z.string(), z.int()),
    byLimit: z.record(z.string(), z.int()),
    refused: z.int(),
  }),
  approvals: z.array(
    z.strictObject({
      subject: z.string(),
      askedAt: Instant,
      approvedAt: Instant.nullable(),
      approvedBy: z.string().nullable(),
    }),
  ),
  allowedSteps: z.array(z.string()),
  nextSteps: NextSteps,
});

/**
 * Shows what holds a plan back and how much of it is used up; with limits or approvals, tightens it or approves what
 * waits.
 */
export const operation = defineOperation({
  input: z.strictObject({
    ...PlanGiven,
    denyTools: z.array(z.string()).default([]),
    maxCalls: Limit.optional(),
    maxCallsPerStep: Limit.optional(),
    allowWrites: z.boolean().default(false),
    allowApply: z.boolean().default(false),
  }),
  output: Output,
  run: async (app, input, call) => {
    const { id } = await planMeant(app, input, { operation: "plan.guard" }, call);
    const service = await app.guards();
    const { denyTools: denied, maxCalls: maxToolCalls, maxCallsPerStep: maxToolCallsPerStep } = input;
    if (denied.length > 0 || maxToolCalls !== undefined || maxToolCallsPerStep !== undefined) {
      await service.tighten(id, { denied, maxToolCalls, maxToolCallsPerStep });
    }
    const allowed = input.allowWrites ? await service.allowWrites(id) : [];
    if (input.allowApply) await service.allowApply(id);
    return reported(await service.report(id), { allowed, applied: input.allowApply });
  },
});

interface Done {
  readonly allowed: string[];
  readonly applied: boolean;
}

function reported(report: GuardReport, done: Done): z.output<typeof Output> {
  const { plan, guards, calls, refused, approvals } = report;
  const limited = Object.keys(guards.maxCallsPerTool);
  return {
    planId: plan.id,
    profile: plan.profile.name,
    profileSource: plan.profileSource,
    guards: guardFacts(guards),
    profileGuards: guardFacts(plan.profile.guards),
    used: {
      toolCalls: callsOf("*", calls),
      byTool: Object.fromEntries(calls),
      byLimit: Object.fromEntries(limited.map((pattern) => [pattern, callsOf(pattern, calls)])),
      refused,
    },
    approvals: approvals.map(({ subject, askedAt, approvedAt, approvedBy }) => ({
      subject,
      askedAt: instant(askedAt),
      approvedAt: approvedAt === undefined ? null : instant(approvedAt),
      approvedBy: approvedBy ?? null,
    })),
    allowedSteps: done.allowed,
    nextSteps: [next(report, done)],
  };
}

function next({ plan, approvals }: GuardReport, { applied, allowed }: Done): NextStep {
  if (applied) return nextStep("plan.apply", { plan: plan.id });
  if (allowed.length > 0) return nextStep("plan.execute", { plan: plan.id });
  const waits = approvals.some(({ approvedAt }) => approvedAt === undefined);
  return waits
    ? nextStep("plan.guard", { plan: plan.id, allowWrites: true })
    : nextStep("plan.status", { plan: plan.id });
}
