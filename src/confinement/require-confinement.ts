/**
 * The rule of `safety.require_confinement`: a program that a plan wrote or chose runs confined, or it does not run.
 * The rule is asked where programs are started, so that no caller can forget it, and earlier, as soon as it is known
 * that a plan will start one.
 */
import { AgentsError } from "../domain/errors/errors.ts";
import { nextStep, type NextStep } from "../domain/errors/next-step.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { confinementHere } from "./availability.ts";

export interface RefusedCommands {
  /** The subject of the message: the program that would have run. */
  readonly what: string;
  readonly kept: string;
  /** Ways to continue, besides making confinement work and a profile that does not require it. */
  readonly next?: readonly NextStep[];
  readonly plan?: Pick<Plan, "action" | "projects" | "profile">;
}

export async function requireConfinement(refused: RefusedCommands): Promise<void> {
  const error = await missingConfinementError();
  if (error !== undefined) throw error(refused);
}

/** Makes the error for what is refused; undefined where commands can be confined. */
export async function missingConfinementError(): Promise<((refused: RefusedCommands) => AgentsError) | undefined> {
  const { kind, says, next: remedy } = await confinementHere();
  if (kind !== "none") return undefined;
  return ({ what, kept, next = [], plan }) => {
    const whose =
      plan === undefined ? "the plan's automation profile" : `the automation profile "${plan.profile.name}"`;
    return new AgentsError(
      "confinement_missing",
      `${what} is refused: nothing here can confine commands to the sandbox (${says}), and ${whose} requires that.`,
      {
        kept,
        next: [...(remedy === undefined ? [] : [{ text: remedy }]), ...next, ...withoutIt(plan)],
        detail: { confinement: kind, reason: says },
      },
    );
  };
}

/** A profile is frozen into its plan: doing without takes another plan. */
function withoutIt(plan: RefusedCommands["plan"]): NextStep[] {
  if (plan === undefined) return [];
  const projects = plan.projects.map(({ project }) => project);
  return [nextStep("plan.use", { action: plan.action, projects, automationProfile: "full-auto" })];
}
