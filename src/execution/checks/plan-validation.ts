/**
 * Validations of one plan under its lease: in its sandboxes at the end of execute, on the merged files when it is
 * applied.
 */
import { createHash } from "node:crypto";
import type { AttachedValidation } from "../../domain/validation/attachment.ts";
import type { Tell, ValidationEvent } from "../../domain/run-event.ts";
import type { ValidatedPlace, ValidationResult } from "../../domain/validation/validation-result.ts";
import type { Lease } from "../../ledger/leases.ts";
import {
  openValidationRun,
  recordValidation,
  resultsOf,
  type ValidationRunResults,
} from "../../ledger/validation-runs.ts";
import { requireConfinement } from "../../confinement/require-confinement.ts";
import { netChanges } from "../../changes/net-changes.ts";
import { planChanges } from "../../changes/plan-changes.ts";
import { runValidations, type ValidationRoot } from "./validation-runner.ts";
import type { Workspace } from "../workspace/workspace.ts";

export interface PlanValidation {
  readonly lease: Lease;
  readonly where: ValidatedPlace;
  /** Tells these files from others: results are taken over only from a run on the same. */
  readonly tree: string;
  readonly validations: readonly AttachedValidation[];
  readonly roots: ReadonlyMap<string, ValidationRoot>;
  readonly signal: AbortSignal;
  readonly tell: Tell;
}

/** Runs each validation that has no result for these files yet; each result is recorded before the next begins. */
export async function validatePlan(work: PlanValidation): Promise<ValidationRunResults> {
  const { lease, validations, tell } = work;
  const run = await openValidationRun(lease, work);
  const known = await lease.store.read((reader) => resultsOf(reader, lease.plan, run.number));
  for (const result of known) tell(resultEvent(work, result, true));
  const open = validations.filter(
    (one) => !known.some(({ attachment, resource }) => attachment === one.attachment && resource === one.resource),
  );
  const command = open.find(({ validation }) => validation.check.kind === "command");
  if (command !== undefined && lease.plan.profile.requireConfinement) {
    const what = `The validation ${command.validation.name}`;
    await requireConfinement({ what, kept: "It was not run, and nothing of yours was changed.", plan: lease.plan });
  }
  await runValidations({
    ...work,
    validations: open,
    onStart: ({ validation, resource }) =>
      tell({
        type: "validation",
        resource,
        validation: validation.name,
        where: work.where,
        event: "started",
        recorded: false,
        runsCommand: validation.check.kind === "command",
        durationMs: 0,
      }),
    onResult: async (result) => {
      const position = validations.findIndex(
        ({ attachment, resource }) => attachment === result.attachment && resource === result.resource,
      );
      await recordValidation(lease, run, position, result);
      tell(resultEvent(work, result, false));
    },
  });
  return { run, results: await lease.store.read((reader) => resultsOf(reader, lease.plan, run.number)) };
}

function resultEvent(
  { where, validations }: Pick<PlanValidation, "where" | "validations">,
  { attachment, resource, validation, passed, durationMs }: ValidationResult,
  recorded: boolean,
): ValidationEvent {
  const attached = validations.find((one) => one.attachment === attachment && one.resource === resource);
  const runsCommand = attached?.validation.check.kind === "command";
  const event = passed ? "passed" : "failed";
  return { type: "validation", resource, validation, where, event, recorded, runsCommand, durationMs };
}

/** Validates the sandboxes as the recorded steps and hooks left them. */
export async function validateSandboxes(
  work: Pick<PlanValidation, "lease" | "validations" | "signal" | "tell"> & {
    readonly workspaces: ReadonlyMap<string, Workspace>;
  },
): Promise<readonly ValidationResult[]> {
  const { lease, workspaces, validations } = work;
  if (validations.length === 0) return [];
  const entries = await planChanges(lease.store, lease.planId, lease.plan.attempt);
  const fingerprint = createHash("sha256");
  const roots = new Map<string, ValidationRoot>();
  for (const [alias, workspace] of workspaces) {
    const changes = netChanges(entries.filter((entry) => entry.resource === alias));
    fingerprint.update(JSON.stringify([alias, workspace.sandbox.base ?? null, [...changes]]));
    roots.set(alias, {
      sandbox: workspace.sandbox,
      network: workspace.network,
      requireConfinement: workspace.requireConfinement,
      restore: () => workspace.restore(changes),
    });
  }
  const { results } = await validatePlan({ ...work, where: "sandbox", tree: fingerprint.digest("hex"), roots });
  return results;
}
