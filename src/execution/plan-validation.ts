import { createHash } from "node:crypto";
import type { AttachedValidation } from "../domain/attachment.ts";
import type { ValidatedPlace, ValidationResult } from "../domain/validation-result.ts";
import type { Lease } from "../ledger/leases.ts";
import {
  openValidationRun,
  recordValidation,
  resultsOf,
  type ValidationRunResults,
} from "../ledger/validation-runs.ts";
import { requireConfinement } from "./confinement/required.ts";
import { netChanges } from "./net-changes.ts";
import { planChanges } from "./step-runner.ts";
import { runValidations, type ValidationRoot } from "./validation-runner.ts";
import type { Workspace } from "./workspace.ts";

/** Validations of one plan under its lease: in its sandboxes at the end of execute, on the merged files when it is applied. */
export interface PlanValidation {
  readonly lease: Lease;
  readonly where: ValidatedPlace;
  /** Tells these files from others: results are taken over only from a run on the same. */
  readonly tree: string;
  readonly validations: readonly AttachedValidation[];
  readonly roots: ReadonlyMap<string, ValidationRoot>;
  readonly signal: AbortSignal;
  readonly onStart: (validation: AttachedValidation) => void;
  readonly onResult: (result: ValidationResult, event: "run" | "recorded") => void;
}

/** Runs each validation that has no result for these files yet; each result is recorded before the next begins. */
export async function validatePlan(work: PlanValidation): Promise<ValidationRunResults> {
  const { lease, validations, onResult } = work;
  const run = await openValidationRun(lease, work);
  const known = await lease.store.read((reader) => resultsOf(reader, lease.plan, run.number));
  for (const result of known) onResult(result, "recorded");
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
    onResult: async (result) => {
      const position = validations.findIndex(
        ({ attachment, resource }) => attachment === result.attachment && resource === result.resource,
      );
      await recordValidation(lease, run, position, result);
      onResult(result, "run");
    },
  });
  return { run, results: await lease.store.read((reader) => resultsOf(reader, lease.plan, run.number)) };
}

/** Validates the sandboxes as the recorded steps and hooks left them. */
export async function validateSandboxes(
  work: Pick<PlanValidation, "lease" | "validations" | "signal" | "onStart" | "onResult"> & {
    readonly workspaces: ReadonlyMap<string, Workspace>;
  },
): Promise<void> {
  const { lease, workspaces, validations } = work;
  if (validations.length === 0) return;
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
  await validatePlan({ ...work, where: "sandbox", tree: fingerprint.digest("hex"), roots });
}
