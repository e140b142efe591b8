/** The outcome of an operation as the answer of a tool: its output in snake_case, or an error with the next step. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { maskedError, maskedErrorChain } from "../app/base/masked-error.ts";
import { toWire } from "../app/base/wire.ts";
import { AgentsError } from "../domain/errors/errors.ts";
import { nextStep, type NextStep } from "../domain/errors/next-step.ts";
import type { Environment } from "../domain/values/environment.ts";
import { toolName, type MarkedTool } from "./marked-tools.ts";
import { shortened } from "./shortened.ts";

/** As the protocol wants it, with nothing of ours added at the top. */
export type ToolAnswer = CallToolResult;

export interface AnswerParts {
  readonly tools: ReadonlyMap<string, MarkedTool>;
  readonly environment: Environment;
  /** As a command of the command line. */
  readonly spell: (step: NextStep) => string;
  readonly log: (text: string) => void;
}

/** An operation that is a tool here is spelled as a call of it, any other as a command for the user. */
export function spelledStep(step: NextStep, { tools, spell }: AnswerParts): string {
  if ("text" in step) return step.text;
  const tool = tools.get(toolName(step.operation));
  const given = step.arguments ?? {};
  const isTaken = Object.keys(given).every((name) => tool?.mark.takes.includes(name) === true);
  if (tool === undefined || !isTaken) return spell(step);
  const note = step.note === undefined ? "" : `${step.note}: `;
  return `${note}${tool.name} ${JSON.stringify(toSnake(tool, given))}`;
}

function toSnake(tool: MarkedTool, given: Readonly<Record<string, unknown>>): unknown {
  return toWire(tool.input.partial(), given, (step) => step);
}

export function answerOf(
  tool: MarkedTool,
  { output, notes, plan }: { readonly output: unknown; readonly notes: readonly string[]; readonly plan?: string },
  parts: AnswerParts,
): ToolAnswer {
  const { value, cut } = shortened(toWire(tool.output, output, (step) => spelledStep(step, parts)));
  const whole = parts.spell(nextStep(tool.operation, plan === undefined ? {} : { plan }));
  const missing =
    cut.length === 0 ? [] : [`Cut (${cut.join("; ")}). Ask for less at once, or read all of it: ${whole}`];
  const told = [...notes, ...missing].map((text) => ({ type: "text" as const, text }));
  return {
    content: [{ type: "text", text: JSON.stringify(value) }, ...told],
    structuredContent: value,
  };
}

/** A failure is an answer too: its agent reads what happened, what was kept and what to do next. */
export function errorAnswer(error: unknown, parts: AnswerParts): ToolAnswer {
  const text = errorText(error, parts);
  const _meta = error instanceof AgentsError ? { "cleveragents/error": errorFacts(error, parts) } : {};
  return { content: [{ type: "text", text }], isError: true, _meta };
}

export function errorText(error: unknown, parts: AnswerParts): string {
  const { environment, log } = parts;
  if (!(error instanceof AgentsError)) {
    log(maskedErrorChain(error, environment));
    return "error internal: This is a defect; the log of the server has more.";
  }
  const { code, message, kept, next } = maskedError(error, environment);
  return [
    `error ${code}: ${message}`,
    ...(kept === undefined ? [] : [kept]),
    ...next.map((step) => `next: ${spelledStep(step, parts)}`),
  ].join("\n");
}

function errorFacts(error: AgentsError, parts: AnswerParts): Record<string, unknown> {
  const { code, message, kept = null, next, detail } = maskedError(error, parts.environment);
  return { code, message, kept, next: next.map((step) => spelledStep(step, parts)), detail };
}
