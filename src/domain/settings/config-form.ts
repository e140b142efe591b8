/** The configuration file as a whole: its JSON Schema, and what is wrong with it, value by value. */
import { suggested } from "../definition/checked-schema.ts";
import { isObject } from "../definition/spelling.ts";
import { ValidationError, listIssues, type ValidationIssue } from "../errors/errors.ts";
import type { JsonObject } from "../values/json.ts";
import { PROVIDER_FIELDS } from "./provider-settings.ts";
import { knownSetting, SETTINGS, type Setting } from "./settings.ts";

const SCALAR = { type: ["string", "number", "boolean"] };

export function configForm(): JsonObject {
  const about = (settings: readonly Setting[]): JsonObject =>
    Object.fromEntries(
      settings.map(({ key, description, default: usual }) => [
        key,
        { ...SCALAR, description, ...(usual === undefined ? {} : { default: usual }) },
      ]),
    );
  const project = {
    type: "object",
    properties: about(SETTINGS.filter(({ perProject }) => perProject)),
    additionalProperties: false,
  };
  return {
    type: "object",
    properties: {
      ...about(SETTINGS),
      projects: { type: "object", description: "Values for single projects.", additionalProperties: project },
    },
    patternProperties: { [`^provider\\.[a-z][a-z0-9-]{0,39}\\.(${PROVIDER_FIELDS.join("|")})$`]: SCALAR },
    additionalProperties: false,
  };
}

/** Every problem of the file is in the one error; a file with comments alone is empty. */
export function checkConfig(value: unknown): void {
  const issues = Object.entries(isObject(value) ? value : {}).flatMap(([key, one]) =>
    key === "projects" ? projectsIssues(one) : settingIssues(key, one, key),
  );
  if (issues.length > 0) throw new ValidationError(`The configuration is not valid: ${listIssues(issues)}.`, issues);
}

function projectsIssues(value: unknown): ValidationIssue[] {
  if (!isObject(value)) return [{ path: "projects", message: "must hold one section for each project" }];
  return Object.entries(value).flatMap(([project, values]) => {
    const path = `projects.${project}`;
    if (!isObject(values)) return [{ path, message: "must be a set of key: value lines" }];
    return Object.entries(values).flatMap(([key, one]) => {
      if (knownSetting(key)?.perProject === false)
        return [{ path: `${path}.${key}`, message: "cannot be set for a single project" }];
      return settingIssues(key, one, `${path}.${key}`);
    });
  });
}

function settingIssues(key: string, value: unknown, path: string): ValidationIssue[] {
  const setting = knownSetting(key);
  if (setting === undefined) {
    const known = SETTINGS.map((one) => one.key);
    return [{ path, message: "unknown key", ...suggested(key, known) }];
  }
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean")
    return [{ path, message: "needs a single value" }];
  const problem = setting.problem(String(value));
  return problem === undefined ? [] : [{ path, message: problem }];
}
