import { NotFoundError } from "../domain/errors.ts";
import type { QualifiedName } from "../domain/qualified-name.ts";
import { nearest } from "../domain/suggest.ts";

/** Says what is not there, and what may have been meant. */
export function notFound(
  kind: "action" | "actor" | "project" | "resource" | "validation",
  name: QualifiedName,
  known: readonly string[],
): NotFoundError {
  const suggestion = nearest(name, known);
  return new NotFoundError(kind, name, {
    ...(suggestion === undefined ? {} : { detail: { suggestion } }),
    next: suggestion === undefined ? [`agents ${kind} list`] : [`agents ${kind} show ${suggestion}`],
  });
}
