import type { ValidationIssue } from "../errors/errors.ts";
import { shown } from "../text/text.ts";

const ALIAS = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/;

/** The short word something goes by inside its plan or project; undefined when `alias` is one. */
export function aliasIssue(alias: string): ValidationIssue | undefined {
  if (ALIAS.test(alias)) return undefined;
  return { path: "alias", message: `${shown(alias)} is not an alias: a letter, then letters, digits, "_" or "-"` };
}
