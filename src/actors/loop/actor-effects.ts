/**
 * The acts of an actor of a plan, be it a model with tools or a graph. Each of these is a durable step under its key:
 * asked again, also after a crash by another process, it returns what was recorded and does nothing. Keys say the
 * position in the program, never a time or something random.
 */
import type { DecisionType } from "../../domain/plan/decision.ts";
import type { Instructions, ToolOutcome } from "../../domain/plan/tool-outcome.ts";
import type { DecisionId } from "../../domain/names/ids.ts";
import type { JsonObject, JsonValue } from "../../domain/values/json.ts";
import type { ModelAnswer, ModelCall } from "../models/model.ts";
import type { StrategyStep } from "./strategy-form.ts";

export interface ActorEffects {
  /** Asks a model. The answer, the exact text it was shown and the decision it stands for are recorded together. */
  ask(key: string, call: Asked, about: About): Promise<{ readonly answer: Told; readonly decision: DecisionId }>;
  /** Calls a tool through the one pipeline; its changes are credited to the decision. A failure is recorded, too. */
  callTool(key: string, call: EffectCall): Promise<ToolOutcome>;
  once<T extends JsonValue>(key: string, fn: () => Promise<T>): Promise<T>;
  readonly signal: AbortSignal;
}

/** The further acts of a model that has a conversation of its own. */
export interface AgentEffects extends ActorEffects {
  /**
   * Messages of people, and notes about what happened, that the conversation does not have yet; a later run gets the
   * same ones at the same key.
   */
  hear(key: string): Promise<readonly string[]>;
  /** Whether a model answered under this key, or something was done once, in an earlier run. */
  isRecorded(key: string): Promise<boolean>;
  /** The user's answer. Without one the plan waits, and this rejects with an AwaitingInputError. */
  askUser(key: string, question: string, options: readonly string[]): Promise<string>;
  /** Replaces the steps that have not begun; returns the ids of the steps to come, or why it cannot be done. */
  revise(
    key: string,
    revision: Revision,
  ): Promise<{ readonly steps: readonly string[] } | { readonly refused: string }>;
  /**
   * Runs a conversation of its own below the call with this key. It hears and asks no person, revises nothing and shows
   * no list.
   */
  aside<T>(
    key: string,
    about: { readonly tool: string; readonly target: string },
    run: (effects: AgentEffects) => Promise<T>,
  ): Promise<T>;
  showChecklist(items: readonly ChecklistItem[]): void;
}

export interface Revision {
  readonly reason: string;
  readonly steps: readonly StrategyStep[];
  readonly decision: DecisionId;
}

export interface ChecklistItem {
  readonly text: string;
  readonly state: "open" | "doing" | "done";
}

export type Asked = Omit<
  ModelCall,
  "signal" | "cacheKey" | "imageBytes" | "onWait" | "beforeTry" | "afterTry" | "settleLater" | "onShown"
>;

/** The part of an answer that is kept, and comes back when it is asked for again. */
export type Told = Pick<ModelAnswer, "text" | "toolCalls" | "parts" | "finish" | "model" | "usage">;

/** The decision that the question makes. */
export interface About {
  /** Often only the answer shows what kind of decision it is. */
  readonly type: DecisionType | ((answer: Told) => DecisionType);
  readonly question: string;
  readonly parent: DecisionId;
}

export interface EffectCall {
  readonly tool: string;
  readonly params: JsonObject;
  readonly decision: DecisionId;
  /** A model asked for it, and reads the outcome as text; otherwise a program made the call. */
  readonly forModel?: boolean;
  /** Whether the conversation has these instructions already. Without it none are told. */
  readonly knows?: (instructions: Instructions) => boolean;
}
