import { ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { parseOwnName, type QualifiedName } from "../names/qualified-name.ts";
import { checkText } from "../text/text.ts";

/** A named scope of plans. Resources are linked to it. */
export interface Project {
  readonly name: QualifiedName;
  readonly description: string | undefined;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface ProjectInput {
  readonly name: string;
  readonly description?: string | undefined;
}

export function parseProject(input: ProjectInput): Pick<Project, "name" | "description"> {
  const name = parseOwnName(input.name);
  const issues: ValidationIssue[] = [];
  if (input.description !== undefined) checkText(input.description, "description", issues);
  if (issues.length > 0) throw new ValidationError(`The project is not valid: ${issues[0]?.message}.`, issues);
  return { name, description: input.description };
}
