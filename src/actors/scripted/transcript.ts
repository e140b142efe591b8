import * as z from "zod";
import { ValidationError, type ValidationIssue } from "../../domain/errors/errors.ts";
import { parseJson, type JsonObject } from "../../domain/values/json.ts";
import { filled, formIssues, text, type KnownKeys } from "../../domain/definition/checked-schema.ts";
import { readYaml } from "../../domain/definition/yaml-file.ts";
import type { ModelErrorKind } from "../models/model-error.ts";

/**
 * A transcript: the answers of a scripted model, for demos, tests and replays. It is a list of turns, each with what it
 * answers to and what it answers.
 *
 *     turns:
 *       - match: { user: health endpoint }
 *         tool_calls:
 *           - tool: read_file
 *             parameters: { path: src/health.ts }
 *       - match: { result: /status: \d+/ }
 *         text: The endpoint answers 200 now.
 */
export interface Transcript {
  readonly file: string;
  readonly turns: readonly Turn[];
}

export interface Turn {
  /** All of them must fit; none fits every call. */
  readonly match: Readonly<Partial<Record<MatchField, Pattern>>>;
  /** How often it answers in one conversation. */
  readonly times: number;
  readonly text: string;
  /** Shown as its thinking, before the text. */
  readonly thought: string;
  readonly toolCalls: readonly { readonly tool: string; readonly params: JsonObject }[];
  readonly delayMs: number;
  /** Fails so, after `text` was shown. */
  readonly error: ScriptedError | undefined;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

/** The system prompt, the last text of the user, the tool of the last result, the last result itself. */
const MATCH_FIELDS = ["system", "user", "tool", "result"] as const;
export type MatchField = (typeof MATCH_FIELDS)[number];

/** Contained, or found by the expression. */
export type Pattern = string | RegExp;

const SCRIPTED_ERRORS = [
  "rate_limit",
  "overloaded",
  "network",
  "server",
  "authentication",
  "unavailable",
  "context_too_long",
  "refused",
  "rejected",
  "malformed",
  "timeout",
] as const satisfies readonly ModelErrorKind[];
type ScriptedError = (typeof SCRIPTED_ERRORS)[number];

const TURN_LIMIT = 10_000;
const PARAMETER_LIMITS = { depth: 16, bytes: 1024 * 1024 };

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);
const isTimes = (value: unknown): boolean => value === "always" || (Number.isSafeInteger(value) && Number(value) >= 1);
const count = z.number().int().min(0).max(1_000_000_000);

const matchSchema = z.strictObject({
  system: filled.optional(),
  user: filled.optional(),
  tool: filled.optional(),
  result: filled.optional(),
});
const callSchema = z.strictObject({
  tool: filled,
  parameters: z.custom<object>(isObject, { message: "must be a set of parameters, name: value" }).default({}),
});
const usageSchema = z.strictObject({ input_tokens: count.default(0), output_tokens: count.default(0) });
const turnSchema = z.strictObject({
  match: matchSchema.default({}),
  times: z.custom<number | "always">(isTimes, { message: 'must be a number from 1, or "always"' }).default(1),
  text: text.optional(),
  thought: text.default(""),
  tool_calls: z.array(callSchema).max(100).default([]),
  delay_ms: count.max(600_000).default(0),
  error: z.enum(SCRIPTED_ERRORS, { message: `must be one of ${SCRIPTED_ERRORS.join(", ")}` }).optional(),
  usage: usageSchema.default({ input_tokens: 0, output_tokens: 0 }),
});
const transcriptSchema = z.strictObject({
  turns: z
    .array(turnSchema)
    .min(1, { message: "must have at least one turn" })
    .max(TURN_LIMIT, { message: `must not have more than ${TURN_LIMIT} turns` }),
});

const KNOWN_KEYS: KnownKeys = {
  own: Object.keys(transcriptSchema.shape),
  list: "turns",
  items: [turnSchema, matchSchema, callSchema, usageSchema].flatMap(({ shape }) => Object.keys(shape)),
};

export function parseTranscript(source: string, file: string): Transcript {
  return readYaml(source, file, "a transcript", (value) => {
    const form = transcriptSchema.safeParse(value);
    const issues: ValidationIssue[] = form.success ? [] : formIssues(form.error, KNOWN_KEYS);
    const turns = form.success ? form.data.turns.map((turn, index) => checkedTurn(turn, `turns.${index}`, issues)) : [];
    if (issues.length > 0) throw new ValidationError("The transcript is not valid.", issues);
    return { file, turns };
  });
}

function checkedTurn(turn: z.output<typeof turnSchema>, path: string, issues: ValidationIssue[]): Turn {
  const { match, times, tool_calls: calls, delay_ms: delayMs, error, usage } = turn;
  if (turn.text === undefined && calls.length === 0 && error === undefined) {
    issues.push({ path, message: 'must answer something: with "text", "tool_calls" or "error"' });
  }
  if (error !== undefined && calls.length > 0) {
    issues.push({ path: `${path}.error`, message: "cannot go with tool_calls: a call that fails calls no tools" });
  }
  return {
    match: Object.fromEntries(
      MATCH_FIELDS.flatMap((field) => {
        const pattern = match[field];
        return pattern === undefined ? [] : [[field, parsePattern(pattern, `${path}.match.${field}`, issues)]];
      }),
    ),
    times: times === "always" ? Number.POSITIVE_INFINITY : times,
    text: turn.text ?? "",
    thought: turn.thought,
    toolCalls: calls.map(({ tool, parameters }, index) => ({
      tool,
      params: (parseJson(parameters, `${path}.tool_calls.${index}.parameters`, PARAMETER_LIMITS, issues) ??
        {}) as JsonObject,
    })),
    delayMs,
    error,
    usage: { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
  };
}

/** `/…/` with flags is a regular expression, anything else a text to be contained. */
function parsePattern(pattern: string, path: string, issues: ValidationIssue[]): Pattern {
  const [, source, flags = ""] = /^\/(.+)\/([imsu]*)$/s.exec(pattern) ?? [];
  if (source === undefined) return pattern;
  try {
    return new RegExp(source, flags);
  } catch (error) {
    issues.push({
      path,
      message: `is not a regular expression: ${error instanceof Error ? error.message : String(error)}`,
    });
    return pattern;
  }
}
