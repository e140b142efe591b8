import { ValidationError } from "../domain/errors/errors.ts";
import { parseValidation, type ValidationDefinition, type ValidationInput } from "../domain/validation/validation.ts";
import { parameterIssues } from "../execution/tools/tool-pipeline.ts";
import { readYaml } from "../domain/definition/yaml-file.ts";

/** The loader of validation files. Their keys are the same in YAML as in the schema. */
export function parseValidationFile(text: string, file: string): ValidationInput {
  return readYaml(text, file, "a validation", (value) => {
    checkValidation(value);
    return value as ValidationInput;
  });
}

/** The definition, once also its tool has found nothing wrong with the parameters. */
export function checkValidation(input: unknown): ValidationDefinition {
  const definition = parseValidation(input);
  if (definition.check.kind === "command") return definition;
  const { tool, params } = definition.check;
  const issues = parameterIssues(tool, params).map(({ path, message }) => ({
    path: path === "" ? "params" : `params.${path}`,
    message,
  }));
  if (issues.length === 0) return definition;
  const list = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new ValidationError(`The validation is not valid: ${list}.`, issues);
}
