import { parseAction, type ActionInput } from "../domain/action/action.ts";
import type { AutomationProfile } from "../domain/profile/automation-profile.ts";
import { listIssues, ValidationError, type ValidationIssue } from "../domain/errors/errors.ts";
import { readYaml } from "../domain/definition/yaml-file.ts";

/**
 * The loader of action files. YAML keys are snake_case, the schema's camelCase: this is the one place where they are
 * turned into each other.
 */
export function parseActionFile(text: string, file: string, own: readonly AutomationProfile[] = []): ActionInput {
  return readYaml(text, file, "an action", (value) => readAction(value, own));
}

function readAction(value: unknown, own: readonly AutomationProfile[]): ActionInput {
  const { input, issues } = camelCased(value);
  try {
    parseAction(input, own);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    issues.push(...error.issues.map((issue) => ({ ...issue, path: snake(issue.path), ...snakeSuggestion(issue) })));
  }
  if (issues.length > 0) throw new ValidationError(`The action is not valid: ${listIssues(issues)}.`, issues);
  return input as ActionInput;
}

interface Renamed {
  readonly input: unknown;
  readonly issues: ValidationIssue[];
}

/**
 * Renames the keys of the two levels that have any. A key that is not snake_case is unknown, even if its camelCase is
 * not.
 */
function camelCased(value: unknown): Renamed {
  const issues: ValidationIssue[] = [];
  const rename = (record: Record<string, unknown>, parent: string): Record<string, unknown> => {
    const renamed: Record<string, unknown> = {};
    for (const [key, one] of Object.entries(record)) {
      if (/^[a-z][a-z_]*$/.test(key)) renamed[camel(key)] = one;
      else
        issues.push({
          path: parent + key,
          message: "unknown key",
          ...(isSnake(key) ? {} : { suggestion: snake(key) }),
        });
    }
    return renamed;
  };
  if (!isRecord(value)) return { input: value, issues };
  const input = rename(value, "");
  if (Array.isArray(input["arguments"])) {
    input["arguments"] = input["arguments"].map((item: unknown, index) =>
      isRecord(item) ? rename(item, `arguments.${index}.`) : item,
    );
  }
  return { input, issues };
}

function camel(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function snake(text: string): string {
  return text.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isSnake(text: string): boolean {
  return snake(text) === text;
}

function snakeSuggestion({ suggestion }: ValidationIssue): { suggestion?: string } {
  return suggestion === undefined ? {} : { suggestion: snake(suggestion) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
