import type { PlanId } from "../names/ids.ts";

/** Events, emitted after their transaction was committed. Each transition of a plan writes exactly one. */
const EVENT_TYPES = [
  "plan.created",
  "plan.phase_changed",
  "plan.state_changed",
  "plan.applied",
  "plan.cancelled",
  "plan.errored",
  "plan.undone",
  "plan.redone",
  "action.created",
  "action.archived",
  "project.created",
  "project.deleted",
  "config.changed",
  "resource.added",
  "resource.moved",
  "resource.removed",
  "project.resource_linked",
  "project.resource_unlinked",
  "project.context_changed",
  "actor.added",
  "actor.replaced",
  "actor.removed",
  "tool.added",
  "tool.removed",
  "skill.added",
  "skill.removed",
  "validation.added",
  "validation.removed",
  "validation.attached",
  "validation.detached",
  "validation.passed",
  "validation.failed",
  "automation_profile.added",
  "automation_profile.removed",
  "mcp_server.added",
  "mcp_server.removed",
  "guard.refused",
  "guard.tightened",
  "guard.approved",
  "breaker.opened",
  "breaker.half_opened",
  "breaker.closed",
  "breaker.reset",
  "budget.changed",
  "effort.changed",
  "budget.warning",
  "budget.exceeded",
  "plan.assessed",
  "plan.awaiting_input",
  "plan.answered",
  "plan.guided",
  "plan.reviewed",
  "session.forked",
  "candidates.made",
  "candidates.judged",
  "candidate.chosen",
  "server_token.created",
  "server_token.revoked",
] as const;
/** The kinds of stored events. */
export type EventType = (typeof EVENT_TYPES)[number];

/** An event as it is stored, committed together with the change it tells of. */
export interface DomainEvent {
  /** Position in commit order; resume a subscription after it. */
  readonly sequence: number;
  readonly id: string;
  readonly type: EventType;
  readonly at: number;
  readonly planId: PlanId | undefined;
  readonly details: Readonly<Record<string, unknown>>;
}
