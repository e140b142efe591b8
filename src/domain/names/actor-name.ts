import { parseQualifiedName, type QualifiedName } from "./qualified-name.ts";

/**
 * The name by which users refer to an actor: that of a registered one, or a model as `<provider>/<model>`, which needs
 * no registration. Models have names that nothing of ours could have ("gpt-4.1", "qwen3:30b", a file with a
 * transcript), so only the part before the first slash must look like a name.
 */
export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

const PROVIDER = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/;
/** Each part between slashes; "." and ".." are none. */
const MODEL_PART = /^[A-Za-z0-9@][A-Za-z0-9._:@+~-]*$/;
const MODEL_LIMIT = 200;

export function parseActorName(text: string, field = "actor"): QualifiedName {
  if (modelNamed(text) !== undefined) return text as QualifiedName;
  return parseQualifiedName(text, field);
}

/**
 * Which model the name stands for if no actor is registered under it; undefined when it can only be a registered actor.
 */
export function modelNamed(name: string): ModelName | undefined {
  const slash = name.indexOf("/");
  const [provider, model] = [name.slice(0, slash), name.slice(slash + 1)];
  if (slash === -1 || !PROVIDER.test(provider) || provider.toLowerCase() === "local") return undefined;
  const fits = model.length <= MODEL_LIMIT && model.split("/").every((part) => MODEL_PART.test(part));
  return fits ? { provider, model } : undefined;
}
