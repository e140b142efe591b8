/** The gate between execute and apply: every required validation must have passed on the plan's files. */
import type { AttachedValidation } from "../../domain/validation/attachment.ts";
import type { AttachmentId } from "../../domain/names/ids.ts";
import type { Plan } from "../../domain/plan/plan.ts";
import type { QualifiedName } from "../../domain/names/qualified-name.ts";
import { latestValidations } from "../../ledger/validation-runs.ts";
import type { Store } from "../../store/port.ts";
import { attachedValidations } from "../../store/tables/validations.ts";
import { lastLines } from "../tools/cut-text.ts";

/** Why a plan may not be applied: a required validation that failed, or that says nothing about these files. */
interface GateFailure {
  readonly attachment: AttachmentId;
  /** The resource's alias in the plan. */
  readonly resource: string;
  readonly validation: QualifiedName;
  readonly reason: "failed" | "not_validated";
  readonly message: string;
  /** The last lines that it printed; "" when it was not run, or printed nothing. */
  readonly output: string;
}

export type ValidationGate =
  | { readonly ok: true }
  | { readonly ok: false; readonly why: string; readonly failures: readonly GateFailure[] };

/**
 * Whether what is attached to the plan's resources now lets it be applied. Each required validation must have passed
 * in the latest run of this attempt; one without a result there (attached since, or the run did not get that far) has
 * not validated anything.
 */
export async function validationGate(store: Store, plan: Plan): Promise<ValidationGate> {
  const { attached, latest } = await store.read(async (reader) => ({
    attached: await attachedValidations(reader, plan),
    latest: await latestValidations(reader, plan),
  }));
  const failures = attached
    .filter(({ validation }) => validation.mode === "required")
    .flatMap((one) => {
      const result = latest?.results.find(
        ({ attachment, resource }) => attachment === one.attachment && resource === one.resource,
      );
      if (result === undefined) return [failure(one, "not_validated", "It was not run.", "")];
      return result.passed ? [] : [failure(one, "failed", result.message, lastLines(result.output))];
    });
  if (failures.length === 0) return { ok: true };
  const names = (reason: GateFailure["reason"]): string =>
    failures
      .filter((one) => one.reason === reason)
      .map(({ validation, resource }) => `${validation} (${resource})`)
      .join(", ");
  const parts = [
    names("failed") === "" ? [] : [`failed: ${names("failed")}`],
    names("not_validated") === "" ? [] : [`not run: ${names("not_validated")}`],
  ].flat();
  return { ok: false, why: `Required validations ${parts.join("; ")}.`, failures };
}

function failure(
  { attachment, resource, validation }: AttachedValidation,
  reason: GateFailure["reason"],
  message: string,
  output: string,
): GateFailure {
  return { attachment, resource, validation: validation.name, reason, message, output };
}
