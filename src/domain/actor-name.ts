import { ValidationError } from "./errors.ts";
import { parseQualifiedName, type QualifiedName } from "./qualified-name.ts";
import { shown, textProblem } from "./text.ts";

/**
 * The name of an actor as somebody refers to it: that of a registered one, or a model as `<provider>/<model>`, which needs no
 * registration. Models have names that nothing of ours could have ("gpt-4.1", "qwen3:30b", a file with a transcript), so only what
 * stands before the first slash must look like a name.
 */
export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

const MODEL_LIMIT = 200;

export function parseActorName(text: string, field = "actor"): QualifiedName {
  try {
    return parseQualifiedName(text, field);
  } catch (error) {
    const named = modelNamed(text);
    if (named === undefined) throw error;
    const problem = textProblem(named.model, MODEL_LIMIT);
    if (problem === undefined) return text as QualifiedName;
    const message = `${shown(text)} is not a usable name: its model ${problem}.`;
    throw new ValidationError(message, [{ path: field, message }]);
  }
}

/** Which model the name stands for if no actor is registered under it; undefined when it can only be somebody's own actor. */
export function modelNamed(name: string): ModelName | undefined {
  const [, provider, model] = /^([A-Za-z][A-Za-z0-9_-]{0,99})\/(\S(?:.*\S)?)$/s.exec(name) ?? [];
  if (provider === undefined || model === undefined || provider.toLowerCase() === "local") return undefined;
  return { provider, model };
}
