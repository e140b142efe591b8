import { NotFoundError } from "../errors/errors.ts";
import { nextStep } from "../errors/next-step.ts";
import type { QualifiedName } from "./qualified-name.ts";
import { nearest } from "../text/suggest.ts";

/** Says what is not there, and what may have been meant. */
export function notFoundError(
  kind: "action" | "actor" | "project" | "resource" | "validation",
  name: QualifiedName,
  known: readonly string[],
): NotFoundError {
  const suggestion = nearest(name, known);
  return new NotFoundError(kind, name, {
    ...(suggestion === undefined ? {} : { detail: { suggestion } }),
    next: suggestion === undefined ? [nextStep(`${kind}.list`)] : [nextStep(`${kind}.show`, { [kind]: suggestion })],
  });
}
