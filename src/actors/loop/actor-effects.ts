import type { DecisionType } from "../../domain/plan/decision.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import type { ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { ModelAnswer, ModelCall } from "../models/model.ts";

/**
 * What somebody who acts in a plan can do, be it a model with tools or a graph. Each of these is a durable step under its key: asked again,
 * also after a crash by another process, it returns what was recorded and does nothing. Keys say the position in the program, never a time
 * or something drawn by lot.
 */
export interface ActorHands {
  /** Asks a model. The answer, what exactly the model was shown, and the decision it stands for are recorded together. */
  ask(key: string, call: Asked, about: About): Promise<{ readonly answer: Told; readonly decision: DecisionId }>;
  /** Calls a tool through the one pipeline; its changes are credited to the decision. A failure is an outcome, recorded like any other. */
  callTool(key: string, call: HandsCall): Promise<ToolOutcome>;
  once<T extends JsonValue>(key: string, fn: () => Promise<T>): Promise<T>;
  readonly signal: AbortSignal;
}

export type Asked = Omit<ModelCall, "signal" | "beforeTry" | "afterTry" | "onShown">;

/** What is kept of an answer, and comes back when it is asked for again. */
export type Told = Pick<ModelAnswer, "text" | "toolCalls" | "finish" | "model" | "usage">;

/** What the question decides. */
export interface About {
  /** Often only the answer shows what kind of decision it is. */
  readonly type: DecisionType | ((answer: Told) => DecisionType);
  readonly question: string;
  readonly parent: DecisionId;
}

export interface HandsCall {
  readonly tool: string;
  readonly params: JsonObject;
  readonly decision: DecisionId;
  /** A model asked for it, and reads the outcome as text; otherwise a program made the call. */
  readonly forModel?: boolean;
}
