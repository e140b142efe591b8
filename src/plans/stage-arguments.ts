import { STAGE_NAMES } from "../domain/settings/context-settings.ts";
import { findSetting } from "../domain/settings/settings.ts";
import { ValidationError, type ValidationIssue } from "../domain/errors/errors.ts";
import { suggested } from "../domain/definition/checked-schema.ts";
import { shown } from "../domain/text/text.ts";

/**
 * Checks the modules a plan brings for stages of its context: each stage must exist, each module must be an absolute
 * path.
 */
export function planStages(given: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const issues: ValidationIssue[] = [];
  const stages = new Map<string, string>();
  for (const [stage, module] of Object.entries(given)) {
    const path = `stages.${stage}`;
    if (!STAGE_NAMES.some((name) => name === stage)) {
      const message = `there is no stage ${shown(stage)} (there are: ${STAGE_NAMES.join(", ")})`;
      issues.push({ path, message, ...suggested(stage, STAGE_NAMES) });
      continue;
    }
    const problem = findSetting(`context.stage.${stage}`).problem(module);
    if (problem === undefined) stages.set(stage, module);
    else issues.push({ path, message: `the module of ${stage} ${problem}, not ${shown(module)}` });
  }
  if (issues.length === 0) return stages;
  throw new ValidationError(`The stages are not valid: ${issues.map(({ message }) => message).join("; ")}.`, issues);
}
