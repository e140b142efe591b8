/**
 * A model that carries out one step of a plan: it is told the step, calls tools, sees what came of them, until it ends
 * the step by `step_done` or by an answer without calls, which is the step's summary.
 */
import { listIssues, StuckError } from "../../domain/errors/errors.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import { shown } from "../../domain/text/text.ts";
import type { ModelMessage, ModelToolCall } from "../models/model.ts";
import type { AgentEffects, Told } from "./actor-effects.ts";
import { converse, modelName, type ToolReply, type Talk } from "./agent-loop.ts";
import { askedUser, isQuestion } from "./ask-user.ts";
import { explorer } from "./explorer.ts";
import { ASK_USER, doneSchema, REVISE_STRATEGY, STEP_DONE } from "./control-tools.ts";
import { revisionSchema, stepIssues } from "./strategy-form.ts";

export interface Work {
  readonly talk: Talk;
  readonly step: string;
  readonly description: string;
  /** The conversation up to the step; the last message tells the model what to do. */
  readonly messages: readonly ModelMessage[];
  /** The decision that the step is to be done. */
  readonly decision: DecisionId;
  /** How often the step gave up before: each time the user let it continue, and so it gets its limits once more. */
  readonly gaveUp: number;
  /** Calls of the model that the step may take. */
  readonly calls: number;
  /** Aliases, the ids of steps that began, and the actors for single steps: for a revision of the strategy. */
  readonly names: {
    readonly resources: readonly string[];
    readonly taken: readonly string[];
    readonly actors?: readonly string[];
  };
  /** Names of the tools that only read. */
  readonly readable: ReadonlySet<string>;
  /** Said once, before the step ends with the answer of this key; undefined when all is well. */
  readonly beforeEnd?: ((key: string, acts: Acts) => Promise<string | undefined>) | undefined;
}

/** The acts of the model in the step so far. */
export interface Acts {
  /** A call that may have changed something went well, and no command ran after it. */
  readonly unchecked: boolean;
  /** Nothing was changed, and the model does not say that nothing was to be done. */
  readonly idle: boolean;
}

const SAME_FAILURE_LIMIT = 3;
const REMINDERS = 1;
const NOTHING_TO_DO = /^\W*nothing to do\b/i;

/** Returns the step's summary. */
export async function workOn(work: Work, effects: AgentEffects): Promise<string> {
  const rounds = work.gaveUp + 1;
  const ending = new Ending(work, rounds);
  return converse<string>(
    {
      talk: work.talk,
      messages: work.messages,
      limit: work.calls * rounds,
      name: `The step "${work.step}"`,
      parent: work.decision,
      sameFailures: SAME_FAILURE_LIMIT * rounds,
      typeOf: ({ toolCalls }, recovers) =>
        recovers ? "error_recovery" : toolCalls.length > 0 ? "tool_invocation" : "implementation_choice",
      handoverType: "implementation_choice",
      explore: explorer({ talk: work.talk, readable: work.readable, type: "tool_invocation", effects }),
      questionAt: (turn, recovers) =>
        recovers ? "A tool failed. What now?" : turn === 1 ? work.description : "What is next?",
      refused: () => undefined,
      control: (call, at) => control(call, at, { work, effects, ending }),
      said: (answer, at) => ending.said(answer, { ...at, effects }),
      watch: (call, outcome) => ending.watch(call, outcome),
    },
    effects,
  );
}

async function control(
  call: ModelToolCall,
  at: { readonly key: string; readonly decision: DecisionId },
  parts: { readonly work: Work; readonly effects: AgentEffects; readonly ending: Ending },
): Promise<ToolReply<string>> {
  const { work, effects, ending } = parts;
  if (call.tool === ASK_USER) return askedUser(call, at.key, effects);
  if (call.tool === STEP_DONE) return ending.done(call, at.key);
  if (call.tool !== REVISE_STRATEGY) {
    return { told: `The strategy is recorded already. To change it call ${REVISE_STRATEGY}.`, failed: true };
  }
  const parsed = revisionSchema.safeParse(call.params);
  const issues = parsed.success
    ? stepIssues(parsed.data.steps, work.names)
    : parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message }));
  if (!parsed.success || issues.length > 0) return { told: listIssues(issues.slice(0, 20)), failed: true };
  const revised = await effects.revise(at.key, { ...parsed.data, decision: at.decision });
  if ("refused" in revised) return { told: revised.refused, failed: true };
  const ahead =
    revised.steps.length === 0 ? "No step comes after this one" : `After this one come: ${revised.steps.join(", ")}`;
  return { told: `The strategy is revised. ${ahead}. Finish the present step, "${work.step}".` };
}

/** When a step may end, and what the model is told before it may. */
class Ending {
  readonly #work: Work;
  readonly #limit: number;
  #reminders = 0;
  #askedBefore = false;
  #wrote = false;
  #unchecked = false;

  constructor(work: Work, rounds: number) {
    this.#work = work;
    this.#limit = REMINDERS * rounds;
  }

  watch({ tool }: ModelToolCall, { changed }: { readonly ok: boolean; readonly changed: boolean }): void {
    this.#wrote ||= changed;
    this.#unchecked = tool !== "shell_execute" && (this.#unchecked || changed);
  }

  async done({ params }: ModelToolCall, key: string): Promise<ToolReply<string>> {
    const parsed = doneSchema.safeParse(params);
    if (!parsed.success) return { told: `The summary does not fit: ${parsed.error.issues[0]?.message}`, failed: true };
    return this.#end(parsed.data.summary, key);
  }

  async said(
    answer: Told,
    at: { readonly key: string; readonly acted: boolean; readonly effects: AgentEffects },
  ): Promise<ToolReply<string>> {
    const text = answer.text.trim();
    const acted = at.acted || this.#work.talk.tools.length === 0;
    const reminder = reminderFor(answer, acted);
    if (reminder === undefined && isQuestion(text) && !this.#wrote)
      return { told: `The user answers: ${await at.effects.askUser(at.key, text, [])}` };
    if (reminder === undefined) return this.#end(text, at.key);
    if (this.#reminders >= this.#limit) throw uselessError(this.#work, answer);
    this.#reminders += 1;
    return { told: reminder };
  }

  async #end(summary: string, key: string): Promise<ToolReply<string>> {
    const acts = { unchecked: this.#unchecked, idle: !this.#wrote && !NOTHING_TO_DO.test(summary) };
    const said = this.#askedBefore ? undefined : await this.#work.beforeEnd?.(key, acts);
    if (said === undefined) return { end: summary };
    this.#askedBefore = true;
    return { told: said };
  }
}

/** The reminder that an answer without tool calls needs; undefined when the answer can end the step. */
function reminderFor({ text, finish }: Told, acted: boolean): string | undefined {
  if (text.trim() === "") return "Your answer was empty. Call a tool, or say what you did to end the step.";
  if (finish === "length")
    return "Your answer was cut off at its limit. Call a tool, or end the step with a shorter answer.";
  if (acted || NOTHING_TO_DO.test(text) || isQuestion(text)) return undefined;
  return 'You called no tool, so nothing was done: text alone changes no file. Call the tools that do the step, or answer "NOTHING TO DO:" and why.';
}

function uselessError({ step, talk }: Work, answer: Told): StuckError {
  const said = answer.text.trim() === "" ? "nothing" : shown(answer.text, 2_000);
  return new StuckError(`${modelName(talk.model)} does nothing in the step "${step}". It answered: ${said}`, {
    detail: { step, answer: answer.text },
  });
}
