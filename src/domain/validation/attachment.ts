import type { AttachmentId, PlanId } from "../names/ids.ts";
import type { QualifiedName } from "../names/qualified-name.ts";
import type { Validation, ValidationMode } from "./validation.ts";

/**
 * Where an attached validation is run: everywhere the resource is used, in the plans of one project, or in one plan.
 */
export type AttachmentScope =
  | { readonly kind: "everywhere" }
  | { readonly kind: "project"; readonly project: QualifiedName }
  | { readonly kind: "plan"; readonly planId: PlanId };

export interface Attachment {
  readonly id: AttachmentId;
  readonly validation: QualifiedName;
  readonly mode: ValidationMode;
  readonly resource: QualifiedName;
  readonly scope: AttachmentScope;
  readonly createdAt: number;
}

/** A validation as a plan sees it: to be run on one of its resources. */
export interface AttachedValidation {
  readonly attachment: AttachmentId;
  /** The resource's alias in the plan. */
  readonly resource: string;
  readonly validation: Validation;
}
