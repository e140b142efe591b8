/**
 * Where a profile requires that a person approves before a plan is applied, the approval is for one result: the
 * changesets that would be applied. A plan that is executed again has other changesets and must be approved again.
 */
import { createHash } from "node:crypto";
import { mustBeApproved } from "../domain/profile/automation-profile.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { recordedSteps } from "../changes/plan-changes.ts";
import { recordSystemEvent } from "../ledger/system-events.ts";
import { approveResult, isApproved } from "../ledger/guard-checks.ts";
import type { Store } from "../store/port.ts";
import type { RecordSource } from "./transition.ts";

async function resultOf(store: Store, plan: Plan): Promise<string> {
  const steps = [...(await recordedSteps(store, plan.id, plan.attempt))];
  return `apply:${createHash("sha256").update(JSON.stringify(steps)).digest("hex")}`;
}

/** Records that a person approves the result as it is now; false when it was approved before. */
export async function approveApply(store: Store, recordSource: RecordSource, plan: Plan): Promise<boolean> {
  const subject = await resultOf(store, plan);
  return store.transaction(async (tx) => {
    const approved = await approveResult(tx, plan.id, plan.attempt, { subject, user: recordSource.user });
    if (!approved) return false;
    await recordSystemEvent(tx, {
      type: "guard.approved",
      planId: plan.id,
      user: recordSource.user,
      details: { guard: "require_approval_for_apply", result: subject },
    });
    return true;
  });
}

async function isApplyApproved(store: Store, plan: Plan): Promise<boolean> {
  const subject = await resultOf(store, plan);
  return store.read((reader) => isApproved(reader, plan.id, plan.attempt, subject));
}

/** Refuses to apply a result without an approval where the profile requires one. */
export async function requireApplyApproval(store: Store, plan: Plan): Promise<void> {
  const { profile } = plan;
  if (!mustBeApproved(profile) || (await isApplyApproved(store, plan))) return;
  const guard = profile.requireHumanApproval ? "require_human_approval" : "require_approval_for_apply";
  throw new AgentsError(
    "approval_needed",
    `A person has to approve the changes of plan ${plan.id} before they are applied (${guard} of its profile "${profile.name}").`,
    {
      kept: "Nothing was changed, in any resource.",
      next: [nextStep("plan.diff", { plan: plan.id }), nextStep("plan.guard", { plan: plan.id, allowApply: true })],
      detail: { guard, profile: profile.name },
    },
  );
}
