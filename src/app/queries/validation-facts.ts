/** The facts of a validation: its checks, and where it is attached. */
import * as z from "zod";
import type { ListedValidation } from "../../catalog/validation-service.ts";
import type { Attachment } from "../../domain/validation/attachment.ts";
import { VALIDATION_MODES } from "../../domain/validation/validation.ts";
import { Instant, instant, Json } from "../base/schemas.ts";

export const AttachmentFacts = z.strictObject({
  attachmentId: z.string(),
  validation: z.string(),
  mode: z.enum(VALIDATION_MODES),
  resource: z.string(),
  scope: z.enum(["everywhere", "project", "plan"]),
  project: z.string().nullable(),
  planId: z.string().nullable(),
  createdAt: Instant,
});

const About = z.strictObject({
  name: z.string(),
  description: z.string(),
  mode: z.enum(VALIDATION_MODES),
  attachments: z.array(AttachmentFacts),
  version: z.int(),
  createdAt: Instant,
  updatedAt: Instant,
});

/** It checks with a command that must succeed, or with a tool that must not fail. */
export const ValidationDetails = z.union([
  About.extend({ command: z.string(), cwd: z.string().nullable(), timeoutMs: z.int() }),
  About.extend({ tool: z.string(), params: z.record(z.string(), Json) }),
]);

export function validationDetails(validation: ListedValidation): z.output<typeof ValidationDetails> {
  const { name, description, mode, check, attachments, version, createdAt, updatedAt } = validation;
  const about = {
    name,
    description,
    mode,
    attachments: attachments.map(attachmentFacts),
    version,
    createdAt: instant(createdAt),
    updatedAt: instant(updatedAt),
  };
  return check.kind === "command"
    ? { ...about, command: check.command, cwd: check.cwd ?? null, timeoutMs: check.timeoutMs }
    : { ...about, tool: check.tool, params: check.params };
}

export function attachmentFacts({
  id,
  validation,
  mode,
  resource,
  scope,
  createdAt,
}: Attachment): z.output<typeof AttachmentFacts> {
  return {
    attachmentId: id,
    validation,
    mode,
    resource,
    scope: scope.kind,
    project: scope.kind === "project" ? scope.project : null,
    planId: scope.kind === "plan" ? scope.planId : null,
    createdAt: instant(createdAt),
  };
}
