import * as z from "zod";
import { keyIssues } from "../actor/actor-keys.ts";
import { filled, filledLine, formIssues } from "../definition/checked-schema.ts";
import {
  isObject,
  jsonObject,
  list,
  map,
  maybe,
  number,
  parsedBy,
  reading,
  spelled,
  word,
} from "../definition/spelling.ts";
import { yesOrNo, type Say } from "../definition/spelling.ts";
import { listIssues, ValidationError, type ValidationIssue } from "../errors/errors.ts";
import { nameParts, parseOwnName, type QualifiedName } from "../names/qualified-name.ts";
import { TOOL_NAMES, toolWord } from "../names/tool-names.ts";
import { relativePathProblem } from "../plan/change-entry.ts";
import { shown } from "../text/text.ts";
import type { JsonObject } from "../values/json.ts";

/**
 * A tool that a user defines: a program with a JSON Schema for its parameters. The program gets them as JSON on its
 * standard input and in variables; they are never put into the text of a shell.
 */
export interface OwnToolDefinition {
  readonly name: QualifiedName;
  readonly description: string;
  /** JSON Schema of `type: object`. */
  readonly parameters: JsonObject;
  readonly runs: OwnToolProgram;
  /** False: it runs where it cannot change files of the plan. */
  readonly writes: boolean;
  readonly timeoutMs: number;
  /** `json`: its standard output is one JSON value. */
  readonly output: "text" | "json";
  /** Directory below the top of the resource; undefined for the top. */
  readonly cwd: string | undefined;
  /** Variables that it gets besides those of every command. */
  readonly env: Readonly<Record<string, string>>;
}

export type OwnToolProgram =
  /** A program and its arguments; `{name}` in an argument stands for the parameter of that name. */
  | { readonly kind: "command"; readonly command: readonly string[] }
  | { readonly kind: "shell"; readonly text: string }
  /** JavaScript of the user's own, which runs outside of the sandbox. */
  | { readonly kind: "module"; readonly path: string };

const DEFAULT_TIMEOUT_MS = 120_000;
const LONGEST_TIMEOUT_MS = 3_600_000;
const SCHEMA_LIMITS = { depth: 32, bytes: 64 * 1024 };
const MOST_VARIABLES = 100;
const NO_PARAMETERS: JsonObject = { type: "object", properties: {}, additionalProperties: false };
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;

/** The variable in which a program finds a parameter. */
export function parameterVariable(name: string): string {
  return `ARG_${name.replaceAll(/[^A-Za-z0-9_]/g, "_").toUpperCase()}`;
}

/** The names of the parameters that a schema declares. */
function parametersOfSchema({ properties }: JsonObject): string[] {
  return isObject(properties) ? Object.keys(properties) : [];
}

