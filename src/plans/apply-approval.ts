import { createHash } from "node:crypto";
import { mustBeApproved } from "../domain/automation-profile.ts";
import { AgentsError } from "../domain/errors.ts";
import type { Plan } from "../domain/plan.ts";
import { recordedSteps } from "../execution/step-runner.ts";
import { tellBeside } from "../ledger/beside.ts";
import { approveResult, isApproved } from "../ledger/guards.ts";
import type { Store } from "../store/store.ts";
import type { Ambience } from "./transition.ts";

/**
 * Where a profile wants a person to approve before anything lands, the approval is for one result: the changesets that would land.
 * Whatever is executed anew has other changesets and has to be approved again.
 */
async function resultOf(store: Store, plan: Plan): Promise<string> {
  const steps = [...(await recordedSteps(store, plan.id, plan.attempt))];
  return `apply:${createHash("sha256").update(JSON.stringify(steps)).digest("hex")}`;
}

/** Records that a person approves the result as it is now; false when somebody did so before. */
export async function approveApply(store: Store, ambience: Ambience, plan: Plan): Promise<boolean> {
  const subject = await resultOf(store, plan);
  return store.transaction(async (tx) => {
    const approved = await approveResult(tx, plan.id, plan.attempt, { subject, user: ambience.user });
    if (!approved) return false;
    await tellBeside(tx, {
      type: "guard.approved",
      planId: plan.id,
      user: ambience.user,
      details: { guard: "require_approval_for_apply", result: subject },
    });
    return true;
  });
}

async function isApplyApproved(store: Store, plan: Plan): Promise<boolean> {
  const subject = await resultOf(store, plan);
  return store.read((reader) => isApproved(reader, plan.id, plan.attempt, subject));
}

/** Refuses to land what nobody approved, where the profile wants that somebody does. */
export async function requireApplyApproval(store: Store, plan: Plan): Promise<void> {
  const { profile } = plan;
  if (!mustBeApproved(profile) || (await isApplyApproved(store, plan))) return;
  const guard = profile.requireHumanApproval ? "require_human_approval" : "require_approval_for_apply";
  throw new AgentsError(
    "approval_needed",
    `A person has to approve the changes of plan ${plan.id} before they are applied (${guard} of its profile "${profile.name}").`,
    {
      kept: "Nothing was changed, in any resource.",
      next: [`agents plan diff ${plan.id}`, `agents plan guard ${plan.id} --allow-apply`],
      detail: { guard, profile: profile.name },
    },
  );
}
