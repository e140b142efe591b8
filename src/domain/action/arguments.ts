import { ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { matching, TOO_SLOW } from "../text/patient-match.ts";
import { nearest } from "../text/suggest.ts";
import { shown, textProblem } from "../text/text.ts";

/** The arguments an action declares, and the typed values a plan is given for them. */

export const ARGUMENT_TYPES = ["string", "integer", "float", "boolean", "list"] as const;
/** The types of arguments. */
export type ArgumentType = (typeof ARGUMENT_TYPES)[number];
/** The value of an argument. */
export type ArgumentValue = string | number | boolean | readonly string[];

/** An argument that an action takes. */
export interface ArgumentSpec {
  readonly name: string;
  readonly type: ArgumentType;
  readonly required: boolean;
  readonly description: string;
  readonly default: ArgumentValue | undefined;
  /** Bounds of a number's value, or of the length of a string or list. */
  readonly min: number | undefined;
  readonly max: number | undefined;
  /** A regular expression that the whole string, or every item of a list, must match. */
  readonly pattern: string | undefined;
}

export const ARGUMENT_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,99}$/;

const LIST_LIMIT = 10_000;

/** The values that a caller hands over: already typed values, or the strings of a command line. */
export type GivenArguments = Readonly<Record<string, unknown>>;

/**
 * Checks and coerces all given values at once. Every unknown, missing or unfit argument is reported together, before
 * anything is written; the result is in the order in which the action declares them.
 */
export function resolveArguments(
  specs: readonly ArgumentSpec[],
  given: GivenArguments,
): ReadonlyMap<string, ArgumentValue> {
  const issues: ValidationIssue[] = [];
  const names = specs.map((spec) => spec.name);
  for (const name of Object.keys(given)) {
    if (names.includes(name)) continue;
    const suggestion = nearest(name, names);
    const known = names.length === 0 ? "the action takes none" : `known: ${names.join(", ")}`;
    issues.push({
      path: name,
      message: `unknown argument ${shown(name)} (${known})`,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  }
  const values = new Map<string, ArgumentValue>();
  for (const spec of specs) {
    const raw = Object.hasOwn(given, spec.name) ? given[spec.name] : undefined;
    if (raw === undefined) {
      if (spec.default !== undefined) values.set(spec.name, spec.default);
      else if (spec.required) issues.push({ path: spec.name, message: `missing required argument "${spec.name}"` });
      continue;
    }
    const value = coerce(spec, raw, issues);
    if (value !== undefined) values.set(spec.name, value);
  }
  if (issues.length > 0) {
    const list = issues.map((issue) => issue.message).join("; ");
    throw new ValidationError(`The arguments do not fit: ${list}.`, issues);
  }
  return values;
}

/** The value as the argument's type, or undefined with the reason in `issues`. */
export function coerce(spec: ArgumentSpec, raw: unknown, issues: ValidationIssue[]): ArgumentValue | undefined {
  const value = convert(spec.type, raw);
  if (value === undefined) {
    const article = spec.type === "integer" ? "an" : "a";
    issues.push({ path: spec.name, message: `"${spec.name}" must be ${article} ${spec.type}, not ${describe(raw)}` });
    return undefined;
  }
  const problem = unfit(spec, value);
  if (problem === undefined) return value;
  issues.push({ path: spec.name, message: `"${spec.name}" ${problem}` });
  return undefined;
}

/** How a value reads inside a rendered text. */
export function argumentText(value: ArgumentValue): string {
  return typeof value === "object" ? value.join(", ") : String(value);
}

function convert(type: ArgumentType, raw: unknown): ArgumentValue | undefined {
  switch (type) {
    case "string":
      return typeof raw === "string" ? raw : undefined;
    case "integer":
      return number(raw, /^[+-]?\d+$/, Number.isSafeInteger);
    case "float":
      return number(raw, /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i, Number.isFinite);
    case "boolean":
      return boolean(raw);
    case "list":
      return list(raw);
  }
}

function number(raw: unknown, form: RegExp, fits: (value: number) => boolean): number | undefined {
  const value = typeof raw === "string" && form.test(raw) ? Number(raw) : raw;
  // JSON has no minus zero; it becomes zero here rather than on its way through the store.
  return typeof value === "number" && fits(value) ? value + 0 : undefined;
}

function boolean(raw: unknown): boolean | undefined {
  if (typeof raw === "boolean") return raw;
  if (typeof raw !== "string") return undefined;
  if (["true", "yes", "on", "1"].includes(raw.toLowerCase())) return true;
  if (["false", "no", "off", "0"].includes(raw.toLowerCase())) return false;
  return undefined;
}

/** An array of strings; or a string: JSON when it starts with "[", else items between commas. */
function list(raw: unknown): readonly string[] | undefined {
  if (Array.isArray(raw)) {
    const items: unknown[] = Array.from(raw);
    return items.every((item) => typeof item === "string") ? items : undefined;
  }
  if (typeof raw !== "string") return undefined;
  if (!raw.trimStart().startsWith("[")) return raw === "" ? [] : raw.split(",").map((item) => item.trim());
  try {
    return list(JSON.parse(raw) as unknown);
  } catch {
    return undefined;
  }
}

function unfit(spec: ArgumentSpec, value: ArgumentValue): string | undefined {
  const texts = typeof value === "string" ? [value] : typeof value === "object" ? value : [];
  if (texts.length > LIST_LIMIT) return `has ${texts.length} items, more than ${LIST_LIMIT}`;
  for (const text of texts) {
    const problem = textProblem(text);
    if (problem !== undefined) return problem;
  }
  if (spec.pattern !== undefined) {
    const fitting = matching(wholeMatch(spec.pattern), texts);
    if (fitting === undefined) return `cannot be checked: the pattern ${spec.pattern} ${TOO_SLOW}`;
    const other = texts.find((_, index) => fitting[index] !== index);
    if (other !== undefined) return `is ${shown(other)}, which does not match the pattern ${spec.pattern}`;
  }
  if (typeof value === "boolean") return undefined;
  const size = typeof value === "number" ? value : value.length;
  const what =
    typeof value === "number" ? `is ${value}` : `has ${size} ${typeof value === "string" ? "characters" : "items"}`;
  if (spec.min !== undefined && size < spec.min) return `${what}, less than the minimum ${spec.min}`;
  if (spec.max !== undefined && size > spec.max) return `${what}, more than the maximum ${spec.max}`;
  return undefined;
}

/** Throws a SyntaxError when the pattern is not a regular expression. */
export function wholeMatch(pattern: string): RegExp {
  // By itself first: "a)|(?:b" is an expression only between the brackets we add.
  const { source } = new RegExp(pattern, "u");
  return new RegExp(`^(?:${source})$`, "u");
}

function describe(raw: unknown): string {
  if (typeof raw === "string") return shown(raw);
  if (raw === null) return "null";
  return Array.isArray(raw) ? "an array" : `a ${typeof raw}`;
}
