import { parseActors } from "../domain/actor/actor-parser.ts";
import type { ActorDefinition } from "../domain/actor/actor.ts";
import { fillVariables } from "../domain/definition/environment-text.ts";
import { listIssues, ValidationError, type ValidationIssue } from "../domain/errors/errors.ts";
import { secretValues } from "../domain/secrets/redaction.ts";
import { readYaml } from "../domain/definition/yaml-file.ts";
import type { Environment } from "../domain/values/environment.ts";

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

/**
 * The same for a file that may come from another person; `endpoints` are those of the configured providers, and `judge`
 * finds the problems of a definition that only its parts' own rooms know, by their places below the actor.
 */
export function readActorFile(
  text: string,
  file: string,
  environment: Environment,
  endpoints: readonly string[],
  judge: (definition: ActorDefinition) => readonly ValidationIssue[] = () => [],
): ActorFile {
  return readYaml(text, file, "an actor", (value) => {
    const issues: ValidationIssue[] = [];
    const taken = new Set<string>();
    const filled = fillVariables(value, environment, issues, { endpoints, taken });
    if (issues.length > 0) throw new ValidationError(`The actor is not valid: ${listIssues(issues)}.`, issues);
    const definitions = parseActors(filled, secretValues(environment));
    for (const definition of definitions) {
      const place = placeOf(definition, value);
      issues.push(...judge(definition).map((issue) => ({ ...issue, path: place + issue.path })));
    }
    if (issues.length > 0) throw new ValidationError(`The actor is not valid: ${listIssues(issues)}.`, issues);
    return { definitions, variables: [...taken].sort() };
  });
}

/** Where the file has the actor: the older form keeps several under their names. */
function placeOf({ name }: ActorDefinition, value: unknown): string {
  const file = value as Readonly<Record<string, unknown>>;
  if ("type" in file) return "";
  for (const section of ["actors", "agents"]) {
    const key = Object.keys(file[section] ?? {}).find((one) => `local/${one}` === name || one === name);
    if (key !== undefined) return `${section}.${key}.`;
  }
  return "";
}
