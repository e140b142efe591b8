/**
 * The reasons why a plan is not applied, undone or redone, for the user: what happened, what was kept, what to do next.
 */
import { nextStep, type NextStep } from "../domain/errors/next-step.ts";
import type { JournalKind } from "../ledger/journal.ts";
import { BOTH_SIDES, type LandingConflict } from "../ledger/landing.ts";
import { codeOf } from "./user-tree.ts";
import { AgentsError, ConflictError, PlanError } from "../domain/errors/errors.ts";
import type { Plan } from "../domain/plan/plan.ts";
import { stateText } from "../domain/plan/standing.ts";
import { statusKey } from "../domain/plan/transitions.ts";
import type { PlanChange } from "../changes/plan-changes.ts";
import type { ValidationGate } from "../execution/checks/validation-gate.ts";

export function requireChanges(plan: Plan, entries: readonly PlanChange[], allowEmpty: boolean): void {
  if (entries.length > 0 || allowEmpty) return;
  throw new PlanError(`The plan ${plan.id} changed nothing, so there is nothing to apply.`, {
    kept: "Nothing was changed.",
    next: [nextStep("plan.apply", { plan: plan.id, allowEmpty: true }), nextStep("plan.cancel", { plan: plan.id })],
  });
}

export function partInPlaceError(plan: Plan): PlanError {
  return new PlanError(`The plan ${plan.id} worked in place: its changes are in your files already, all of them.`, {
    kept: "Nothing was changed.",
    next: [nextStep("plan.undo", { plan: plan.id }), nextStep("plan.review", { plan: plan.id, sendBack: true })],
  });
}

/** The result may not be applied as it is; only another attempt helps. */
export function constrainedError(plan: Plan, gate: Extract<ValidationGate, { ok: false }>): AgentsError {
  const said = gate.failures
    .filter(({ output }) => output !== "")
    .map(({ validation, output }) => `\n${validation}:\n${output}`)
    .join("");
  return new AgentsError("constrained", `The plan ${plan.id} cannot be applied. ${gate.why}${said}`, {
    kept: "Nothing was changed, in any resource; what the plan did is recorded.",
    next: [nextStep("plan.status", { plan: plan.id }), nextStep("plan.revert", { plan: plan.id })],
    detail: { failures: gate.failures },
  });
}

export function notAppliedError(plan: Plan, kind: "undo" | "redo"): ConflictError {
  return new ConflictError(
    `The plan ${plan.id} is ${stateText(plan)}: only an applied plan can be ${VERBS[kind]}.`,
    { expected: "apply/applied", actual: statusKey(plan), code: "invalid_transition" },
    { kept: "Nothing was changed.", next: [nextStep("plan.status", { plan: plan.id })] },
  );
}

export function nothingToDoError(
  plan: Plan,
  kind: "undo" | "redo",
  steps: ReadonlySet<string> | undefined,
): ConflictError {
  const [what, next] = kind === "undo" ? ["already undone", "redo"] : ["not undone", "undo"];
  const message =
    steps === undefined
      ? `The plan ${plan.id} is ${what}.`
      : `No change of ${[...steps].join(", ")} of plan ${plan.id} is in the resources.`;
  return new ConflictError(
    message,
    { expected: kind === "undo" ? "changes in the resources" : "undone changes", actual: what },
    { kept: "Nothing was changed.", next: [nextStep(`plan.${next}`, { plan: plan.id })] },
  );
}

export function interruptedError(plan: Plan, kind: JournalKind): PlanError {
  return new PlanError(`The ${kind} of plan ${plan.id} was interrupted.`, {
    kept: "Nothing was changed, in any resource.",
    next: [nextStep(`plan.${kind}`, { plan: plan.id })],
  });
}

export function conflictError(plan: Plan, kind: JournalKind, conflicts: readonly LandingConflict[]): AgentsError {
  const named = conflicts.map(({ resource, path, why }) =>
    path === undefined ? `${resource}: ${why}` : `${resource}/${path} ${why}`,
  );
  const more = named.length > 3 ? ` and ${named.length - 3} more` : "";
  const isGone = conflicts.some(
    ({ path, why }) => path === undefined && why.startsWith('"/') && why.endsWith(" is gone"),
  );
  const moved = isGone ? [nextStep("resource.set", { resource: "<resource>", path: "<path>" }, "if it was moved")] : [];
  const resolve = conflictNext(plan, kind, conflicts);
  return new AgentsError(
    "merge_conflict",
    `The plan cannot be ${VERBS[kind]}: ${named.slice(0, 3).join("; ")}${more}.`,
    {
      kept: "Nothing was changed, in any resource.",
      next: [...moved, ...resolve],
      detail: { conflicts },
    },
  );
}

/** Reasons that are about files on disk: the branch itself could take the change. */
const UNCOMMITTED: ReadonlySet<string> = new Set([
  "has uncommitted changes",
  "was deleted, which is not committed",
  "has staged changes",
]);

/** Whether the two sides can be merged by hand. */
export function isResolvable(conflict: LandingConflict): conflict is LandingConflict & { readonly path: string } {
  return conflict.path !== undefined && conflict.why === BOTH_SIDES;
}

function conflictNext(plan: Plan, kind: JournalKind, conflicts: readonly LandingConflict[]): NextStep[] {
  const paths = conflicts.flatMap(({ path, why }) => (path !== undefined && UNCOMMITTED.has(why) ? [path] : []));
  if (paths.length === conflicts.length) {
    const named = paths.slice(0, 3).map((path) => (/^[\w./-]+$/.test(path) ? path : `"${path}"`));
    const files = `${named.join(" ")}${paths.length > 3 ? " …" : ""}`;
    return [{ text: `git stash push -- ${files}` }, nextStep(`plan.${kind}`, { plan: plan.id }, "then")];
  }
  if (kind !== "apply") return [nextStep(`plan.${kind}`, { plan: plan.id }, "resolve it, then")];
  return [
    nextStep("plan.conflicts", { plan: plan.id }),
    ...(conflicts.every(isResolvable) ? [nextStep("plan.resolve", { plan: plan.id })] : []),
    nextStep("plan.apply", { plan: plan.id, onto: "<branch>" }),
    nextStep("plan.revert", { plan: plan.id }),
  ];
}

const VERBS = { apply: "applied", undo: "undone", redo: "redone" } as const satisfies Record<JournalKind, string>;

/** The landing had begun, and every resource was put back. */
export function reversedError(plan: Plan, kind: JournalKind, cause: unknown, kept: readonly string[]): AgentsError {
  const why = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof AgentsError) return cause;
  // A code of the system (a full disk, missing permissions) means that no other change was in the way.
  const code = codeOf(cause) === undefined ? "merge_conflict" : "resource_failed";
  return new AgentsError(code, `The ${kind} of plan ${plan.id} was reversed: ${why}.`, {
    cause,
    kept: "Every resource is as it was before.",
    next: [nextStep(`plan.${kind}`, { plan: plan.id })],
    detail: { kept },
  });
}
