import * as z from "zod";
import { ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { nearest } from "../text/suggest.ts";
import { lineProblem, textProblem } from "../text/text.ts";

/**
 * The common part of the schemas of definitions (actions, actors): checked texts, and every problem in words a user
 * knows.
 */

export const REQUIRED = "is required";

const checked = (problemOf: (value: string) => string | undefined) =>
  z.string({ error: ({ input }) => (input === undefined ? REQUIRED : "must be a text") }).check((context) => {
    const problem = problemOf(context.value);
    if (problem !== undefined) context.issues.push({ code: "custom", message: problem, input: context.value });
  });
const notEmpty = z.refine<string>((value) => value.trim() !== "", { message: "must not be empty" });

export const text = checked(textProblem);
export const filled = text.check(notEmpty);
/** A description of one line. */
export const line = checked(lineProblem);
export const filledLine = line.check(notEmpty);

/** The keys a definition has, and those of the items of its one list of objects. */
export interface KnownKeys {
  readonly own: readonly string[];
  readonly list: string;
  readonly items: readonly string[];
  /** Keys that other systems or earlier versions have and this one does not, each with the reason. */
  readonly refused?: Readonly<Record<string, string>>;
}

/** The problems that a schema found in the form of a definition. */
export function formIssues(error: z.ZodError, known: KnownKeys): ValidationIssue[] {
  return error.issues.flatMap((issue) => readable(issue, known));
}

function readable(issue: z.core.$ZodIssue, { own, list, items, refused = {} }: KnownKeys): ValidationIssue[] {
  const path = issue.path.join(".");
  if (issue.code === "unrecognized_keys") {
    const known = issue.path[0] === list ? items : own;
    return issue.keys.map((key) => {
      const at = path === "" ? key : `${path}.${key}`;
      const reason = path === "" && Object.hasOwn(refused, key) ? refused[key] : undefined;
      return reason === undefined
        ? { path: at, message: "unknown key", ...suggested(key, known) }
        : { path: at, message: reason };
    });
  }
  const missing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  const suggestion: unknown = issue.code === "custom" ? issue.params?.["suggestion"] : undefined;
  const message = missing ? REQUIRED : issue.message;
  return [{ path, message, ...(typeof suggestion === "string" ? { suggestion } : {}) }];
}

/** `{ suggestion }` when a known word is near, to be spread into an issue. */
export function suggested(word: string, known: Iterable<string>): { suggestion?: string } {
  const suggestion = nearest(word, known);
  return suggestion === undefined ? {} : { suggestion };
}

/** Runs one parser; its validation issues join the others instead of ending everything. */
export function collect<T>(parse: () => T, issues: ValidationIssue[]): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    issues.push(...error.issues);
    return undefined;
  }
}

/**
 * The value if it has the form, else undefined: so that one field of a wrong form does not hide what is wrong with the
 * others.
 */
export function fitting<S extends z.ZodType>(schema: S, value: unknown): z.output<S> | undefined {
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

export function onlyKeys(value: unknown, keys: readonly string[]): Record<string, unknown> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key)));
}