const command = reading<OwnToolProgram>(
  (value, say) => {
    if (typeof value === "string")
      return value.trim() === "" ? say("must not be empty") : { kind: "shell", text: value };
    const parsed = list(filled, 1_000).safeParse(value);
    if (!parsed.success || parsed.data.length === 0)
      return say("must be a text for the shell, or a list: the program and its arguments");
    return { kind: "command", command: parsed.data };
  },
  () => ({ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" }, minItems: 1 }] }),
);

const SHAPE = {
  name: parsedBy((name) => parseOwnName(name)),
  description: filledLine.max(1_000, "is longer than 1000 characters"),
  parameters: jsonObject(SCHEMA_LIMITS).default(NO_PARAMETERS),
  command: maybe(command),
  module: maybe(filled),
  writes: yesOrNo.default(true),
  timeoutMs: number(1, LONGEST_TIMEOUT_MS, "whole").default(DEFAULT_TIMEOUT_MS),
  output: word(["text", "json"]).default("text"),
  cwd: maybe(filled),
  env: map(z.string("must be a text"), MOST_VARIABLES, (key) =>
    VARIABLE.test(key) ? undefined : `${shown(key)} is not the name of a variable`,
  ).default({}),
};

const FORM = {
  older: { parameters: ["input_schema", "inputSchema"], timeoutMs: [], env: ["environment"] },
  block: "capability",
  refused: {
    timeout: "is written timeout_ms, in milliseconds",
    read_only: "is written writes: false",
    network: "belongs to the automation profile of a plan",
    code: "is not supported: name a command or a module",
    type: "is not needed: every file here is a tool",
    source: "is not needed: a tool that you define is your own",
    lifecycle: "is not supported: a tool is one program that runs once for each call",
    resources: "is not needed: a tool works in the resource that the call names",
    output_schema: "is not supported; output: json checks that the output is JSON",
  },
};

export const ownTool = spelled(SHAPE, FORM, (values, say): OwnToolDefinition | undefined => {
  const { name, description, parameters, writes, timeoutMs, output, cwd, env } = values;
  const runs = programOf(values, say);
  judgeName(name, say);
  if (runs?.kind === "module" && !writes)
    say("a module runs outside of the sandbox and can always write", { path: ["writes"] });
  if (runs?.kind === "module" && cwd !== undefined) say("is only for a command", { path: ["cwd"] });
  const problem = cwd === undefined || cwd === "." ? undefined : relativePathProblem(cwd);
  if (problem !== undefined) say(`${shown(cwd)} ${problem}`, { path: ["cwd"] });
  judgeParameters(parametersOfSchema(parameters), runs, env, say);
  return runs === undefined
    ? undefined
    : { name, description, parameters, runs, writes, timeoutMs, output, cwd: cwd === "." ? undefined : cwd, env };
});

function programOf(
  { command: given, module: path }: { command: OwnToolProgram | undefined; module: string | undefined },
  say: Say,
): OwnToolProgram | undefined {
  if ((given === undefined) === (path === undefined)) return say('there must be exactly one of "command" and "module"');
  return path === undefined ? given : { kind: "module", path };
}

/** Guards and actors would take it for the built-in one. */
function judgeName(name: QualifiedName, say: Say): void {
  const last = toolWord(nameParts(name).name).toLowerCase();
  if (TOOL_NAMES.some((one) => one === last)) say(`"${last}" is the name of a built-in tool`, { path: ["name"] });
}

function judgeParameters(
  names: readonly string[],
  runs: OwnToolProgram | undefined,
  env: Readonly<Record<string, string>>,
  say: Say,
): void {
  const seen = new Map<string, string>(Object.keys(env).map((key) => [key, "env"]));
  for (const name of names) {
    const variable = parameterVariable(name);
    const other = seen.get(variable);
    const path = ["parameters", "properties", name];
    if (other !== undefined) say(`would be in the variable ${variable}, which ${shown(other)} has`, { path });
    seen.set(variable, name);
    if (runs?.kind === "shell" && runs.text.includes(`{${name}}`))
      say(`parameters are not put into a shell text; write "$${variable}" for {${name}}`, { path: ["command"] });
  }
  if (runs?.kind !== "command") return;
  if (/\{\w+\}/.test(runs.command[0] ?? "")) say("the program cannot be a parameter", { path: ["command", 0] });
  for (const [index, item] of runs.command.entries())
    for (const [whole, name = ""] of item.matchAll(/\{([A-Za-z_][\w-]*)\}/g))
      if (!names.includes(name)) say(`there is no parameter for ${whole}`, { path: ["command", index] });
}

/** The definition in a file, flat or in a block `tool`; every problem is in the one error. */
export function parseOwnTool(input: unknown): OwnToolDefinition {
  const wrapped = isObject(input) && isObject(input["tool"]) && !("name" in input);
  const value = wrapped ? input["tool"] : input;
  const issues: ValidationIssue[] = keyIssues(value);
  const parsed = ownTool.safeParse(value);
  if (!parsed.success) issues.push(...formIssues(parsed.error, { own: [], list: "", items: [] }));
  if (parsed.success && issues.length === 0) return parsed.data;
  const placed = issues.map((one) => ({ ...one, path: wrapped ? joined("tool", one.path) : one.path }));
  throw new ValidationError(`The tool is not valid: ${listIssues(placed)}.`, placed);
}

function joined(block: string, path: string): string {
  return path === "" ? block : `${block}.${path}`;
}
