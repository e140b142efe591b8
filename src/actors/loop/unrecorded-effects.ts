import type { DecisionId } from "../../domain/names/ids.ts";
import type { JsonValue } from "../../domain/values/json.ts";
import type { ActorEffects, Asked } from "./actor-effects.ts";
import type { ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import type { ModelAnswer, Models } from "../models/model.ts";

/**
 * Effects for a question outside of any plan: models are asked, nothing is recorded, and there is nothing to work on.
 */
export class UnrecordedEffects implements ActorEffects {
  /** In the order they came. */
  readonly answers: ModelAnswer[] = [];
  readonly signal: AbortSignal;
  readonly #models: Models;

  constructor(models: Models, signal: AbortSignal) {
    this.#models = models;
    this.signal = signal;
  }

  async ask(_key: string, call: Asked): Promise<{ answer: ModelAnswer; decision: DecisionId }> {
    const answer = await this.#models.call({ ...call, signal: this.signal });
    this.answers.push(answer);
    return { answer, decision: NO_DECISION };
  }

  async callTool(): Promise<ToolOutcome> {
    return { ok: false, error: "tools work on the resources of a plan, and this is none" };
  }

  async once<T extends JsonValue>(_key: string, fn: () => Promise<T>): Promise<T> {
    return fn();
  }
}

/** Nothing is decided where nothing is recorded. */
export const NO_DECISION = "" as DecisionId;
