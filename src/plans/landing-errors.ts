import type { JournalKind } from "../apply/journal.ts";
import type { LandingConflict } from "../apply/landing.ts";
import { codeOf } from "../apply/user-tree.ts";
import { AgentsError, ConflictError, PlanError } from "../domain/errors.ts";
import type { Plan } from "../domain/plan.ts";
import { statusKey } from "../domain/transitions.ts";
import type { PlanChange } from "../execution/step-runner.ts";
import type { ValidationGate } from "../execution/validation-gate.ts";

/** What keeps a plan from landing, in the words of a user: what happened, what was kept, what to do next. */
export function requireChanges(plan: Plan, entries: readonly PlanChange[], allowEmpty: boolean): void {
  if (entries.length > 0 || allowEmpty) return;
  throw new PlanError(`The plan ${plan.id} changed nothing, so there is nothing to apply.`, {
    kept: "Nothing was changed.",
    next: [`agents plan apply ${plan.id} --allow-empty`, `agents plan cancel ${plan.id}`],
  });
}

/** The result may not land as it is; only another attempt helps. */
export function constrained(plan: Plan, gate: Extract<ValidationGate, { ok: false }>): AgentsError {
  return new AgentsError("constrained", `The plan ${plan.id} cannot be applied. ${gate.why}`, {
    kept: "Nothing was changed, in any resource; what the plan did is recorded.",
    next: [`agents plan status ${plan.id}`, `agents plan revert ${plan.id}`],
    detail: { failures: gate.failures },
  });
}

export function notApplied(plan: Plan, kind: "undo" | "redo"): ConflictError {
  return new ConflictError(
    `The plan ${plan.id} is ${statusKey(plan)}: only an applied plan can be ${kind === "undo" ? "undone" : "brought back"}.`,
    { expected: "apply/applied", actual: statusKey(plan), code: "invalid_transition" },
    { kept: "Nothing was changed.", next: [`agents plan status ${plan.id}`] },
  );
}

export function nothingToDo(plan: Plan, kind: "undo" | "redo", steps: ReadonlySet<string> | undefined): ConflictError {
  const [what, next] = kind === "undo" ? ["undone already", "redo"] : ["not undone", "undo"];
  const message =
    steps === undefined
      ? `The plan ${plan.id} is ${what}.`
      : `Nothing that ${[...steps].join(", ")} of plan ${plan.id} changed is in the resources.`;
  return new ConflictError(
    message,
    { expected: kind === "undo" ? "changes in the resources" : "changes taken out", actual: what },
    { kept: "Nothing was changed.", next: [`agents plan ${next} ${plan.id}`] },
  );
}

export function interrupted(plan: Plan, kind: JournalKind): PlanError {
  return new PlanError(`The ${kind} of plan ${plan.id} was interrupted.`, {
    kept: "Nothing was changed, in any resource.",
    next: [`agents plan ${kind} ${plan.id}`],
  });
}

export function conflictError(plan: Plan, kind: JournalKind, conflicts: readonly LandingConflict[]): AgentsError {
  const named = conflicts.map(({ resource, path, why }) =>
    path === undefined ? `${resource}: ${why}` : `${resource}/${path} ${why}`,
  );
  const more = named.length > 3 ? ` and ${named.length - 3} more` : "";
  const next =
    kind === "apply"
      ? [`resolve it, then: agents plan apply ${plan.id}`, `agents plan revert ${plan.id}`]
      : [`resolve it, then: agents plan ${kind} ${plan.id}`];
  return new AgentsError(
    "merge_conflict",
    `The plan cannot be ${VERBS[kind]}: ${named.slice(0, 3).join("; ")}${more}.`,
    {
      kept: "Nothing was changed, in any resource.",
      next,
      detail: { conflicts },
    },
  );
}

const VERBS = { apply: "applied", undo: "undone", redo: "brought back" } as const satisfies Record<JournalKind, string>;

export function takenBack(plan: Plan, kind: JournalKind, cause: unknown, kept: readonly string[]): AgentsError {
  const why = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof AgentsError) return cause;
  // Where the system itself said no (a full disk, missing permissions), nobody else's change was the reason.
  const code = codeOf(cause) === undefined ? "merge_conflict" : "resource_failed";
  return new AgentsError(code, `The landing of plan ${plan.id} was taken back: ${why}.`, {
    cause,
    kept: "Every resource is as it was before.",
    next: [`agents plan ${kind} ${plan.id}`],
    detail: { kept },
  });
}
