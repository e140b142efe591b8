import { StuckError } from "../../domain/errors/errors.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import type { JsonObject } from "../../domain/values/json.ts";
import { shown } from "../../domain/text/text.ts";
import type { ActorMemory } from "../../domain/actor/actor.ts";
import { remembered } from "./memory.ts";
import type { ActorHands, Told } from "./actor-effects.ts";
import { carriedOut, toldOutcome } from "./tool-turn.ts";
import type { ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import type { ModelMessage, ModelRef, ModelSettings, ModelTool, ModelToolCall } from "../models/model.ts";

/**
 * A model that carries out one step of a plan: it is shown the step, asks for tools, is shown what came of them, and so on until it
 * answers with text alone, which is the step's summary. Everything it does goes through its hands and is a durable step there, so this
 * is a plain loop: repeated after a crash it goes the same way, without asking or doing anything twice.
 */
export interface Work {
  readonly step: string;
  readonly description: string;
  /** That the step is to be done. */
  readonly decision: DecisionId;
  readonly model: ModelRef;
  readonly settings: ModelSettings;
  /** The whole system prompt; the same at every call. */
  readonly system: string;
  readonly tools: readonly ModelTool[];
  readonly memory: ActorMemory;
  readonly responseSchema: JsonObject | undefined;
  /** How often the step gave up before: each time somebody had it go on, and so it gets its limits once more. */
  readonly gaveUp: number;
  /** Counts tokens as the model's family does. */
  readonly count: (text: string) => number;
}

export const WORKER_ROLE = `You carry out one step of a larger plan, in a sandbox, by calling tools. What you do not do by a tool is not done.

- Do what the step asks and nothing else; other steps are not your business.
- Look at files before you change them. Paths are relative to the resource.
- When a tool or a command fails, read why and do something about it; the same call fails the same way.
- When the step is done, answer without calling a tool: say in a few sentences what you did and what the next steps should know.
- If nothing has to be done, answer "NOTHING TO DO:" and why.`;

/** So many calls of the model a step may take before somebody should look at it. */
export const CALL_LIMIT = 25;
const SAME_FAILURE_LIMIT = 3;
const REMINDERS = 1;

const NOTHING_TO_DO = /^\W*nothing to do\b/i;

/** Returns the step's summary. */
export async function workOn(work: Work, hands: ActorHands): Promise<string> {
  const { decision: parent, model, system, tools, settings } = work;
  const rounds = work.gaveUp + 1;
  const failures = new Failures(SAME_FAILURE_LIMIT * rounds);
  const messages: ModelMessage[] = [
    { role: "user", content: `Carry out the step "${work.step}": ${work.description}` },
  ];
  let [reminders, acted, failed] = [0, false, false];
  for (let turn = 1; turn <= CALL_LIMIT * rounds; turn += 1) {
    const recovers = failed;
    const type = (told: Told): "error_recovery" | "tool_invocation" | "implementation_choice" =>
      recovers ? "error_recovery" : told.toolCalls.length > 0 ? "tool_invocation" : "implementation_choice";
    const question = recovers ? "A tool failed. What now?" : turn === 1 ? work.description : "What is next?";
    const call = {
      model,
      system,
      // A copy: the conversation goes on while this is being recorded.
      messages: [...remembered(messages, work.memory, work.count)],
      tools,
      settings,
      ...(work.responseSchema === undefined ? {} : { responseSchema: work.responseSchema }),
    };
    const { answer, decision } = await hands.ask(String(turn), call, { type, question, parent });
    if (answer.text !== "" || answer.toolCalls.length > 0)
      messages.push({ role: "assistant", content: answer.text, toolCalls: answer.toolCalls });
    if (answer.toolCalls.length === 0) {
      const reminder = reminderFor(answer, acted || tools.length === 0);
      if (reminder === undefined) return answer.text.trim();
      if (reminders >= REMINDERS * rounds) throw useless(work, answer);
      reminders += 1;
      messages.push({ role: "user", content: reminder });
      continue;
    }
    failed = false;
    for (const [index, asked] of answer.toolCalls.entries()) {
      const outcome = await carriedOut(asked, answer, tools, (params) =>
        hands.callTool(`${turn}.${index + 1}`, { tool: asked.tool, params, decision, forModel: true }),
      );
      acted = true;
      if (!outcome.ok) failed = true;
      const output = toldOutcome(outcome);
      messages.push({ role: "tool", callId: asked.id, tool: asked.tool, output, failed: !outcome.ok });
      const repeated = failures.repeatedBy(asked, outcome);
      if (repeated !== undefined) throw repeating(work, asked, repeated);
    }
  }
  throw new StuckError(`The step "${work.step}" is not done after ${CALL_LIMIT * rounds} calls of ${nameOf(model)}.`, {
    detail: { step: work.step, calls: CALL_LIMIT * rounds },
  });
}

/** What the model must be told about an answer without tool calls; undefined when it ends the step. */
function reminderFor({ text, finish }: Told, acted: boolean): string | undefined {
  if (text.trim() === "") return "Your answer was empty. Call a tool, or say what you did to end the step.";
  if (finish === "length")
    return "Your answer was cut off at its limit. Call a tool, or end the step with a shorter answer.";
  if (acted || NOTHING_TO_DO.test(text)) return undefined;
  return 'You called no tool, so nothing was done: text alone changes no file. Call the tools that do the step, or answer "NOTHING TO DO:" and why.';
}

/** The same call that fails in the same way again and again leads nowhere. */
class Failures {
  readonly #limit: number;
  /** Calls that failed themselves, and those whose work did, such as commands. */
  readonly #calls = new Map<string, number>();
  readonly #work = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The failure, when it has come too often. */
  repeatedBy({ tool, raw }: ModelToolCall, outcome: ToolOutcome): string | undefined {
    // A command that failed may well do better once files have changed.
    if (outcome.ok && outcome.changed === true) this.#work.clear();
    const [seen, failure] = outcome.ok ? [this.#work, outcome.failure] : [this.#calls, outcome.error];
    if (failure === undefined) return undefined;
    const key = JSON.stringify([tool, raw, failure]);
    const times = (seen.get(key) ?? 0) + 1;
    seen.set(key, times);
    return times >= this.#limit ? failure : undefined;
  }
}

function repeating({ step, model }: Work, { tool }: ModelToolCall, error: string): StuckError {
  return new StuckError(
    `${nameOf(model)} keeps calling ${shown(tool)} in the step "${step}" in the same way, and it keeps failing: ${error}`,
    { detail: { step, tool, error } },
  );
}

function useless({ step, model }: Work, answer: Told): StuckError {
  const said = answer.text.trim() === "" ? "nothing" : shown(answer.text, 2_000);
  return new StuckError(`${nameOf(model)} does nothing in the step "${step}". It answered: ${said}`, {
    detail: { step, answer: answer.text },
  });
}

export function nameOf({ provider, model }: ModelRef): string {
  return `${provider}/${model}`;
}
