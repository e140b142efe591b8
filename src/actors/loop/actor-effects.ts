import type { DecisionType } from "../../domain/plan/decision.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import type { ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { ModelAnswer, ModelCall } from "../models/model.ts";

/**
 * The effects that an actor of a plan can have, be it a model with tools or a graph. Each is a durable step under its
 * key: called again, also by another process after a crash, it returns the recorded result and does nothing. Keys say
 * the position in the program, never a time or a random value.
 */
export interface ActorEffects {
  /**
   * Asks a model. The answer, what exactly the model was shown, and the decision it stands for are recorded together.
   */
  ask(key: string, call: Asked, about: About): Promise<{ readonly answer: Told; readonly decision: DecisionId }>;
  /**
   * Calls a tool through the one pipeline; its changes are credited to the decision. A failure is an outcome, recorded
   * like any other.
   */
  callTool(key: string, call: EffectsCall): Promise<ToolOutcome>;
  once<T extends JsonValue>(key: string, fn: () => Promise<T>): Promise<T>;
  readonly signal: AbortSignal;
}

export type Asked = Omit<ModelCall, "signal" | "beforeTry" | "afterTry" | "onShown">;

/** The part of an answer that is stored, and returned when the same question is asked again. */
export type Told = Pick<ModelAnswer, "text" | "toolCalls" | "finish" | "model" | "usage">;

/** The decision that the question makes. */
export interface About {
  /** Often only the answer shows what kind of decision it is. */
  readonly type: DecisionType | ((answer: Told) => DecisionType);
  readonly question: string;
  readonly parent: DecisionId;
}

export interface EffectsCall {
  readonly tool: string;
  readonly params: JsonObject;
  readonly decision: DecisionId;
}
