import type { AttachmentId } from "../names/ids.ts";
import type { QualifiedName } from "../names/qualified-name.ts";
import type { ValidationMode } from "./validation.ts";

/** Whether the plan's own sandboxes were validated, or what they become together with a target that moved meanwhile. */
export type ValidatedPlace = "sandbox" | "merged";

/** One pass over one state of the files. Results of different states never mix: other files are another run. */
export interface ValidationRun {
  readonly number: number;
  readonly where: ValidatedPlace;
  /** Tells one state of the files from another. */
  readonly tree: string;
  readonly startedAt: number;
}

export interface ValidationResult {
  readonly attachment: AttachmentId;
  /** The resource's alias in the plan. */
  readonly resource: string;
  readonly validation: QualifiedName;
  readonly mode: ValidationMode;
  readonly passed: boolean;
  /** How it ended, in words. */
  readonly message: string;
  /** Its output; of a long output only the end. */
  readonly output: string;
  readonly outputCut: boolean;
  /** The files it changed although it must not; they were put back. */
  readonly changedFiles: readonly string[];
  readonly durationMs: number;
}

export interface ValidationSummary {
  readonly total: number;
  readonly requiredPassed: number;
  readonly requiredFailed: number;
  readonly informationalPassed: number;
  readonly informationalFailed: number;
}

export function summarize(results: readonly ValidationResult[]): ValidationSummary {
  const number = (mode: ValidationMode, passed: boolean): number =>
    results.filter((result) => result.mode === mode && result.passed === passed).length;
  return {
    total: results.length,
    requiredPassed: number("required", true),
    requiredFailed: number("required", false),
    informationalPassed: number("informational", true),
    informationalFailed: number("informational", false),
  };
}
