/** The outcome of a tool call that a model asked for, and how much of it the model is shown. */
import type { JsonObject } from "../../domain/values/json.ts";
import { nearest } from "../../domain/text/suggest.ts";
import { shown } from "../../domain/text/text.ts";
import type { Instructions, ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import type { ModelMessage, ModelTool, ModelToolCall, ModelUsage } from "../models/model.ts";
import type { Told } from "./actor-effects.ts";
import { instructionsSection } from "./briefing.ts";

/** Characters of one tool result that a model is shown; tools that can say more know better where to cut. */
const OUTPUT_LIMIT = 80_000;

/**
 * A call that cannot be one is answered here, and told to the model like any other failure: the tools that were offered
 * are all it has. Whether a call may be made and how it went is for the pipeline to say.
 */
export async function carriedOut(
  asked: ModelToolCall,
  answer: Pick<Told, "finish" | "usage" | "toolCalls">,
  tools: readonly ModelTool[],
  call: (params: JsonObject) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  // Also when it happens to be a JSON object: the parameters that would have come next are missing.
  if (answer.finish === "length" && answer.toolCalls.at(-1) === asked)
    return { ok: false, error: cutOff(answer.usage) };
  const names = tools.map(({ name }) => name);
  if (!names.includes(asked.tool)) {
    const near = nearest(asked.tool, names);
    const hint = near === undefined ? `There are: ${names.join(", ") || "none"}.` : `Did you mean ${near}?`;
    return { ok: false, error: `There is no tool ${shown(asked.tool)}. ${hint}` };
  }
  if (asked.params === undefined)
    return { ok: false, error: `The parameters are not a JSON object: ${shown(asked.raw, 500)}` };
  return await call(asked.params);
}

function cutOff({ outputTokens }: ModelUsage): string {
  return `Your call was cut off after ${outputTokens} tokens; nothing was done. Write the file in parts: first write_file with the first 200 lines, then write_file with append: true for each further part.`;
}

/** The outcome as the model reads it. One that would fill the model's window is cut, and says so. */
export function toldOutcome(outcome: ToolOutcome): string {
  if (!outcome.ok) return outcome.error;
  const output = outcome.text ?? outcome.output;
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return [withinLimit(text), ...(outcome.instructions ?? []).map(instructionsSection)].join("\n\n");
}

function withinLimit(text: string): string {
  if (text.length <= OUTPUT_LIMIT) return text;
  const kept = text.slice(0, OUTPUT_LIMIT).toWellFormed();
  return `${kept}\n[cut here: ${OUTPUT_LIMIT} of ${text.length} characters are shown; ask for less at a time]`;
}

/** Whether a message of the conversation has the instructions; an old result that was left out has them no more. */
export function isTold(instructions: Instructions, messages: readonly ModelMessage[]): boolean {
  const section = instructionsSection(instructions);
  return messages.some(
    (message) => message.role === "tool" && typeof message.output === "string" && message.output.includes(section),
  );
}
