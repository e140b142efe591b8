import { parseActors } from "../domain/actor-parser.ts";
import type { ActorDefinition } from "../domain/actor.ts";
import { fillVariables, type Environment } from "../domain/environment-text.ts";
import { listIssues, ValidationError, type ValidationIssue } from "../domain/errors.ts";
import { secretValues } from "../domain/redaction.ts";
import { readYaml } from "../domain/yaml-file.ts";

/** The loader of actor files, in today's form or an older one. Variables are filled in now: what is stored says what it meant then. */
export function parseActorFile(text: string, file: string, environment: Environment): ActorDefinition[] {
  return readYaml(text, file, "an actor", (value) => {
    const issues: ValidationIssue[] = [];
    const filled = fillVariables(value, environment, issues);
    if (issues.length > 0) throw new ValidationError(`The actor is not valid: ${listIssues(issues)}.`, issues);
    return parseActors(filled, secretValues(environment));
  });
}
