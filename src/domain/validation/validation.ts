import * as z from "zod";
import { relativePathProblem } from "../plan/change-entry.ts";
import { listIssues, ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { parseJson, type JsonObject } from "../values/json.ts";
import { parseOwnName, type QualifiedName } from "../names/qualified-name.ts";
import { jsonForm, withForm } from "../definition/json-form.ts";
import {
  collect,
  filled,
  filledLine,
  fitting,
  formIssues,
  onlyKeys,
  suggested,
  type KnownKeys,
} from "../definition/checked-schema.ts";
import { shown } from "../text/text.ts";
import { CONTEXT_TOOL_NAMES, TOOL_NAMES, toolWord, type ToolName } from "../names/tool-names.ts";

/**
 * A check of what a plan made: a command that must succeed, or a tool that must not fail. It is registered once and
 * attached to resources; a required one that fails keeps the plan from being applied, an informational one only tells.
 */
export const VALIDATION_MODES = ["required", "informational"] as const;
/** Whether a failure blocks the apply. */
export type ValidationMode = (typeof VALIDATION_MODES)[number];

/** The check itself: exactly one of the two. */
export type Check =
  | {
      readonly kind: "command";
      readonly command: string;
      /** Relative to the resource's top directory. */
      readonly cwd: string | undefined;
      readonly timeoutMs: number;
    }
  | { readonly kind: "tool"; readonly tool: ReadOnlyTool; readonly params: JsonObject };

/** A validation as its file defines it, checked. */
export interface ValidationDefinition {
  readonly name: QualifiedName;
  readonly description: string;
  readonly mode: ValidationMode;
  readonly check: Check;
}

export interface Validation extends ValidationDefinition {
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The tools that change nothing, and so can check something. */
export const READ_ONLY_TOOLS = [
  "read_file",
  "find_files",
  "list_directory",
  "search_files",
  "get_file_info",
  "git_status",
  "git_diff",
  "git_log",
  "git_blame",
] as const satisfies readonly (typeof TOOL_NAMES)[number][];
/** A tool that a validation may use: it changes nothing. */
export type ReadOnlyTool = (typeof READ_ONLY_TOOLS)[number];

export const DEFAULT_TIMEOUT_MS = 600_000;
const LONGEST_TIMEOUT_MS = 3_600_000;
const PARAMS_LIMITS = { depth: 16, bytes: 256 * 1024 };

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

const validationSchema = z.strictObject({
  name: z.string(),
  description: filledLine,
  mode: z.string().default("required"),
  command: filled.optional(),
  cwd: z.string().optional(),
  timeout_ms: z
    .int({ message: "must be a whole number of milliseconds" })
    .min(1, { message: "must be at least 1" })
    .max(LONGEST_TIMEOUT_MS, { message: `must be at most ${LONGEST_TIMEOUT_MS}, which is an hour` })
    .optional(),
  tool: z.string().optional(),
  params: withForm(z.custom<object>(isObject, { message: "must be a set of parameters, name: value" }), () => ({
    type: "object",
  })).optional(),
});

/** The input of `addValidation`: the same keys as the YAML file. */
export type ValidationInput = z.input<typeof validationSchema>;

/** The JSON Schema of its file. */
export function validationForm(): JsonObject {
  const form = jsonForm(validationSchema);
  const ofCommand = ["command", "cwd", "timeout_ms"];
  const without = (keys: readonly string[]): JsonObject => Object.fromEntries(keys.map((key) => [key, false]));
  const words = { mode: { enum: [...VALIDATION_MODES], default: "required" } };
  return {
    ...form,
    properties: { ...(form["properties"] as JsonObject), ...words },
    oneOf: [
      { required: ["command"], properties: without(["tool", "params"]) },
      { required: ["tool"], properties: without(ofCommand) },
    ],
  };
}

const KNOWN_KEYS: KnownKeys = { own: Object.keys(validationSchema.shape), list: "", items: [] };

/**
 * Parses and checks a validation completely, except for what only the tool can tell of its parameters; every problem is
 * in the one error.
 */
export function parseValidation(input: unknown): ValidationDefinition {
  const form = validationSchema.safeParse(input);
  const issues = form.success ? [] : formIssues(form.error, KNOWN_KEYS);
  const given = onlyKeys(input, KNOWN_KEYS.own);
  const { shape } = validationSchema;
  const ownName = fitting(shape.name, given["name"]);
  const name = ownName === undefined ? undefined : collect(() => parseOwnName(ownName), issues);
  const mode = modeOf(fitting(shape.mode, given["mode"]), issues);
  const check = "tool" in given && !("command" in given) ? toolCheck(given, issues) : commandCheck(given, issues);
  if (!form.success || issues.length > 0 || name === undefined || mode === undefined || check === undefined) {
    throw new ValidationError(`The validation is not valid: ${listIssues(issues)}.`, issues);
  }
  return { name, description: form.data.description, mode, check };
}

function modeOf(given: string | undefined, issues: ValidationIssue[]): ValidationMode | undefined {
  const mode = VALIDATION_MODES.find((candidate) => candidate === given);
  if (mode === undefined && given !== undefined) {
    const message = `is ${shown(given)}; it must be ${VALIDATION_MODES.join(" or ")}`;
    issues.push({ path: "mode", message, ...suggested(given, VALIDATION_MODES) });
  }
  return mode;
}

type Given = Readonly<Record<string, unknown>>;

/** Keys that say something only beside another one: alone they would be silently without effect. */
function refuseStrays(given: Given, keys: readonly string[], owner: string, issues: ValidationIssue[]): void {
  for (const key of keys) if (key in given) issues.push({ path: key, message: `is only for a ${owner}` });
}

function commandCheck(given: Given, issues: ValidationIssue[]): Check | undefined {
  const { shape } = validationSchema;
  const ONE_OF = 'there must be exactly one of "command" and "tool"';
  if (!("command" in given)) issues.push({ path: "", message: ONE_OF });
  if ("tool" in given) issues.push({ path: "tool", message: ONE_OF });
  else refuseStrays(given, ["params"], "tool", issues);
  const cwd = fitting(shape.cwd, given["cwd"]);
  const problem = cwd === undefined || cwd === "." ? undefined : relativePathProblem(cwd);
  if (problem !== undefined) issues.push({ path: "cwd", message: `${shown(cwd)} ${problem}` });
  const command = fitting(shape.command, given["command"]);
  const timeoutMs = fitting(shape.timeout_ms, given["timeout_ms"]) ?? DEFAULT_TIMEOUT_MS;
  return command === undefined ? undefined : { kind: "command", command, cwd, timeoutMs };
}

function toolCheck(given: Given, issues: ValidationIssue[]): Check | undefined {
  const { shape } = validationSchema;
  refuseStrays(given, ["cwd", "timeout_ms"], "command", issues);
  const wanted = fitting(shape.tool, given["tool"]);
  const params = parseJson(fitting(shape.params, given["params"]) ?? {}, "params", PARAMS_LIMITS, issues);
  if (wanted === undefined) return undefined;
  const tool = READ_ONLY_TOOLS.find((name) => name === toolWord(wanted));
  if (tool === undefined) {
    const known = TOOL_NAMES.find((name) => name === toolWord(wanted));
    const message = known === undefined ? `there is no tool ${shown(wanted)}` : `"${wanted}" ${unfitReason(known)}`;
    issues.push({
      path: "tool",
      message,
      ...(known === undefined ? suggested(toolWord(wanted), READ_ONLY_TOOLS) : {}),
    });
    return undefined;
  }
  return params === undefined ? undefined : { kind: "tool", tool, params: params as JsonObject };
}

function unfitReason(tool: ToolName): string {
  if (CONTEXT_TOOL_NAMES.some((name) => name === tool)) return "tells something of the plan, and checks nothing";
  return `may change files, and a validation must not${tool === "shell_execute" ? '; say "command" to run one' : ""}`;
}
