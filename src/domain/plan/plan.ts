import type { Actors } from "../action/action.ts";
import type { ArgumentValue } from "../action/arguments.ts";
import type { AutomationProfile, ProfileSource } from "../profile/automation-profile.ts";
import type { PlanId } from "../names/ids.ts";
import type { QualifiedName } from "../names/qualified-name.ts";
import type { Phase, PlanStatus } from "./transitions.ts";

/** A unit of work made from an action: everything it needs is frozen into it when it is made. */
export type Plan = PlanFields & PlanStatus;

/** A project of a plan, with the alias its files have. */
export interface ProjectLink {
  readonly project: QualifiedName;
  /** How steps of the plan refer to the project; unique within the plan. */
  readonly alias: string;
  readonly readOnly: boolean;
}

interface PlanFields {
  readonly id: PlanId;
  readonly name: QualifiedName;
  readonly action: QualifiedName;
  /**
   * Counts how often the plan was planned: 1, and one more for each reversion. Recorded steps belong to one attempt.
   */
  readonly attempt: number;
  readonly reversionCount: number;
  /** Goes up by exactly one with each transition; the audit log has one entry for each. */
  readonly version: number;
  readonly description: string;
  readonly definitionOfDone: string;
  readonly readOnly: boolean;
  readonly actors: Actors;
  readonly arguments: ReadonlyMap<string, ArgumentValue>;
  readonly invariants: readonly string[];
  readonly projects: readonly ProjectLink[];
  readonly profile: AutomationProfile;
  readonly profileSource: ProfileSource;
  readonly cancelReason: string | undefined;
  /** When all of its changes were taken out of the resources again. */
  readonly undoneAt: number | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly phaseTimes: Readonly<Record<Phase, PhaseTimes>>;
}

/** When each phase began and ended. */
export interface PhaseTimes {
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
}

/** Why a phase stopped. Kept forever, also after the plan continued. */
export interface PlanFailure {
  readonly position: number;
  readonly phase: Phase;
  readonly attempt: number;
  readonly kind: "errored" | "constrained";
  readonly message: string;
  /** Whether the same strategy may simply be tried again (a timeout, a rate limit) or the plan needs another one. */
  readonly category: FailureCategory;
  readonly at: number;
}

export const FAILURE_CATEGORIES = ["transient", "strategy"] as const;
/** Whether the same strategy may be tried again. */
export type FailureCategory = (typeof FAILURE_CATEGORIES)[number];
