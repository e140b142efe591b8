import type { Microdollars, ModelRef } from "../actors/model.ts";
import type { StepRun } from "../execution/step-runner.ts";

/**
 * What happens while a plan is decided on and executed, for somebody who watches. These are news, not records: what counts is in the store.
 * `step` is the id of a decided step, or "strategy" while there is none yet.
 */
export type RunEvent =
  /** All steps are known, in the order in which they come. */
  | {
      readonly type: "decided";
      /** They were known before this run. */
      readonly before: boolean;
      readonly steps: readonly { readonly step: string; readonly description: string }[];
    }
  | { readonly type: "step_started"; readonly step: string; readonly description: string }
  | {
      readonly type: "step_done";
      readonly step: string;
      readonly description: string;
      readonly durationMs: number;
    }
  /** It was done before, by an earlier run. */
  | { readonly type: "step_recorded"; readonly step: string; readonly description: string }
  | { readonly type: "step_failed"; readonly step: string; readonly durationMs: number; readonly error: string }
  | { readonly type: "context_assembled"; readonly step: string; readonly tokens: number; readonly files: number }
  | { readonly type: "ask_started"; readonly step: string; readonly key: string; readonly model: ModelRef }
  /** A piece of the answer to the latest `ask_started` of the step. */
  | { readonly type: "text"; readonly step: string; readonly text: string }
  /** The connection broke and the answer begins again: the pieces so far are void. */
  | { readonly type: "text_void"; readonly step: string }
  | {
      readonly type: "ask_answered";
      readonly step: string;
      readonly key: string;
      readonly model: ModelRef;
      readonly inputTokens: number;
      readonly outputTokens: number;
      /** Undefined when the price is not known. */
      readonly cost: Microdollars | undefined;
      readonly durationMs: number;
      readonly toolCalls: number;
    }
  | { readonly type: "ask_failed"; readonly step: string; readonly key: string; readonly error: string }
  | {
      readonly type: "tool_started";
      readonly step: string;
      readonly key: string;
      readonly tool: string;
      /** What it is about, such as a path; "" when that cannot be said in a word. */
      readonly target: string;
    }
  | {
      readonly type: "tool_ended";
      readonly step: string;
      readonly key: string;
      readonly tool: string;
      readonly target: string;
      readonly durationMs: number;
      /** Undefined when it went well. */
      readonly error?: string;
    };

export type OnRunEvent = (event: RunEvent) => void;

/** Each step is news of its own kind, besides what is told to `onStep`. */
export function toldOfSteps(told: {
  readonly onStep?: StepRun["onStep"];
  readonly onEvent?: OnRunEvent;
}): StepRun["onStep"] {
  const { onStep, onEvent } = told;
  return (step, event, facts) => {
    onStep?.(step, event, facts);
    const { durationMs, error } = facts;
    const about = { step: step.id, description: step.tool ?? step.work.description };
    switch (event) {
      case "started":
        return onEvent?.({ type: "step_started", ...about });
      case "recorded":
        return onEvent?.({ type: "step_recorded", ...about });
      case "done":
        return onEvent?.({ type: "step_done", ...about, durationMs });
      case "failed": {
        const message = error instanceof Error ? error.message : String(error);
        return onEvent?.({ type: "step_failed", step: step.id, durationMs, error: message });
      }
    }
  };
}
