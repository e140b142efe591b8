import { parseActors } from "../domain/actor/actor-parser.ts";
import type { ActorDefinition } from "../domain/actor/actor.ts";
import { fillVariables, type Environment } from "../domain/definition/environment-text.ts";
import { listIssues, ValidationError, type ValidationIssue } from "../domain/errors/errors.ts";
import { secretValues } from "../domain/secrets/redaction.ts";
import { readYaml } from "../domain/definition/yaml-file.ts";

/** The definitions in an actor file, and the variables it takes from the environment. */
export interface ActorFile {
  readonly definitions: ActorDefinition[];
  /** Names of the variables that were filled in. */
  readonly variables: readonly string[];
}

/**
 * The loader of actor files, in today's form or an older one. Variables are filled in now: what is stored says what it
 * meant then.
 */
export function parseActorFile(text: string, file: string, environment: Environment): ActorDefinition[] {
  return readActorFile(text, file, environment, []).definitions;
}

/** The same for a file that may come from another person; `endpoints` are those of the configured providers. */
export function readActorFile(
  text: string,
  file: string,
  environment: Environment,
  endpoints: readonly string[],
): ActorFile {
  return readYaml(text, file, "an actor", (value) => {
    const issues: ValidationIssue[] = [];
    const taken = new Set<string>();
    const filled = fillVariables(value, environment, issues, { endpoints, taken });
    if (issues.length > 0) throw new ValidationError(`The actor is not valid: ${listIssues(issues)}.`, issues);
    return { definitions: parseActors(filled, secretValues(environment)), variables: [...taken].sort() };
  });
}
