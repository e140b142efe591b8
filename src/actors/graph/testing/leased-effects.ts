/**
 * Effects whose steps are those of a lease and nothing more: without decisions, sandboxes and budgets, which are the
 * business of plans.
 */
import type { DecisionId } from "../../../domain/names/ids.ts";
import type { JsonValue } from "../../../domain/values/json.ts";
import type { Lease } from "../../../ledger/leases.ts";
import { runStep } from "../../../ledger/steps.ts";
import type { ActorEffects, Asked, EffectCall, Told } from "../../loop/actor-effects.ts";
import type { ToolOutcome } from "../../../domain/plan/tool-outcome.ts";
import type { ModelAnswer } from "../../models/model.ts";
import { DECISION } from "./graphs.ts";

export interface Doing {
  readonly ask?: (call: Asked, key: string) => Promise<ModelAnswer>;
  readonly callTool?: (call: EffectCall, key: string) => Promise<ToolOutcome & JsonValue>;
  /** After each step that was not on record before. */
  readonly onRecorded?: () => void;
}

export class LeasedEffects implements ActorEffects {
  readonly #lease: Lease;
  readonly #doing: Doing;

  constructor(lease: Lease, doing: Doing) {
    this.#lease = lease;
    this.#doing = doing;
  }

  get signal(): AbortSignal {
    return this.#lease.signal;
  }

  async ask(key: string, call: Asked): Promise<{ answer: Told; decision: DecisionId }> {
    const answer = await this.once(key, async () => {
      const answered = await this.#doing.ask?.(call, key);
      if (answered === undefined) throw new Error("no model is there to be asked");
      const { text, toolCalls, finish, model, usage } = answered;
      // As it comes back from the store: without what is undefined.
      return JSON.parse(JSON.stringify({ text, toolCalls, finish, model, usage })) as JsonValue;
    });
    return { answer: answer as unknown as Told, decision: DECISION };
  }

  async callTool(key: string, call: EffectCall): Promise<ToolOutcome> {
    return await this.once(key, async () => (await this.#doing.callTool?.(call, key)) ?? { ok: true, output: null });
  }

  async once<T extends JsonValue>(key: string, fn: () => Promise<T>): Promise<T> {
    const { onRecorded } = this.#doing;
    let fresh = false;
    const result = await runStep(this.#lease, key, async () => {
      fresh = true;
      return await fn();
    });
    if (fresh) onRecorded?.();
    return result;
  }
}
