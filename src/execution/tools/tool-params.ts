/**
 * The parameters of a call, as models write them: under the names that other agents use for the same thing, with keys
 * that the tool does not know, and with paths in any spelling. A call by a program is taken word for word, because its
 * author is told of a mistake when the program is stored.
 */
import { isAbsolute, relative } from "node:path";
import * as z from "zod";
import { ValidationError, type ValidationIssue } from "../../domain/errors/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/values/json.ts";
import { refusedPathError } from "../../platform/contained-path.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { BuiltInTool } from "./tool.ts";

/** By our own name, the names that models bring along from other agents; the first that the call has is taken. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  path: [
    "file_path",
    "filePath",
    "filepath",
    "file",
    "filename",
    "target_file",
    "absolute_path",
    "dir_path",
    "directory",
    "dir",
    "source",
    "src",
    "from",
  ],
  to: ["destination", "dest", "new_path", "newPath", "target"],
  content: ["contents", "text", "file_text", "data", "body"],
  old: ["old_string", "oldString", "old_str", "oldStr", "old_text", "oldText", "search", "find"],
  new: ["new_string", "newString", "new_str", "newStr", "new_text", "newText", "replace", "replacement"],
  replace_all: ["all", "replaceAll", "all_occurrences"],
  edits: ["changes", "replacements"],
  command: ["cmd", "script", "bash", "shell_command"],
  timeout_ms: ["timeout", "timeoutMs"],
  background: ["run_in_background", "is_background", "isBackground"],
  id: ["command_id", "bash_id", "shell_id", "task_id", "session_id"],
  wait_ms: ["wait", "waitMs", "yield_time_ms"],
  cwd: ["workdir", "working_directory", "directory", "path"],
  pattern: ["query", "regex", "regexp", "search_pattern", "search"],
  glob: ["include", "file_glob", "glob_pattern", "pattern"],
  query: ["question", "prompt", "pattern"],
  ignore_case: ["case_insensitive", "ignoreCase", "-i", "i"],
  context: ["context_lines", "-C", "C"],
  mode: ["output_mode", "outputMode"],
  offset: ["start_line", "startLine", "line", "from_line"],
  limit: ["max_lines", "num_lines", "lines", "head_limit", "max_results", "count"],
  patch: ["input", "patch_text", "patchText", "diff"],
};

/** Parameters that had another name in an earlier version: stored actors still use it. */
const FORMER_NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  edit_file: { all: "replace_all" },
};

export function withPresentNames<T>(
  tool: BuiltInTool,
  params: Readonly<Record<string, T>>,
): Readonly<Record<string, T>> {
  const former = FORMER_NAMES[tool.name];
  if (former === undefined) return params;
  return Object.fromEntries(Object.entries(params).map(([key, value]) => [former[key] ?? key, value]));
}

export interface UnderstoodParams {
  readonly params: JsonObject;
  /** Keys that were left out, because the tool has nothing of that name. */
  readonly unknown: readonly string[];
}

/** The parameters as the model meant them. */
export function understoodParams(tool: BuiltInTool, given: JsonObject): UnderstoodParams {
  const known = knownKeys(tool);
  const named = renamed(given, known);
  const inner = Array.isArray(named["edits"]) ? { edits: named["edits"].map(understoodEdit) } : {};
  const entries = Object.entries({ ...named, ...inner });
  return {
    params: Object.fromEntries(entries.filter(([key]) => known.includes(key))),
    unknown: entries.flatMap(([key]) => (known.includes(key) ? [] : [key])),
  };
}

function understoodEdit(edit: JsonValue): JsonValue {
  if (!isJsonObject(edit)) return edit;
  const keys = ["old", "new", "replace_all"];
  const named = renamed(edit, keys);
  return Object.fromEntries(Object.entries(named).filter(([key]) => keys.includes(key)));
}

function renamed(given: JsonObject, known: readonly string[]): JsonObject {
  const taken = new Map(Object.entries(given));
  for (const name of known) {
    if (taken.has(name)) continue;
    const alias = (ALIASES[name] ?? []).find((one) => taken.has(one) && !known.includes(one));
    if (alias === undefined) continue;
    taken.set(name, taken.get(alias) ?? null);
    taken.delete(alias);
  }
  return Object.fromEntries(taken);
}

/** The note about keys that were left out. */
export function unknownKeysNote(tool: BuiltInTool, unknown: readonly string[]): string {
  if (unknown.length === 0) return "";
  const names = unknown.map((key) => JSON.stringify(key)).join(", ");
  return `\n[${tool.name} has no parameter ${names}; left out. It takes: ${parameterNames(tool)}]`;
}

function knownKeys(tool: BuiltInTool): string[] {
  const { parameters } = tool;
  const own = parameters instanceof z.ZodObject ? Object.keys(parameters.shape) : [];
  return "ask" in tool ? own : [...own, "resource"];
}

function parameterNames(tool: BuiltInTool): string {
  const { parameters } = tool;
  if (!(parameters instanceof z.ZodObject)) return "";
  const optional = (name: string): boolean => z.safeParse(parameters.shape[name], undefined).success;
  return Object.keys(parameters.shape)
    .map((name) => (optional(name) ? `${name}?` : name))
    .join(", ");
}

export function parameterIssuesOf(error: z.ZodError): ValidationIssue[] {
  return error.issues.map((issue) => ({ path: issue.path.join("."), message: issue.message }));
}

export function unfitParamsError(tool: BuiltInTool, error: z.ZodError): ValidationError {
  const issues = parameterIssuesOf(error);
  const list = issues.map(({ path, message }) => `${path === "" ? "" : `${path}: `}${message}`).join("; ");
  return new ValidationError(
    `The parameters of ${tool.name} do not fit: ${list}. It takes: ${parameterNames(tool) || "nothing"}.`,
    issues,
  );
}

/** The parameters with every path relative to the resource. */
export function withPlainPaths(tool: BuiltInTool, params: JsonObject, sandbox: Sandbox): JsonObject {
  const plain = (value: JsonValue): JsonValue => (typeof value === "string" ? plainPath(value, sandbox) : value);
  const keys = (tool.paths ?? []).filter((key) => params[key] !== undefined);
  const changed = keys.map((key): [string, JsonValue] => {
    const value = params[key] ?? null;
    return [key, Array.isArray(value) ? value.map(plain) : plain(value)];
  });
  return { ...params, ...Object.fromEntries(changed) };
}

/**
 * A path as the workspace wants it: `./a`, `a/`, `a//b`, and the absolute path of a file of the sandbox or of the
 * user's checkout. "." is the resource itself. Containment is not decided here but where the path is used.
 */
export function plainPath(given: string, { root, path: checkout }: Pick<Sandbox, "root" | "path">): string {
  if (!isAbsolute(given)) return tidied(given);
  for (const place of [root, checkout]) {
    const inside = relative(place, given);
    if (inside === "") return ".";
    if (inside !== ".." && !inside.startsWith("../") && !isAbsolute(inside)) return tidied(inside);
  }
  const guess = tidied(given);
  const hint = guess === "." ? "" : `; for a file of this resource write "${guess}"`;
  throw refusedPathError(given, `is outside: paths are relative to the resource${hint}`);
}

function tidied(path: string): string {
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  return path === "" ? path : segments.join("/") || ".";
}
