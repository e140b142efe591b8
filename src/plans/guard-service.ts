import { mustBeApproved } from "../domain/profile/automation-profile.ts";
import {
  AgentsError,
  ConflictError,
  NotFoundError,
  ValidationError,
  type ValidationIssue,
} from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import { tightened, type Guards, type Tightening } from "../domain/profile/guards.ts";
import type { PlanId } from "../domain/names/ids.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { stateText } from "../domain/plan/standing.ts";
import { patternProblem } from "../domain/profile/profile-definition.ts";
import { isTerminal, statusKey } from "../domain/plan/transitions.ts";
import { recordSystemEvent } from "../ledger/system-events.ts";
import {
  approveWrites,
  countCalls,
  countRefusals,
  findApprovals,
  findPlanGuards,
  tighten,
  type Approval,
} from "../ledger/guard-checks.ts";
import { findPlan } from "../store/tables/plans.ts";
import type { Reader, Store, Tx } from "../store/port.ts";
import { approveApply } from "./apply-approval.ts";
import { recordSourceOf, type RecordSource, type ServiceParts } from "./transition.ts";

export interface GuardReport {
  readonly plan: Plan;
  /** With all that was tightened since the plan was made. */
  readonly guards: Guards;
  /** How often each tool was called; of all attempts, also where it failed. */
  readonly calls: ReadonlyMap<string, number>;
  readonly refused: number;
  readonly approvals: readonly Approval[];
}

/**
 * The guards of one plan: what they are, how much of them is used up, and the few things a person may do about them.
 * They can be made tighter at any time, also while the plan runs, and count from the next call on; looser than the
 * profile the plan was made with they never get.
 */
export class GuardService {
  readonly #store: Store;
  readonly #recordSource: RecordSource;

  constructor(parts: ServiceParts) {
    this.#store = parts.store;
    this.#recordSource = recordSourceOf(parts);
  }

  report(planId: PlanId): Promise<GuardReport> {
    return this.#store.read(async (reader) => {
      const plan = await requirePlan(reader, planId);
      const guards = (await findPlanGuards(reader, planId))?.guards ?? plan.profile.guards;
      const { tools } = await countCalls(reader, planId, plan.attempt);
      const refused = await countRefusals(reader, planId);
      const approvals = await findApprovals(reader, planId, plan.attempt);
      return { plan, guards, calls: tools, refused, approvals };
    });
  }

  /** From the next call on. Refused where it would allow what the profile does not. */
  async tighten(planId: PlanId, by: Tightening): Promise<void> {
    await this.#store.transaction(async (tx) => {
      const plan = await requireOpen(tx, planId);
      requireTighter(plan, by);
      await tighten(tx, planId, by);
      await this.#record(tx, plan, "guard.tightened", {
        ...(by.denied.length === 0 ? {} : { tool_denylist: by.denied }),
        ...(by.maxToolCalls === undefined ? {} : { max_tool_calls: by.maxToolCalls }),
        ...(by.maxToolCallsPerStep === undefined ? {} : { max_tool_calls_per_step: by.maxToolCallsPerStep }),
      });
    });
  }

  /**
   * Allows the steps that wait for it to write, and returns them. One approval, one effect: a second one finds nothing
   * waiting.
   */
  async allowWrites(planId: PlanId): Promise<string[]> {
    return this.#store.transaction(async (tx) => {
      const plan = await requireOpen(tx, planId);
      const steps = await approveWrites(tx, planId, plan.attempt, this.#recordSource.user);
      if (steps.length === 0) throw nothingWaitsError(plan, "No step of it waits to be allowed to write.");
      await this.#record(tx, plan, "guard.approved", { guard: "require_approval_for_writes", steps });
      return steps;
    });
  }

  /** Approves the result as it is now for being applied. */
  async allowApply(planId: PlanId): Promise<void> {
    const plan = await this.#store.read((reader) => requireOpen(reader, planId));
    if (!mustBeApproved(plan.profile)) {
      throw nothingWaitsError(
        plan,
        `Its profile "${plan.profile.name}" wants no approval: it can be applied as it is.`,
      );
    }
    if (statusKey(plan) !== "execute/complete" && plan.phase !== "apply") {
      throw nothingWaitsError(plan, `It is ${stateText(plan)}, and there is no result to approve yet.`);
    }
    if (!(await approveApply(this.#store, this.#recordSource, plan))) {
      throw nothingWaitsError(plan, "Its result has been approved already.");
    }
  }

  #record(
    tx: Tx,
    plan: Plan,
    type: "guard.tightened" | "guard.approved",
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    return recordSystemEvent(tx, { type, planId: plan.id, user: this.#recordSource.user, details });
  }
}

/** Everything that is wrong with what is asked for, at once. */
function requireTighter(plan: Plan, by: Tightening): void {
  const issues: ValidationIssue[] = by.denied.flatMap((pattern) => {
    const message = patternProblem(pattern);
    return message === undefined ? [] : [{ path: "deny-tool", message }];
  });
  if (issues.length > 0) {
    throw new ValidationError(`${issues.map(({ message }) => message).join("; ")}.`, issues);
  }
  const { guards, name } = plan.profile;
  const strict = tightened(guards, by);
  for (const [guard, wanted, limit] of [
    ["max_tool_calls", by.maxToolCalls, strict.maxToolCalls],
    ["max_tool_calls_per_step", by.maxToolCallsPerStep, strict.maxToolCallsPerStep],
  ] as const) {
    if (wanted === undefined || limit === wanted) continue;
    throw new AgentsError("policy", `The plan's profile "${name}" has ${guard} ${limit}; ${wanted} would loosen it.`, {
      kept: "Nothing was changed.",
      next: [nextStep("plan.guard", { plan: plan.id }), { text: "make another plan with another profile" }],
      detail: { guard, limit, wanted },
    });
  }
}

async function requirePlan(reader: Reader, planId: PlanId): Promise<Plan> {
  const plan = await findPlan(reader, planId);
  if (plan === undefined) throw new NotFoundError("plan", planId, { next: [nextStep("plan.list")] });
  return plan;
}

async function requireOpen(reader: Reader, planId: PlanId): Promise<Plan> {
  const plan = await requirePlan(reader, planId);
  if (!isTerminal(plan)) return plan;
  throw new ConflictError(
    `The plan ${plan.id} is ${stateText(plan)}; its guards no longer matter.`,
    { expected: "a plan that is still active", actual: statusKey(plan) },
    { kept: "Nothing was changed.", next: [nextStep("plan.status", { plan: plan.id })] },
  );
}

function nothingWaitsError(plan: Plan, why: string): ConflictError {
  return new ConflictError(
    `There is nothing to approve in plan ${plan.id}. ${why}`,
    { expected: "something that waits for an approval", actual: statusKey(plan) },
    { kept: "Nothing was changed.", next: [nextStep("plan.guard", { plan: plan.id })] },
  );
}
