import type { Attachment, AttachmentScope } from "../domain/validation/attachment.ts";
import { ConflictError } from "../domain/errors/errors.ts";
import { nextStep } from "../domain/errors/next-step.ts";
import type { QualifiedName } from "../domain/names/qualified-name.ts";
import { deleteAttachment } from "../store/tables/validations.ts";
import type { Tx } from "../store/port.ts";
import { recordEvent, type RecordSource } from "../plans/transition.ts";

/**
 * The attachments of validations to resources. The services of projects, resources and validations use them to see what
 * a removal would detach, or what prevents it.
 */
export async function removeAttachment(tx: Tx, recordSource: RecordSource, attachment: Attachment): Promise<void> {
  await deleteAttachment(tx, attachment.id);
  const details = attachmentDetails(attachment);
  await recordEvent(tx, recordSource, { type: "validation.detached", at: recordSource.clock(), details });
}

export function attachmentDetails({ id, validation, resource, scope }: Attachment): Record<string, string> {
  return { attachment: id, validation, resource, ...scopeDetails(scope) };
}

function scopeDetails(scope: AttachmentScope): Record<string, string> {
  switch (scope.kind) {
    case "everywhere":
      return {};
    case "project":
      return { project: scope.project };
    case "plan":
      return { plan: scope.planId };
  }
}

const SHOWN = 5;

/** Why something that is attached is not removed. */
export function stillAttachedError(
  of: "validation" | "resource",
  name: QualifiedName,
  attachments: readonly Attachment[],
): ConflictError {
  const others = [...new Set(attachments.map((one) => (of === "validation" ? one.resource : one.validation)))];
  const listed = `${others.slice(0, SHOWN).join(", ")}${others.length > SHOWN ? ", …" : ""}`;
  const message =
    of === "validation"
      ? `The validation "${name}" is attached to ${listed}.`
      : `The resource "${name}" has validations attached to it: ${listed}.`;
  return new ConflictError(
    message,
    { expected: "no attachment", actual: { attachments: attachments.map(({ id }) => id).slice(0, 20) } },
    {
      kept: "Nothing was changed.",
      next: attachments.slice(0, SHOWN).map(({ id }) => nextStep("validation.detach", { attachment: id })),
    },
  );
}
