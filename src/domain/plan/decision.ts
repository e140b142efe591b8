import type { GuardName } from "../profile/guards.ts";
import type { ChangesetId, DecisionId, InvocationId, PlanId } from "../names/ids.ts";
import type { JsonObject, JsonValue } from "../values/json.ts";
import type { Phase } from "./transitions.ts";

/**
 * The decisions of a plan, which explain everything it did: a tree that begins with the plan's request. A decision is
 * never changed and never deleted; a later one supersedes it. Every tool call is made for one decision, and every
 * change by one tool call.
 */
export const DECISION_TYPES = [
  "prompt_definition",
  "strategy_choice",
  "resource_selection",
  "implementation_choice",
  "tool_invocation",
  "error_recovery",
  "validation_response",
  "user_intervention",
] as const;
export type DecisionType = (typeof DECISION_TYPES)[number];

export interface Decision {
  readonly id: DecisionId;
  readonly planId: PlanId;
  readonly attempt: number;
  /** 1, 2, 3 … without a gap within its plan, over all attempts. */
  readonly sequence: number;
  readonly type: DecisionType;
  /** The phase whose question it answers. */
  readonly phase: Phase;
  /** The step it decides on; the same step of another attempt, or after a rollback, is decided on again. */
  readonly step: string | undefined;
  readonly question: string;
  /** With secrets masked. */
  readonly chosen: JsonValue;
  /**
   * Where the choice is kept as it was made, if something in it is masked: contents are kept apart, like those of
   * files.
   */
  readonly exactHash: string | undefined;
  /** Only the first of an attempt has none. */
  readonly parent: DecisionId | undefined;
  /** The decisions whose outcome it builds on. */
  readonly needs: readonly DecisionId[];
  readonly thought: Thought;
  readonly createdAt: number;
  readonly supersededAt: number | undefined;
  readonly supersededBy: DecisionId | undefined;
}

/** The known reasons for the decision. All of it is empty for a decision that no model made. */
export interface Thought {
  /** From 0 to 1, as the decider said. */
  readonly confidence?: number;
  readonly rationale?: string;
  readonly alternatives?: readonly string[];
  /** The text of the model, unchanged. */
  readonly reasoning?: string;
  /** SHA-256 of exactly what the model was shown; its bytes are among the recorded contents. */
  readonly snapshot?: string;
}

/** The types of decisions allowed in each phase. */
export const PHASE_TYPES: Readonly<Record<Phase, readonly DecisionType[]>> = {
  strategize: ["prompt_definition", "strategy_choice", "resource_selection", "user_intervention"],
  execute: [
    // The work showed that the strategy must change, or a person asked for more.
    "strategy_choice",
    "implementation_choice",
    "tool_invocation",
    "error_recovery",
    "validation_response",
    "user_intervention",
  ],
  apply: ["user_intervention"],
};

/** The choice for a step that an actor works out while it runs: a model with tools, or a graph. */
export interface ChosenWork extends JsonObject {
  readonly description: string;
  /** Aliases; empty for all that the plan has. */
  readonly resources: readonly string[];
  readonly complexity: string;
  /** From 0 to 1; null when the strategist did not say. */
  readonly risk: number | null;
  /** The actor that carries it out, if the strategist named one; otherwise the plan's execution actor. */
  readonly actor?: string;
  /** The strategist's answer to a request that needs no work: carrying the step out is giving this answer. */
  readonly answer?: string;
}

/** The choice for a step of a tool actor. */
export interface ChosenCall extends JsonObject {
  readonly tool: string;
  readonly params: JsonObject;
}

/** One call of a tool: begun before the tool ran, ended after it did, also when it was refused. */
export interface ToolInvocation {
  readonly id: InvocationId;
  readonly changesetId: ChangesetId;
  readonly decisionId: DecisionId;
  readonly tool: string;
  readonly params: JsonValue;
  /** Of the lease it was called under. */
  readonly epoch: number | undefined;
  readonly startedAt: number;
  /** Undefined while it runs, and forever when its process was stopped. */
  readonly end: InvocationEnd | undefined;
  readonly supersededAt: number | undefined;
  /** The guard that did not let it through. */
  readonly refusedBy: GuardName | undefined;
}

/** How a tool call ended, for the record. */
export type InvocationEnd =
  | { readonly outcome: "ok"; readonly durationMs: number; readonly resultSize: number }
  | { readonly outcome: "failed"; readonly durationMs: number; readonly error: string };
