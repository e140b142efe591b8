/** The validation results of a plan, and whether they block apply. */
import * as z from "zod";
import type { Plan } from "../../domain/plan/plan.ts";
import { summarize, type ValidationResult } from "../../domain/validation/validation-result.ts";
import { validationGate } from "../../execution/checks/validation-gate.ts";
import { latestValidations } from "../../ledger/validation-runs.ts";
import type { Store } from "../../store/port.ts";
import { attachedValidations } from "../../store/tables/validations.ts";

export const ValidationFacts = z.strictObject({
  attachmentId: z.string(),
  validation: z.string(),
  resource: z.string(),
  mode: z.string(),
  passed: z.boolean(),
  message: z.string(),
  output: z.string(),
  outputCut: z.boolean(),
  changedFiles: z.array(z.string()).readonly(),
  durationMs: z.number(),
});

export const ValidationSummary = z.strictObject({
  attached: z.int(),
  where: z.string().nullable(),
  run: z.int().nullable(),
  total: z.int(),
  requiredPassed: z.int(),
  requiredFailed: z.int(),
  informationalPassed: z.int(),
  informationalFailed: z.int(),
  allRequiredPassed: z.boolean(),
  blocking: z.array(
    z.strictObject({
      attachmentId: z.string(),
      validation: z.string(),
      resource: z.string(),
      reason: z.string(),
      message: z.string(),
    }),
  ),
});

export interface PlanValidations {
  readonly results: z.output<typeof ValidationFacts>[];
  readonly summary: z.output<typeof ValidationSummary>;
  /** Why the plan cannot be applied; undefined when it can. */
  readonly obstacle: string | undefined;
}

export async function planValidations(store: Store, plan: Plan): Promise<PlanValidations> {
  const attached = (await store.read((reader) => attachedValidations(reader, plan))).length;
  const latest = await store.read((reader) => latestValidations(reader, plan));
  const gate = await validationGate(store, plan);
  const counted = summarize(latest?.results ?? []);
  const failures = gate.ok ? [] : gate.failures;
  return {
    results: (latest?.results ?? []).map(validationFacts),
    obstacle: gate.ok ? undefined : gate.why,
    summary: {
      attached,
      where: latest?.run.where ?? null,
      run: latest?.run.number ?? null,
      total: counted.total,
      requiredPassed: counted.requiredPassed,
      requiredFailed: counted.requiredFailed,
      informationalPassed: counted.informationalPassed,
      informationalFailed: counted.informationalFailed,
      allRequiredPassed: gate.ok,
      blocking: failures.map(({ attachment, validation, resource, reason, message }) => ({
        attachmentId: attachment,
        validation,
        resource,
        reason,
        message,
      })),
    },
  };
}

function validationFacts({ attachment, ...result }: ValidationResult): z.output<typeof ValidationFacts> {
  const { validation, resource, mode, passed, message, output, outputCut, changedFiles, durationMs } = result;
  return {
    attachmentId: attachment,
    validation,
    resource,
    mode,
    passed,
    message,
    output,
    outputCut,
    changedFiles,
    durationMs,
  };
}
